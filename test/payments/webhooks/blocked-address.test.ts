/** H10: what the guard refuses is never connected to. Real listeners on the loopback count every TCP connection. */
// modules: webhooks
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect } from "vitest";
import type { AllowAddress } from "../../../src/payments/webhooks/sending/receiver-url.ts";
import { createDeliveryClient } from "../../../src/payments/webhooks/sending/attempt.ts";
import type { Lookup } from "../../../src/payments/webhooks/sending/resolve-host.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";
import { attemptTest } from "./attempt-test.ts";

const BLOCKED = {
  ok: false,
  httpStatus: null,
  error: "blocked_address",
  durationMs: 0,
  excerpt: null,
  opening: null,
};
const clock = virtualClock();

/** Listens on every address of this machine, of both families, and counts what comes. */
class Everywhere {
  connections = 0;
  bytes = 0;
  readonly server = createServer((socket) => {
    this.connections += 1;
    socket.on("error", () => {}).on("data", (chunk) => (this.bytes += chunk.length));
  });
  urlOf = (host: string) => `https://${host}:${(this.server.address() as AddressInfo).port}/`;
  attempt = (host: string, options: { lookup?: Lookup; allowAddress?: AllowAddress } = {}) =>
    createDeliveryClient({ clock, ...options }).attempt({ url: this.urlOf(host), body: "{}", headers: {} });
}

const test = attemptTest.extend("everywhere", async ({}, { onCleanup }) => {
  const everywhere = new Everywhere();
  const { server } = everywhere;
  onCleanup(async () => void (await once(server.close(), "close")));
  await once(server.listen(0, "::"), "listening");
  return everywhere;
});

test("the listeners would notice: an opened address is connected to", async ({ everywhere }) => {
  everywhere.server.once("connection", (socket) => socket.destroy());
  expect(await everywhere.attempt("127.0.0.1", { allowAddress: () => true })).toMatchObject({ error: "tls" });
  expect(everywhere.connections).toBe(1);
});

test.for([
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
])("H10: no TCP connection is opened to https://%s", async (host, { everywhere }) => {
  expect(await everywhere.attempt(host)).toEqual(BLOCKED);
  expect(everywhere.connections).toBe(0);
});

test.for([
  "127.0.0.1",
  "10.0.0.1",
  "169.254.169.254",
  "::1",
  "::ffff:127.0.0.1",
  "0.0.0.0",
  "not an address",
])("H10: no TCP connection is opened to a name that resolves to %s", async (ip, { everywhere }) => {
  expect(await everywhere.attempt("receiver.example", { lookup: () => Promise.resolve([ip]) })).toEqual(
    BLOCKED,
  );
  expect(everywhere.connections).toBe(0);
});

test.for([
  ["first", ["10.0.0.1", "127.0.0.1"]],
  ["last", ["127.0.0.1", "10.0.0.1"]],
  ["of the other family", ["127.0.0.1", "fd00::1"]],
  ["past those that would be tried", ["127.0.0.1", "127.0.0.1", "127.0.0.1", "10.0.0.1"]],
] as const)("H10: one bad answer %s refuses all, the good ones too", async ([, answers], { everywhere }) => {
  const allowAddress = (ip: string): boolean => ip === "127.0.0.1";
  expect(
    await everywhere.attempt("receiver.example", {
      allowAddress,
      lookup: () => Promise.resolve([...answers]),
    }),
  ).toEqual(BLOCKED);
  expect(everywhere.connections).toBe(0);
});

test("H10: an address that turns out bad once connected gets not a single byte", async ({ everywhere }) => {
  let asked = 0;
  const allowAddress = (): boolean => (asked += 1) === 1;
  const closed = once(everywhere.server, "connection").then(([socket]) => once(socket as Socket, "close"));
  const lookup = () => Promise.resolve(["127.0.0.1"]);
  // The URL holds a name, so the guard is asked about the answer first and about the socket second.
  expect(await everywhere.attempt("receiver.example", { allowAddress, lookup })).toEqual(BLOCKED);
  await closed;
  expect([asked, everywhere.connections, everywhere.bytes]).toEqual([2, 1, 0]);
});

test("H10: DNS rebinding: a name is looked up once per attempt, and a private second answer is not connected to", async ({
  receiver,
  everywhere,
}) => {
  // 127.0.0.1 plays the public address, 127.0.0.2 the private one; the listener is on both.
  const allowAddress = (ip: string): boolean => ip === "127.0.0.1";
  const answers = ["127.0.0.1", "127.0.0.2"];
  let lookups = 0;
  const lookup = () => Promise.resolve([answers[Math.min(lookups++, 1)] ?? ""]);
  const delivery = createDeliveryClient({ clock, allowAddress, lookup, ca: receiver.ca });
  const first = { url: `https://localhost:${receiver.port}/`, body: "{}", headers: {} };
  expect(await delivery.attempt(first)).toMatchObject({ ok: true });
  expect(lookups).toBe(1);
  const second = { ...first, url: everywhere.urlOf("localhost") };
  expect(await delivery.attempt(second)).toEqual(BLOCKED);
  expect([lookups, everywhere.connections]).toEqual([2, 0]);
});

test("H10: the reachability check is guarded alike", async ({ everywhere }) => {
  const lookup = () => Promise.resolve(["127.0.0.1"]);
  expect(await createDeliveryClient({ clock, lookup }).reach(everywhere.urlOf("receiver.example"))).toBe(
    false,
  );
  expect(await createDeliveryClient({ clock }).reach(everywhere.urlOf("127.0.0.1"))).toBe(false);
  expect(everywhere.connections).toBe(0);
});
