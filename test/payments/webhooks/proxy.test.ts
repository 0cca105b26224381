/** Deliveries through an egress proxy: real sockets, TLS verified end to end, and what the guard still refuses. */
// modules: webhooks
import { afterEach, describe, expect, test as vitestTest, vi } from "vitest";
import {
  createDeliveryClient,
  type DeliveryOptions,
} from "../../../src/payments/webhooks/sending/attempt.ts";
import { startConnectProxy } from "../../kit/connect-proxy.ts";
import { startHttpsReceiver } from "../../kit/https-receiver.ts";
import { issueLoopbackCertificate, sharedCertificate } from "../../kit/loopback-certificate.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";
import { webhookWorld } from "./webhook-world.ts";
import { eventually } from "../../kit/eventually.ts";

const PUBLIC = "93.184.216.34";

const clock = virtualClock();
afterEach(() => void vi.unstubAllEnvs());

/** `delivery` has the name of the receiver looked up as a public address, where nothing is ever connected to. */
const test = vitestTest
  .extend("receiver", async ({}, { onCleanup }) => {
    const receiver = await startHttpsReceiver({ certificate: await sharedCertificate() });
    onCleanup(() => receiver.close());
    return receiver;
  })
  .extend("proxy", async ({}, { onCleanup }) => {
    const proxy = await startConnectProxy();
    onCleanup(() => proxy.close());
    return proxy;
  })
  .extend("delivery", ({ receiver, proxy }) => (options: Partial<DeliveryOptions> = {}) => {
    return createDeliveryClient({
      clock,
      // Takes a name of one label; no address is opened.
      allowAddress: () => false,
      lookup: async () => [PUBLIC],
      ca: receiver.ca,
      proxy: new URL(proxy.url),
      ...options,
    });
  })
  .extend("attempt", ({ receiver, delivery }) => {
    return (options: Partial<DeliveryOptions> = {}, host = "localhost") =>
      delivery(options).attempt({
        url: `https://${host}:${receiver.port}/hook`,
        body: '{"secret":"canary"}',
        headers: {},
      });
  });

test("a delivery goes through the proxy, which is told the name and sees no byte of the notice", async ({
  receiver,
  proxy,
  delivery,
}) => {
  const through = delivery({ proxy: new URL(proxy.url.replace("//", "//us%40er:pass@")) });
  const request = {
    url: `https://localhost:${receiver.port}/hook`,
    body: '{"secret":"canary"}',
    headers: {},
  };
  expect(await through.attempt(request)).toMatchObject({ ok: true, httpStatus: 200, error: null });
  expect(receiver.requests[0]?.body.toString()).toBe('{"secret":"canary"}');
  expect(receiver.requests[0]?.headers).not.toHaveProperty("proxy-authorization");
  const [asked] = proxy.asked;
  expect(asked?.authority).toBe(`localhost:${receiver.port}`);
  expect(asked?.headers["proxy-authorization"]).toBe(`Basic ${Buffer.from("us@er:pass").toString("base64")}`);
  expect(proxy.seen().length).toBeGreaterThan(0);
  expect(proxy.seen().includes("canary")).toBe(false);
  // The connection is kept, and used again.
  await through.attempt(request);
  expect(proxy.asked).toHaveLength(1);
  await through.endIdle();
});

test("the receiver is verified through the proxy, whatever the environment says", async ({
  receiver,
  attempt,
}) => {
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  const other = await issueLoopbackCertificate();
  expect(await attempt({ ca: other.ca })).toMatchObject({ ok: false, error: "tls" });
  expect(await attempt({}, "elsewhere")).toMatchObject({ ok: false, error: "tls" });
  expect(receiver.requests).toEqual([]);
});

describe("the guard asks the proxy for nothing that it refuses", () => {
  test.for<[string, string, Partial<DeliveryOptions>]>([
    ["a private address in the URL", "10.0.0.1", {}],
    [
      "a name that is looked up here as a private address",
      "localhost",
      { lookup: async () => [PUBLIC, "10.0.0.1"] },
    ],
    ["a name that is not found here", "localhost", { lookup: async () => [] }],
  ])("%s", async ([, host, options], { proxy, attempt }) => {
    const { error, ok } = await attempt(options, host);
    expect(ok).toBe(false);
    expect(["blocked_address", "dns"]).toContain(error);
    expect(proxy.asked).toEqual([]);
  });
});

test.for(["refuses", "resets"] as const)(
  "a proxy that %s fails the attempt with connect",
  async (manner, { proxy, attempt }) => {
    proxy.behave(manner);
    expect(await attempt()).toMatchObject({ ok: false, httpStatus: null, error: "connect" });
  },
);

test("a proxy that is not there fails the attempt with connect, and reaches nothing", async ({
  receiver,
  attempt,
}) => {
  const gone = await startConnectProxy();
  await gone.close();
  expect(await attempt({ proxy: new URL(gone.url) })).toMatchObject({ ok: false, error: "connect" });
  expect(receiver.connections()).toBe(0);
});

test("a proxy that never answers fails the attempt with connect after five seconds", async ({
  proxy,
  attempt,
}) => {
  proxy.behave("hangs");
  const own = virtualClock();
  const ended = attempt({ clock: own });
  await eventually(() => expect(proxy.asked).toHaveLength(1));
  own.advance(4_999);
  await new Promise((resolve) => setImmediate(resolve));
  own.advance(1);
  expect(await ended).toMatchObject({ ok: false, error: "connect", durationMs: 5_000 });
});

test("through a proxy a receiver that never answers is still a timeout after ten seconds", async ({
  receiver,
  attempt,
}) => {
  receiver.answer(() => {});
  const arrived = receiver.nextRequest();
  const own = virtualClock();
  const ended = attempt({ clock: own });
  await arrived;
  own.advance(5_000);
  await new Promise((resolve) => setImmediate(resolve));
  own.advance(5_000);
  expect(await ended).toMatchObject({ ok: false, error: "timeout", durationMs: 10_000 });
});

test("while the proxy is away nothing is lost: the notice comes through once it is back", async ({
  receiver,
  proxy,
}) => {
  const webhooks = {
    ca: receiver.ca,
    allowAddress: (ip: string) => ip === "127.0.0.1",
    proxy: proxy.url,
  };
  const world = await webhookWorld({ webhooks });
  try {
    const { fixture, caller } = world;
    const webhookId = await world.register({ events: ["transaction.pending"] });
    expect(proxy.asked, "also the check at registration goes through it").toHaveLength(1);
    proxy.behave("refuses");
    await world.sendOne();
    await fixture.pass(35_000);
    const [failed] = (await fixture.service.deliveries(caller, webhookId)).data;
    expect(failed).toMatchObject({ status: "pending", attempts: [{ error: "connect", httpStatus: null }] });
    proxy.behave("connects");
    await fixture.pass(60_000);
    expect(world.eventsReceived()).toEqual(["transaction.pending"]);
  } finally {
    await world.close();
  }
});

test.each([
  "proxy.example:3128",
  "socks5://proxy.example",
  "http://proxy.example/path",
  "http://u:hidden@",
  "http://u:hidden%zz@proxy.example",
  "http://hidden%ff:p@proxy.example",
])("%s as proxy is refused by name, without what it says", async (url) => {
  const world = await webhookWorld();
  try {
    const webhooks = { proxy: url };
    const make = () => world.fixture.another({ webhooks });
    expect(make).toThrow(
      'webhooks.proxy: expected the URL of a proxy, such as "http://proxy.example:3128", with its user and password percent-encoded',
    );
    expect(make).not.toThrow("hidden");
  } finally {
    await world.close();
  }
});
