/** `paystate listen` beside a `paystate dev`: real TLS between them, and a developer's program behind. */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { request as askSecurely } from "node:https";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { listen } from "../../src/cli/listen.ts";
import { createClient, type PaymentClient } from "../../src/client/create-client.ts";
import { NOTICE_EVENTS } from "../../src/payments/frame/notices/notice-body.ts";
import { verifyWebhook } from "../../src/receiver/index.ts";
import { startHttpsReceiver } from "../kit/https-receiver.ts";
import { leaveNothing, newDataFolder, startCommand } from "./command.ts";
import { call, DevHome, send, untilFinal } from "./dev-session.ts";
import { type Received, receiverTest } from "./receiver-test.ts";

afterAll(leaveNothing);

/** `start` has a `paystate listen` forward to the receiver, until what it returns is called or the test ends. */
const test = receiverTest
  .extend("home", { scope: "file" }, async ({}) => {
    const args = ["--slot-ms", "50", "--broadcast-delay-ms", "1500"];
    return new DevHome(await newDataFolder(), { args }).start();
  })
  .extend("printed", ({}): string[] => [])
  .extend("start", ({ home, receiver, printed }, { onCleanup }) => {
    const running = new Set<() => Promise<void>>();
    onCleanup(async () => {
      for (const stop of running) await stop();
    });
    return async (port = 0) => {
      const wanted = { forwardTo: receiver.url, port, events: NOTICE_EVENTS, dataFolder: home.folder };
      const end = await listen(wanted, (line) => printed.push(line));
      const stop = (): Promise<void> => {
        running.delete(stop);
        return end();
      };
      running.add(stop);
      return stop;
    };
  });

const TIERS = ["free", "pro", "enterprise"] as const;
type Tier = (typeof TIERS)[number];
interface Registered {
  readonly webhookId: string;
  readonly url: string;
  readonly enabled: boolean;
}

async function webhooksOf({ dev }: DevHome, tier: Tier): Promise<readonly Registered[]> {
  return (await call(dev, "/webhooks", undefined, tier)).body["webhooks"] as readonly Registered[];
}

const clientOf = ({ dev }: DevHome, tier: Tier): PaymentClient =>
  createClient({ baseUrl: dev.baseUrl, apiKey: dev.apiKeys[tier] });

const webhooksOfAll = async (home: DevHome): Promise<readonly Registered[]> =>
  (await Promise.all(TIERS.map((tier) => webhooksOf(home, tier)))).flat();

/** Has the service send one sample, and returns what it was answered. */
async function trySample(home: DevHome, tier: Tier): Promise<Readonly<Record<string, unknown>>> {
  const [webhook] = await webhooksOf(home, tier);
  const path = `/webhooks/${webhook?.webhookId}/test`;
  return (await call(home.dev, path, { event: "transaction.completed" }, tier)).body;
}

test("the notices of a payment reach the program as they were signed, and each is one line", async ({
  home,
  receiver,
  printed,
  start,
}) => {
  await start();
  const id = await send(home.dev, "1.5");
  await untilFinal(home.dev, id);
  await expect.poll(() => receiver.received.length).toBe(3);
  const [, secret = ""] = /secret (whsec_\S+)$/m.exec(printed.join("\n")) ?? [];
  const notices = await Promise.all(
    receiver.received.map(({ body, headers }) => verifyWebhook(body, headers, secret)),
  );
  const told = notices.map(({ event, transactionId }) => `${event} of ${transactionId}`);
  const expected = NOTICE_EVENTS.slice(0, 3);
  expect(told.toSorted()).toEqual(expected.map((event) => `${event} of ${id}`).toSorted());
  expect(new Set(receiver.received.map(({ path }) => path))).toEqual(new Set(["/hook?from=listen"]));
  expect(receiver.received[0]?.headers).toMatchObject({
    host: receiver.url.host,
    "user-agent": "paystate",
    "content-type": "application/json",
    "x-service-signature": expect.stringMatching(/^sha256=/) as string,
  });
  await expect.poll(() => printed.length).toBe(5);
  for (const event of expected) {
    const line = new RegExp(`^\\d\\d:\\d\\d:\\d\\d {2}${event} +${id} {2}200$`, "m");
    expect(printed.join("\n")).toMatch(line);
  }
});

