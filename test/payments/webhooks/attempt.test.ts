/** One delivery attempt against real TLS servers: what is sent, what counts, what fails and how. */
// modules: webhooks
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import {
  createDeliveryClient,
  type DeliveryOptions,
} from "../../../src/payments/webhooks/sending/attempt.ts";
import {
  verifyServiceSignature,
  signatureHeaders,
} from "../../../src/payments/webhooks/sending/signature.ts";
import {
  answerWith,
  cutConnection,
  type HttpsReceiver,
  startHttpsReceiver,
} from "../../kit/https-receiver.ts";
import { issueLoopbackCertificate, type LoopbackCertificate } from "../../kit/loopback-certificate.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";
import { eventually } from "../../kit/eventually.ts";

let certificate: LoopbackCertificate;
let receiver: HttpsReceiver;

beforeAll(async () => void (certificate = await issueLoopbackCertificate()));
beforeEach(async () => void (receiver = await startHttpsReceiver({ certificate })));
afterEach(async () => {
  vi.unstubAllEnvs();
  await receiver.close();
});

const clock = virtualClock();
const loopback = (ip: string): boolean => ip === "127.0.0.1";
const delivery = (options: Partial<DeliveryOptions> = {}) =>
  createDeliveryClient({ clock, allowAddress: loopback, ca: certificate.ca, ...options });
const attempt = (options: Partial<DeliveryOptions> = {}, url = receiver.url) =>
  delivery(options).attempt({ url, body: "{}", headers: {} });

test("H1: the body arrives byte for byte and its signature verifies over the raw bytes", async () => {
  const body = '{"reason":"płatność 💸","amount":"18446744073709551615"}';
  const headers = signatureHeaders({ body, secret: "s3cret", noticeId: "evt_1", timestampSeconds: 1 });
  const result = await delivery().attempt({ url: `${receiver.url}?a=b#c`, body, headers });
  const opening = { dns: 0, connect: 0, tls: 0 };
  expect(result).toEqual({ ok: true, httpStatus: 200, error: null, durationMs: 0, excerpt: null, opening });
  const [request] = receiver.requests;
  expect(request).toMatchObject({ method: "POST", path: "/hook?a=b", body: Buffer.from(body, "utf8") });
  expect(request?.headers).toMatchObject({
    "content-type": "application/json",
    "user-agent": "paystate",
    "webhook-id": "evt_1",
    host: `127.0.0.1:${receiver.port}`,
  });
  const signature = request?.headers["x-service-signature"] as string;
  expect(verifyServiceSignature(request?.body ?? "", signature, "s3cret")).toBe(true);
});

test("H2: without a secret the request carries no signature header", async () => {
  const headers = signatureHeaders({ body: "{}", secret: null, noticeId: "evt_1", timestampSeconds: 1 });
  await delivery().attempt({ url: receiver.url, body: "{}", headers });
  expect(receiver.requests[0]?.headers).toMatchObject({ "webhook-id": "evt_1", "webhook-timestamp": "1" });
  expect(receiver.requests[0]?.headers).not.toHaveProperty("x-service-signature");
  expect(receiver.requests[0]?.headers).not.toHaveProperty("webhook-signature");
});

test.each([
  [201, "http_status"],
  [204, "http_status"],
  [304, "redirect"],
  [400, "http_status"],
  [410, "http_status"],
  [500, "http_status"],
  [503, "http_status"],
])("H5: an answer of %i fails as %s", async (status, error) => {
  receiver.answer(answerWith(status));
  expect(await attempt()).toMatchObject({ ok: false, httpStatus: status, error });
});

test.each([301, 302, 303, 307, 308])("H5: a %i is a failure and is never followed", async (status) => {
  const target = await startHttpsReceiver({ certificate });
  receiver.answer(answerWith(status, "", { location: target.url }));
  expect(await attempt()).toMatchObject({ ok: false, httpStatus: status, error: "redirect" });
  expect(target.connections()).toBe(0);
  await target.close();
});

test("with acceptAny2xx a 204 succeeds and a 302 still fails", async () => {
  receiver.answer(answerWith(204));
  expect(await attempt({ acceptAny2xx: true })).toMatchObject({ ok: true, httpStatus: 204, error: null });
  receiver.answer(answerWith(302));
  expect(await attempt({ acceptAny2xx: true })).toMatchObject({ ok: false, error: "redirect" });
});

