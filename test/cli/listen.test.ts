/** `paystate listen` beside a `paystate dev`: real TLS between them, and a developer's program behind. */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from "node:http";
import { request as askSecurely } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { listen } from "../../src/cli/listen.ts";
import { createClient, type PaymentClient } from "../../src/client/create-client.ts";
import { NOTICE_EVENTS } from "../../src/payments/webhooks/sending/notice-body.ts";
import { verifyWebhook } from "../../src/receiver/index.ts";
import { startHttpsReceiver } from "../kit/https-receiver.ts";
import { leaveNothing, newDataFolder, runCommand, startCommand } from "./command.ts";
import { call, type DevSession, send, startDev, untilFinal } from "./dev-session.ts";

interface Forwarded {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let dev: DevSession;
let folder: string;
let target: Server;
let answer: RequestListener;
let forwarded: Forwarded[];
let printed: string[];
let stop: (() => Promise<void>) | null;

beforeAll(async () => {
  folder = await newDataFolder();
  dev = await startDev(folder, { args: ["--slot-ms", "50", "--broadcast-delay-ms", "1500"] });
});
afterAll(leaveNothing);

beforeEach(async () => {
  forwarded = [];
  printed = [];
  stop = null;
  answer = (_, response) => void response.end();
  target = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      forwarded.push({ path: request.url ?? "", headers: request.headers, body });
      answer(request, response);
    });
  });
  target.listen(0, "127.0.0.1");
  await once(target, "listening");
});
afterEach(async () => {
  await stop?.();
  target.closeAllConnections();
  target.close();
});

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const targetUrl = (): URL => new URL(`http://127.0.0.1:${portOf(target)}/hook?from=listen`);

async function start(port = 0): Promise<void> {
  const wanted = { forwardTo: targetUrl(), port, events: NOTICE_EVENTS, dataFolder: folder };
  stop = await listen(wanted, (line) => printed.push(line));
}

const TIERS = ["free", "pro", "enterprise"] as const;
type Tier = (typeof TIERS)[number];
interface Registered {
  readonly webhookId: string;
  readonly url: string;
  readonly enabled: boolean;
}

async function webhooksOf(tier: Tier): Promise<readonly Registered[]> {
  return (await call(dev, "/webhooks", undefined, tier)).body["webhooks"] as readonly Registered[];
}

const clientOf = (tier: Tier): PaymentClient =>
  createClient({ baseUrl: dev.baseUrl, apiKey: dev.apiKeys[tier] });

const webhooksOfAll = async (): Promise<readonly Registered[]> =>
  (await Promise.all(TIERS.map(webhooksOf))).flat();

/** Has the service send one sample, and returns what it was answered. */
async function trySample(tier: Tier): Promise<Readonly<Record<string, unknown>>> {
  const [webhook] = await webhooksOf(tier);
  const path = `/webhooks/${webhook?.webhookId}/test`;
  return (await call(dev, path, { event: "transaction.completed" }, tier)).body;
}

const secretSaid = (): string => /secret (whsec_\S+)$/m.exec(printed.join("\n"))?.[1] ?? "";

