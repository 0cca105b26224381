/** The `paystate dev` that runs on a folder, as a client of its API sees it. */
import { isApiError } from "../client/api-error.ts";
import { createClient, type PaymentClient } from "../client/create-client.ts";
import { NoAnswer } from "../client/no-answer.ts";
import { setupIn } from "./dev-data.ts";
import type { DevReceiverSetup } from "./dev-receiver.ts";
import { DEV_HOST } from "./loopback-server.ts";

/** An account of a running `paystate dev`. */
export interface DevAccount {
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
export async function runningDev(folder: string): Promise<RunningDev> {
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