test("the excerpt of a refusal is kept, and NUL and broken UTF-8 in it become U+FFFD", async () => {
  receiver.answer(answerWith(500, Buffer.from([0x6e, 0x6f, 0x00, 0xff, 0x21])));
  expect((await attempt()).excerpt).toBe("no\uFFFD\uFFFD!");
});

test("an excerpt that would cut a character in two drops it", async () => {
  receiver.answer(answerWith(200, `${"a".repeat(1_023)}ł${"b".repeat(5_000)}`));
  expect((await attempt()).excerpt).toBe("a".repeat(1_023));
});

test("a receiver that nobody listens for fails as connect", async () => {
  await receiver.close();
  expect(await attempt()).toMatchObject({ ok: false, httpStatus: null, error: "connect", excerpt: null });
});

test("a name without addresses fails as dns, whether the look-up rejects or is empty", async () => {
  const url = `https://receiver.example:${receiver.port}/`;
  expect(await attempt({ lookup: () => Promise.reject(new Error("SERVFAIL")) }, url)).toMatchObject({
    error: "dns",
  });
  expect(await attempt({ lookup: () => Promise.resolve([]) }, url)).toMatchObject({ error: "dns" });
});

test("a connection cut before the status line fails as reset, and the receiver saw one request only", async () => {
  receiver.answer(cutConnection);
  expect(await attempt()).toMatchObject({ ok: false, httpStatus: null, error: "reset" });
  expect(receiver.requests).toHaveLength(1);
});

test("an answer that is not HTTP fails as reset", async () => {
  receiver.answer((_request, response) => void response.socket?.end("SSH-2.0-OpenSSH_9.6\r\n"));
  expect(await attempt()).toMatchObject({ ok: false, httpStatus: null, error: "reset" });
});

test("a body that breaks off does not undo a delivered notice", async () => {
  receiver.answer((_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("thanks", () => response.socket?.destroy());
  });
  expect(await attempt()).toMatchObject({ ok: true, httpStatus: 200, error: null, excerpt: "thanks" });
});

describe("kept connections", () => {
  const post = (made: ReturnType<typeof createDeliveryClient>, url = receiver.url) =>
    made.attempt({ url, body: "{}", headers: {} });

  test("the next attempt uses the connection again, and only the first says how it was opened", async () => {
    const made = delivery();
    const opening = { dns: expect.any(Number) as number, connect: expect.any(Number) as number };
    expect(await post(made)).toMatchObject({ ok: true, opening });
    expect(await post(made)).toMatchObject({ ok: true, opening: null });
    expect([receiver.connections(), receiver.requests.length]).toEqual([1, 2]);
    await made.endIdle();
    await receiver.drained();
  });

  test("another URL of the same receiver has a connection of its own", async () => {
    const made = delivery();
    await post(made);
    await post(made, `${receiver.url}/other`);
    expect(receiver.connections()).toBe(2);
    await made.endIdle();
  });

  test("none is older than two minutes: then the address is judged again", async () => {
    const hands = virtualClock();
    const asked: string[] = [];
    const lookup = (host: string): Promise<readonly string[]> => {
      asked.push(host);
      return Promise.resolve([asked.length === 1 ? "127.0.0.1" : "10.0.0.1"]);
    };
    const made = delivery({ clock: hands, lookup });
    const url = `https://localhost:${receiver.port}/`;
    expect(await post(made, url)).toMatchObject({ ok: true });
    hands.advance(119_999);
    expect(await post(made, url)).toMatchObject({ ok: true });
    expect(asked).toHaveLength(1);
    hands.advance(1);
    expect(await post(made, url)).toMatchObject({ error: "blocked_address" });
    await receiver.drained();
  });

  test("one that the receiver has ended meanwhile is not used", async () => {
    const made = delivery();
    await post(made);
    receiver.endConnections();
    await receiver.drained();
    expect(await post(made)).toMatchObject({ ok: true });
    expect([receiver.connections(), receiver.requests.length]).toEqual([2, 2]);
    await made.endIdle();
  });

  test("one that breaks off under the request fails as reset: the request is not sent again", async () => {
    const made = delivery();
    await post(made);
    receiver.answer(cutConnection);
    expect(await post(made)).toMatchObject({ ok: false, error: "reset", opening: null });
    expect([receiver.connections(), receiver.requests.length]).toEqual([1, 2]);
    await receiver.drained();
  });

  test("one whose answer was not read to its end is not used again", async () => {
    const made = delivery();
    receiver.answer(answerWith(200, "a".repeat(1024 * 1024)));
    expect(await post(made)).toMatchObject({ ok: true });
    await receiver.drained();
    expect(await post(made)).toMatchObject({ ok: true, excerpt: "a".repeat(1_024) });
    expect(receiver.connections()).toBe(2);
  });

  test("of one URL four are kept, of all 256", async () => {
    const made = delivery();
    await Promise.all(Array.from({ length: 6 }, () => post(made)));
    expect(receiver.connections()).toBe(6);
    await eventually(() => expect(receiver.openConnections()).toBe(4));
    for (let index = 0; index < 260; index++) await post(made, `${receiver.url}/${index}`);
    await eventually(() => expect(receiver.openConnections()).toBe(256));
    await made.endIdle();
    await receiver.drained();
  });
});