test("the notices of a payment reach the program as they were signed, and each is one line", async () => {
  await start();
  const id = await send(dev, "1.5");
  await untilFinal(dev, id);
  await expect.poll(() => forwarded.length, { timeout: 30_000 }).toBe(3);
  const notices = await Promise.all(
    forwarded.map(({ body, headers }) => verifyWebhook(body, headers, secretSaid())),
  );
  const told = notices.map(({ event, transactionId }) => `${event} of ${transactionId}`);
  const expected = NOTICE_EVENTS.slice(0, 3);
  expect(told.toSorted()).toEqual(expected.map((event) => `${event} of ${id}`).toSorted());
  expect(new Set(forwarded.map(({ path }) => path))).toEqual(new Set(["/hook?from=listen"]));
  expect(forwarded[0]?.headers).toMatchObject({
    host: targetUrl().host,
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

test("with --broadcast-delay-ms a payment is not sent at once, and can be cancelled meanwhile", async () => {
  const id = await send(dev, "2");
  expect(await clientOf("free").cancelTransaction(id)).toMatchObject({ status: "cancelled" });
  expect(await untilFinal(dev, id)).toMatchObject({ status: "cancelled", blockTime: null });
});

test("every account is listened to, and none any more after the end", async () => {
  await start();
  for (const tier of TIERS) expect(await trySample(tier)).toMatchObject({ delivered: true, httpStatus: 200 });
  expect(forwarded).toHaveLength(3);
  await stop?.();
  stop = null;
  expect(await webhooksOfAll()).toEqual([]);
});

test("trigger reaches it, too: the commands beside a running dev trust what it trusts", async () => {
  await start();
  const { accountId } = await clientOf("pro").getAccount();
  const [webhook] = await webhooksOf("pro");
  const of = ["--webhook", webhook?.webhookId ?? "", "--account", accountId, "--data", folder];
  const { code, stdout } = await runCommand(["trigger", "transaction.failed", ...of]);
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("answered 200") as string,
  });
  expect(forwarded).toHaveLength(1);
});

test("the service gets the status of the program, and of a redirect too, which is not followed", async () => {
  await start();
  for (const status of [500, 302, 204]) {
    answer = (_, response) => void response.writeHead(status, { location: "/elsewhere" }).end();
    expect(await trySample("pro")).toMatchObject({ delivered: false, httpStatus: status });
  }
  expect(forwarded).toHaveLength(3);
  expect(printed.at(-1)).toMatch(/ 204, 200 is expected: it will come again$/);
});

test("a program that does not answer is 502, which the service tries again", async () => {
  await start();
  answer = (request) => void request.socket.destroy();
  expect(await trySample("pro")).toMatchObject({ delivered: false, httpStatus: 502 });
  const closed = once(target, "close");
  target.closeAllConnections();
  target.close();
  await closed;
  expect(await trySample("pro")).toMatchObject({ delivered: false, httpStatus: 502 });
  expect(printed.at(-1)).toMatch(/ 502, http:\/\/127\.0\.0\.1:\d+ did not answer \(ECONNREFUSED\)$/);
});

interface Answered {
  readonly status: number | undefined;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

/** Asks the receiver itself, trusting the certificate in the folder. */
async function askReceiver(method: string, body: string, headers = {}): Promise<Answered> {
  const [webhook] = await webhooksOf("pro");
  const { receiver } = JSON.parse(readFileSync(join(folder, "dev.json"), "utf8")) as {
    readonly receiver: { readonly certificate: string };
  };
  return new Promise((resolve, reject) => {
    const options = { method, headers, ca: receiver.certificate };
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

test("what is not signed with the secret is refused and never forwarded", async () => {
  await start();
  expect(await trySample("pro")).toMatchObject({ delivered: true });
  const [{ body, headers }] = forwarded as [Forwarded];
  const signature = Object.entries(headers).filter(([name]) => name.startsWith("webhook-"));
  const forged = await askReceiver(
    "POST",
    body.replace("pending", "completed").concat(" "),
    Object.fromEntries(signature),
  );
  expect(forged).toMatchObject({ status: 400, body: "no signature was made of this body with this secret" });
  expect(await askReceiver("POST", body)).toMatchObject({ status: 400 });
  const tooLong = await askReceiver("POST", "x".repeat(1024 * 1024 + 1)).catch(() => null);
  expect(tooLong?.status ?? 413).toBe(413);
  expect(await askReceiver("GET", "")).toMatchObject({ status: 405 });
  expect(forwarded).toHaveLength(1);
  expect(printed.filter((line) => line.includes("refused and not forwarded"))).toHaveLength(3);

  // The same bytes again are genuine; headers and body of the program's answer come back.
  answer = (_, response) => void response.writeHead(200, { "x-own": "yes" }).end("thanks");
  const genuine = await askReceiver("POST", body, Object.fromEntries(signature));
  expect(genuine).toMatchObject({ status: 200, body: "thanks", headers: { "x-own": "yes" } });
});

test("a port in use is one sentence, and nothing is registered", async () => {
  await expect(start(portOf(target))).rejects.toThrow(
    new Error(`port ${portOf(target)} is in use: choose another one with --port, or 0 for any free one`),
  );
  expect(await webhooksOfAll()).toEqual([]);
});

test("an account that takes no further webhook is left out with a line", async () => {
  await start();
  const taken = await webhooksOf("free");
  const url = taken[0]?.url ?? "";
  for (const path of ["/a", "/b"]) {
    await call(dev, "/webhooks", { url: url + path, events: ["transaction.failed"] });
  }
  const first = stop;
  await start();
  expect(printed.join("\n")).toMatch(/^The free account is not listened to: WEBHOOK_LIMIT_EXCEEDED: /m);
  expect(await trySample("pro")).toMatchObject({ delivered: true });
  await first?.();
  for (const { webhookId } of await webhooksOf("free")) {
    await clientOf("free").deleteWebhook(webhookId);
  }
});

test("Ctrl-C removes the webhooks; those of one that was killed are taken over on the same port", async () => {
  const args = (to: string, port: string): string[] => [
    ...["listen", "--data", folder, "--forward-to", to, "--port", port],
  ];
  const killed = startCommand([...args(targetUrl().href, "0"), "--events", "transaction.failed"]);
  await killed.said(/^Forwarding to .+\n/m);
  await killed.end("SIGKILL");
  const left = await webhooksOf("enterprise");
  expect(left).toMatchObject([{ events: ["transaction.failed"] }]);

  // This one forwards over TLS, to a certificate that Node was told to trust.
  const secure = await startHttpsReceiver();
  await writeFile(`${folder}-ca.pem`, secure.ca);
  const env = { NODE_EXTRA_CA_CERTS: `${folder}-ca.pem` };
  const again = startCommand(args(secure.url, new URL(left[0]?.url ?? "").port), env);
  await again.said(/^Forwarding to .+\n/m);
  const [taken] = await webhooksOf("enterprise");
  expect(taken).toMatchObject({ webhookId: left[0]?.webhookId, enabled: true, events: NOTICE_EVENTS });
  expect(await trySample("enterprise")).toMatchObject({ delivered: true });
  expect(secure.requests).toMatchObject([{ method: "POST", path: "/hook" }]);
  await secure.close();
  expect(await again.end("SIGINT")).toMatchObject({ code: 0, stderr: "" });
  expect(await webhooksOfAll()).toEqual([]);
});

test("without a paystate dev on the folder it is one sentence, and makes no folder", async () => {
  const wanted = { forwardTo: targetUrl(), port: 0, events: NOTICE_EVENTS };
  const advice = "start it in another terminal, or name its folder with --data";
  const nowhere = await newDataFolder();
  await expect(listen({ ...wanted, dataFolder: nowhere }, () => {})).rejects.toThrow(
    new Error(`no paystate dev runs on ${nowhere}: ${advice}`),
  );
  await start();
  await dev.end("SIGINT");
  // The end of one that has lost its service says what is left.
  await stop?.();
  stop = null;
  expect(printed.at(-1)).toMatch(
    /^The webhook https:\/\/127\.0\.0\.1:\d+\/paystate-listen could not be removed: the next listen on this port takes it over\.$/,
  );
  await expect(listen({ ...wanted, dataFolder: folder }, () => {})).rejects.toThrow(
    new Error(`no paystate dev runs on ${folder}: ${advice}`),
  );
});