test("with --broadcast-delay-ms a payment is not sent at once, and can be cancelled meanwhile", async ({
  home,
}) => {
  const id = await send(home.dev, "2");
  expect(await clientOf(home, "free").cancelTransaction(id)).toMatchObject({ status: "cancelled" });
  expect(await untilFinal(home.dev, id)).toMatchObject({ status: "cancelled", blockTime: null });
});

test("every account is listened to, and none any more after the end", async ({ home, receiver, start }) => {
  const stop = await start();
  for (const tier of TIERS) {
    expect(await trySample(home, tier)).toMatchObject({ delivered: true, httpStatus: 200 });
  }
  expect(receiver.received).toHaveLength(3);
  await stop();
  expect(await webhooksOfAll(home)).toEqual([]);
});

test("the service gets the status of the program, and of a redirect too, which is not followed", async ({
  home,
  receiver,
  printed,
  start,
}) => {
  await start();
  for (const status of [500, 302, 204]) {
    receiver.answer((_, response) => void response.writeHead(status, { location: "/elsewhere" }).end());
    expect(await trySample(home, "pro")).toMatchObject({ delivered: false, httpStatus: status });
  }
  expect(receiver.received).toHaveLength(3);
  expect(printed.at(-1)).toMatch(/ 204, 200 is expected: it will come again$/);
});

test("a program that does not answer is 502, which the service tries again", async ({
  home,
  receiver,
  printed,
  start,
}) => {
  await start();
  receiver.answer((request) => void request.socket.destroy());
  expect(await trySample(home, "pro")).toMatchObject({ delivered: false, httpStatus: 502 });
  await receiver.close();
  expect(await trySample(home, "pro")).toMatchObject({ delivered: false, httpStatus: 502 });
  expect(printed.at(-1)).toMatch(/ 502, http:\/\/127\.0\.0\.1:\d+ did not answer \(ECONNREFUSED\)$/);
});

interface Answered {
  readonly status: number | undefined;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

/** Asks what a `paystate listen` receives with, trusting the certificate in the folder. */
async function askListener(
  home: DevHome,
  method: string,
  { body = "", headers = {} }: { readonly body?: string; readonly headers?: object } = {},
): Promise<Answered> {
  const [webhook] = await webhooksOf(home, "pro");
  const { receiver } = JSON.parse(readFileSync(join(home.folder, "dev.json"), "utf8")) as {
    readonly receiver: { readonly certificate: string };
  };
  return new Promise((resolve, reject) => {
    const options = { method, headers: { ...headers }, ca: receiver.certificate };
    const asking = askSecurely(webhook?.url ?? "", options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const { statusCode: status } = response;
        resolve({ status, body: Buffer.concat(chunks).toString(), headers: response.headers });
      });
    });
    asking.on("error", reject).end(body);
  });
}

test("what is not signed with the secret is refused and never forwarded", async ({
  home,
  receiver,
  printed,
  start,
}) => {
  await start();
  expect(await trySample(home, "pro")).toMatchObject({ delivered: true });
  const [{ body, headers }] = receiver.received as [Received];
  const signature = Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.startsWith("webhook-")),
  );
  const forged = await askListener(home, "POST", {
    body: body.replace("pending", "completed").concat(" "),
    headers: signature,
  });
  expect(forged).toMatchObject({ status: 400, body: "no signature was made of this body with this secret" });
  expect(await askListener(home, "POST", { body })).toMatchObject({ status: 400 });
  const tooLong = await askListener(home, "POST", { body: "x".repeat(1024 * 1024 + 1) }).catch(() => null);
  expect(tooLong?.status ?? 413).toBe(413);
  expect(await askListener(home, "GET")).toMatchObject({ status: 405 });
  expect(receiver.received).toHaveLength(1);
  expect(printed.filter((line) => line.includes("refused and not forwarded"))).toHaveLength(3);

  // The same bytes again are genuine; headers and body of the program's answer come back.
  receiver.answer((_, response) => void response.writeHead(200, { "x-own": "yes" }).end("thanks"));
  const genuine = await askListener(home, "POST", { body, headers: signature });
  expect(genuine).toMatchObject({ status: 200, body: "thanks", headers: { "x-own": "yes" } });
});