test("when the first address of a name is dead the next one is tried", async () => {
  const allowAddress = (ip: string): boolean => ip.startsWith("127.0.0.");
  const lookup = () => Promise.resolve(["127.0.0.9", "127.0.0.1"]);
  expect(await attempt({ allowAddress, lookup }, `https://localhost:${receiver.port}/`)).toMatchObject({
    ok: true,
  });
});

test("giving an attempt up closes its connection and rejects with the caller's reason", async () => {
  receiver.answer(() => {});
  const arrived = receiver.nextRequest();
  const lease = new AbortController();
  const given = delivery().attempt({ url: receiver.url, body: "{}", headers: {}, signal: lease.signal });
  await arrived;
  lease.abort(new Error("lease lost"));
  await expect(given).rejects.toThrow("lease lost");
  await receiver.drained();
});

test("an attempt given up before it began opens no connection", async () => {
  const signal = AbortSignal.abort(new Error("lease lost"));
  await expect(delivery().attempt({ url: receiver.url, body: "{}", headers: {}, signal })).rejects.toThrow(
    "lease lost",
  );
  expect(receiver.connections()).toBe(0);
});

test("a header that cannot be sent is the caller's bug and rejects", async () => {
  const headers = { "x-broken": "two\r\nlines" };
  await expect(delivery().attempt({ url: receiver.url, body: "{}", headers })).rejects.toThrow("x-broken");
  await receiver.drained();
});

describe("TLS", () => {
  test("an authority nobody trusts is refused, even with NODE_TLS_REJECT_UNAUTHORIZED=0", async () => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    const untrusting = createDeliveryClient({ clock, allowAddress: loopback });
    const result = await untrusting.attempt({ url: receiver.url, body: "{}", headers: {} });
    expect(result).toMatchObject({ ok: false, httpStatus: null, error: "tls" });
    expect(receiver.requests).toHaveLength(0);
  });

  test("a certificate for another name is refused", async () => {
    const lookup = () => Promise.resolve(["127.0.0.1"]);
    const url = `https://receiver.example:${receiver.port}/`;
    expect(await attempt({ lookup }, url)).toMatchObject({ ok: false, error: "tls" });
    expect(receiver.requests).toHaveLength(0);
  });

  test("a certificate for the name is accepted, and the name is what is verified", async () => {
    const url = `https://localhost:${receiver.port}/`;
    expect(await attempt({ lookup: () => Promise.resolve(["127.0.0.1"]) }, url)).toMatchObject({ ok: true });
    expect(receiver.requests[0]?.headers.host).toBe(`localhost:${receiver.port}`);
  });
});

describe("reach", () => {
  test.each([200, 302, 404, 405, 500])("an answer of %i to a HEAD without payload counts", async (status) => {
    receiver.answer(answerWith(status));
    expect(await delivery().reach(receiver.url)).toBe(true);
    const [request] = receiver.requests;
    expect(request).toMatchObject({ method: "HEAD", path: "/hook", body: Buffer.alloc(0) });
    expect(Object.keys(request?.headers ?? {}).toSorted()).toEqual(["connection", "host", "user-agent"]);
  });

  test("no answer within 5 seconds, a cut connection and a refused address do not count", async () => {
    const hands = virtualClock();
    receiver.answer(() => {});
    const arrived = receiver.nextRequest();
    const slow = delivery({ clock: hands }).reach(receiver.url);
    await arrived;
    hands.advance(5_000);
    expect(await slow).toBe(false);
    receiver.answer(cutConnection);
    expect(await delivery().reach(receiver.url)).toBe(false);
    const before = receiver.connections();
    expect(await createDeliveryClient({ clock }).reach(receiver.url)).toBe(false);
    expect(receiver.connections()).toBe(before);
  });
});
