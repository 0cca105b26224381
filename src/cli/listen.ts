/**
 * `paystate listen`: a webhook receiver on this machine that shows deliveries and forwards them to the developer's
 * program.
 */
import { createServer } from "node:https";
import { isApiError } from "../client/api-error.ts";
import { parseUrl } from "../core/parse-url.ts";
import { NOTICE_EVENTS, type NoticeEvent } from "../payments/frame/notices/notice-body.ts";
import { systemClock } from "../core/runtime.ts";
import { ForwardHandler } from "./forward-webhook.ts";
import { closeServer, DEV_HOST, listenOn } from "./loopback-server.ts";
import { type Print, UsageError } from "./command.ts";
import { createClient, type PaymentClient } from "../client/create-client.ts";
import { NoAnswer } from "../client/no-answer.ts";
import { setupIn } from "./dev-data.ts";
import type { DevReceiverSetup } from "./dev-receiver.ts";

/** The arguments of the command, read and checked. */
interface ListenArguments {
  readonly forwardTo: URL;
  readonly port: number;
  readonly events: readonly NoticeEvent[];
  readonly dataFolder: string;
}

/** The events of these names, all where none is named. Throws `UsageError` for one that is none. */
export function eventsOf(names: readonly string[] = NOTICE_EVENTS): readonly NoticeEvent[] {
  return [...new Set(names)].map((name) => {
    const event = NOTICE_EVENTS.find((each) => each === name);
    if (event !== undefined) return event;
    throw new UsageError(`there is no event "${name}": expected ${NOTICE_EVENTS.join(", ")}`);
  });
}

/** An address of the caller's own machine or network is fine here: only the caller chooses it. */
export function targetOf(text: string): URL {
  const url = parseUrl(text);
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new UsageError(`--forward-to ${text}: expected a URL that begins with http:// or https://`);
}

// A person who presses Ctrl-C does not wait for a service that hangs.
const MAX_REMOVAL_MS = 2_000;

/**
 * Receives the webhooks of every account of the `paystate dev` that runs on the folder. Resolves once they are registered,
 * with the function that removes them and ends. Throws a sentence when no dev runs there, and when the port is in use.
 */
export async function listen(
  { forwardTo, port: wanted, events, dataFolder }: ListenArguments,
  print: Print,
): Promise<() => Promise<void>> {
  const { accounts, receiver } = await runningDev(dataFolder);
  const { certificate: cert, privateKey: key, secret } = receiver;
  const forwarding = new ForwardHandler({ target: forwardTo, secret, clock: systemClock, print });
  const { server, port } = await listenOn({ option: "--port", wanted, last: undefined }, () =>
    createServer({ cert, key }, (request, response) => void forwarding.serve(request, response)),
  );
  const wish = { url: `https://${DEV_HOST}:${port}/paystate-listen`, events, secret };
  const removals: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    // First of all: a webhook whose receiver has gone fails, and comes again for hours.
    const removed = await Promise.allSettled(removals.map((remove) => remove()));
    await closeServer(server);
    if (removed.every(({ status }) => status === "fulfilled")) return;
    print(`The webhook ${wish.url} could not be removed: the next listen on this port takes it over.`);
  };
  try {
    for (const account of accounts) {
      const removal = await register(account, wish, print);
      if (removal !== null) removals.push(removal);
    }
    if (removals.length === 0) throw new Error("no account of the paystate dev takes another webhook");
  } catch (error) {
    await stop();
    throw error;
  }
  print(`Listening on ${wish.url} for ${events.join(", ")}`);
  print(`Forwarding to ${forwardTo.href}, signed with the secret ${secret}`);
  return stop;
}

interface WebhookWish {
  readonly url: string;
  readonly events: readonly NoticeEvent[];
  readonly secret: string;
}

/** Registers for one account, and returns how that is taken back; null, with a line printed, where the account refuses. */
async function register(
  { tier, client }: DevAccount,
  { url, events, secret }: WebhookWish,
  print: Print,
): Promise<(() => Promise<unknown>) | null> {
  const { webhooks } = await client.listWebhooks();
  // The port belongs to this process, so the `listen` that registered this webhook is dead. Taking it over counts as no
  // registration.
  const left = webhooks.find((webhook) => webhook.url === url);
  try {
    const { webhookId } = await (left === undefined
      ? client.registerWebhook({ url, events, secret })
      : client.updateWebhook(left.webhookId, { events, secret, enabled: true }));
    return () => client.deleteWebhook(webhookId, { signal: AbortSignal.timeout(MAX_REMOVAL_MS) });
  } catch (error) {
    if (!isApiError(error)) throw error;
    print(`The ${tier} account is not listened to: ${error.message}`);
    return null;
  }
}

/** An account of a running `paystate dev`. */
interface DevAccount {
  readonly tier: string;
  readonly client: PaymentClient;
}

/** A service that answers. */
interface RunningDev {
  readonly accounts: readonly DevAccount[];
  readonly receiver: DevReceiverSetup;
}

// The time limit of a call. The service is on this machine, and so is the receiver that a registration tries.
const MAX_CALL_MS = 10_000;

/** Throws a sentence where none runs on the folder: its port does not answer, or does not know the folder's keys. */
async function runningDev(folder: string): Promise<RunningDev> {
  const { port, apiKeys, receiver } = setupIn(folder) ?? {};
  if (port === undefined || apiKeys === undefined || receiver === undefined) throw noDev(folder);
  const baseUrl = `http://${DEV_HOST}:${port}`;
  const accounts = Object.entries(apiKeys).map(([tier, apiKey]) => ({
    tier,
    client: createClient({ baseUrl, apiKey, timeoutMs: MAX_CALL_MS, retries: 0 }),
  }));
  await Promise.all(accounts.map(({ client }) => client.getAccount())).catch((cause: unknown) => {
    const isAnother = cause instanceof NoAnswer || isApiError(cause, "INVALID_API_KEY");
    throw isAnother ? noDev(folder, cause) : cause;
  });
  return { accounts, receiver };
}

function noDev(folder: string, cause?: unknown): Error {
  const advice = "start it in another terminal, or name its folder with --data";
  return new Error(`no paystate dev runs on ${folder}: ${advice}`, { cause });
}