test("a port in use is one sentence, and nothing is registered", async ({ home, receiver, start }) => {
  await expect(start(receiver.port)).rejects.toThrow(
    new Error(`port ${receiver.port} is in use: choose another one with --port, or 0 for any free one`),
  );
  expect(await webhooksOfAll(home)).toEqual([]);
});

test("an account that takes no further webhook is left out with a line", async ({ home, printed, start }) => {
  const first = await start();
  const taken = await webhooksOf(home, "free");
  const url = taken[0]?.url ?? "";
  for (const path of ["/a", "/b"]) {
    await call(home.dev, "/webhooks", { url: url + path, events: ["transaction.failed"] });
  }
  await start();
  expect(printed.join("\n")).toMatch(/^The free account is not listened to: WEBHOOK_LIMIT_EXCEEDED: /m);
  expect(await trySample(home, "pro")).toMatchObject({ delivered: true });
  await first();
  for (const { webhookId } of await webhooksOf(home, "free")) {
    await clientOf(home, "free").deleteWebhook(webhookId);
  }
});

test("Ctrl-C removes the webhooks; those of one that was killed are taken over on the same port", async ({
  home,
  receiver,
}) => {
  const args = (to: string, port: string): string[] => [
    ...["listen", "--data", home.folder, "--forward-to", to, "--port", port],
  ];
  const killed = startCommand([...args(receiver.url.href, "0"), "--events", "transaction.failed"]);
  await killed.said(/^Forwarding to .+\n/m);
  await killed.end("SIGKILL");
  const left = await webhooksOf(home, "enterprise");
  expect(left).toMatchObject([{ events: ["transaction.failed"] }]);

  // This one forwards over TLS, to a certificate that Node was told to trust.
  const secure = await startHttpsReceiver();
  await writeFile(`${home.folder}-ca.pem`, secure.ca);
  const env = { NODE_EXTRA_CA_CERTS: `${home.folder}-ca.pem` };
  const again = startCommand(args(secure.url, new URL(left[0]?.url ?? "").port), env);
  await again.said(/^Forwarding to .+\n/m);
  const [taken] = await webhooksOf(home, "enterprise");
  expect(taken).toMatchObject({ webhookId: left[0]?.webhookId, enabled: true, events: NOTICE_EVENTS });
  expect(await trySample(home, "enterprise")).toMatchObject({ delivered: true });
  expect(secure.requests).toMatchObject([{ method: "POST", path: "/hook" }]);
  await secure.close();
  expect(await again.end("SIGINT")).toMatchObject({ code: 0, stderr: "" });
  expect(await webhooksOfAll(home)).toEqual([]);
});

test("without a paystate dev on the folder it is one sentence, and makes no folder", async ({
  home,
  receiver,
  printed,
  start,
}) => {
  const wanted = { forwardTo: receiver.url, port: 0, events: NOTICE_EVENTS };
  const advice = "start it in another terminal, or name its folder with --data";
  const nowhere = await newDataFolder();
  await expect(listen({ ...wanted, dataFolder: nowhere }, () => {})).rejects.toThrow(
    new Error(`no paystate dev runs on ${nowhere}: ${advice}`),
  );
  const stop = await start();
  await home.dev.end("SIGINT");
  // The end of one that has lost its service says what is left.
  await stop();
  expect(printed.at(-1)).toMatch(
    /^The webhook https:\/\/127\.0\.0\.1:\d+\/paystate-listen could not be removed: the next listen on this port takes it over\.$/,
  );
  await expect(listen({ ...wanted, dataFolder: home.folder }, () => {})).rejects.toThrow(
    new Error(`no paystate dev runs on ${home.folder}: ${advice}`),
  );
});
