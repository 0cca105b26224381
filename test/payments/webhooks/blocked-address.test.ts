/** H10: what the guard refuses is never connected to. Real listeners on the loopback count every TCP connection. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AllowAddress } from "../../../src/payments/webhooks/sending/address-guard.ts";
import { createDelivery } from "../../../src/payments/webhooks/sending/attempt.ts";
import type { Lookup } from "../../../src/payments/webhooks/sending/resolve-host.ts";
import { type HttpsReceiver, startHttpsReceiver } from "../../kit/https-receiver.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";

const BLOCKED = {
  ok: false,
  httpStatus: null,
  error: "blocked_address",
  durationMs: 0,
  excerpt: null,
  opening: null,
};
const clock = virtualClock();

/** Listens on every address of this machine, of both families. */
let everywhere: Server;
let port: number;
let connections: number;
let bytes: number;

beforeEach(async () => {
  connections = 0;
  bytes = 0;
  everywhere = createServer((socket) => {
    connections += 1;
    socket.on("error", () => {}).on("data", (chunk) => (bytes += chunk.length));
  });
  everywhere.listen(0, "::");
  await once(everywhere, "listening");
  ({ port } = everywhere.address() as AddressInfo);
});

afterEach(async () => {
  everywhere.close();
  await once(everywhere, "close");
});

const attempt = (host: string, options: { lookup?: Lookup; allowAddress?: AllowAddress } = {}) =>
  createDelivery({ clock, ...options }).attempt({ url: `https://${host}:${port}/`, body: "{}", headers: {} });

test("the listeners would notice: an opened address is connected to", async () => {
  everywhere.once("connection", (socket) => socket.destroy());
  expect(await attempt("127.0.0.1", { allowAddress: () => true })).toMatchObject({ error: "tls" });
  expect(connections).toBe(1);
});

test.each([
  "127.0.0.1",
  "127.1",
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "0.0.0.0",
  "0",
  "169.254.169.254",
  "2852039166",
  "[::1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[64:ff9b::7f00:1]",
  "[2002:7f00:1::1]",
  "localhost",
])("H10: no TCP connection is opened to https://%s", async (host) => {
  expect(await attempt(host)).toEqual(BLOCKED);
  expect(connections).toBe(0);
});

test.each([
  "127.0.0.1",
  "10.0.0.1",
  "169.254.169.254",
  "::1",
  "::ffff:127.0.0.1",
  "0.0.0.0",
  "not an address",
])("H10: no TCP connection is opened to a name that resolves to %s", async (ip) => {
  expect(await attempt("receiver.example", { lookup: () => Promise.resolve([ip]) })).toEqual(BLOCKED);
  expect(connections).toBe(0);
});

test.each([
  ["first", ["10.0.0.1", "127.0.0.1"]],
  ["last", ["127.0.0.1", "10.0.0.1"]],
  ["of the other family", ["127.0.0.1", "fd00::1"]],
  ["past those that would be tried", ["127.0.0.1", "127.0.0.1", "127.0.0.1", "10.0.0.1"]],
])("H10: one bad answer %s refuses all, the good ones too", async (_where, answers) => {
  const allowAddress = (ip: string): boolean => ip === "127.0.0.1";
  expect(await attempt("receiver.example", { allowAddress, lookup: () => Promise.resolve(answers) })).toEqual(
    BLOCKED,
  );
  expect(connections).toBe(0);
});

test("H10: an address that turns out bad once connected gets not a single byte", async () => {
  let asked = 0;
  const allowAddress = (): boolean => (asked += 1) === 1;
  const closed = once(everywhere, "connection").then(([socket]) => once(socket as Socket, "close"));
  const lookup = () => Promise.resolve(["127.0.0.1"]);
  // The URL holds a name, so the guard is asked about the answer first and about the socket second.
  expect(await attempt("receiver.example", { allowAddress, lookup })).toEqual(BLOCKED);
  await closed;
  expect([asked, connections, bytes]).toEqual([2, 1, 0]);
});

describe("H10: DNS rebinding", () => {
  let receiver: HttpsReceiver;
  beforeAll(async () => void (receiver = await startHttpsReceiver()));
  afterAll(() => receiver.close());

  test("a name is looked up once per attempt, and a private second answer is not connected to", async () => {
    // 127.0.0.1 plays the public address, 127.0.0.2 the private one; the listener below is on both.
    const allowAddress = (ip: string): boolean => ip === "127.0.0.1";
    const answers = ["127.0.0.1", "127.0.0.2"];
    let lookups = 0;
    const lookup = () => Promise.resolve([answers[Math.min(lookups++, 1)] ?? ""]);
    const delivery = createDelivery({ clock, allowAddress, lookup, ca: receiver.ca });
    const first = { url: `https://localhost:${receiver.port}/`, body: "{}", headers: {} };
    expect(await delivery.attempt(first)).toMatchObject({ ok: true });
    expect(lookups).toBe(1);
    const second = { ...first, url: `https://localhost:${port}/` };
    expect(await delivery.attempt(second)).toEqual(BLOCKED);
    expect([lookups, connections]).toEqual([2, 0]);
  });
});

test("H10: the reachability check is guarded alike", async () => {
  const lookup = () => Promise.resolve(["127.0.0.1"]);
  expect(await createDelivery({ clock, lookup }).reach(`https://receiver.example:${port}/`)).toBe(false);
  expect(await createDelivery({ clock }).reach(`https://127.0.0.1:${port}/`)).toBe(false);
  expect(connections).toBe(0);
});
