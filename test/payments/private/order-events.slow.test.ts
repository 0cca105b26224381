/** What a private order tells beside its status: deposits as levels, holds, refunds, each once, beside the notices of the status. */
// modules: private, webhooks
import { expect } from "vitest";
import { BY } from "../../kit/by.ts";
import { startHttpsReceiver } from "../../kit/https-receiver.ts";
import { sharedCertificate } from "../../kit/loopback-certificate.ts";
import type { EventBody } from "../../../src/payments/webhooks/list-events.ts";
import { STATUS_EVENTS } from "../../../src/payments/frame/notices/notice-body.ts";
import { formatAmount } from "../../../src/core/amount.ts";
import { MINUTE, type Ordered, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";

/** The order's events of a name, oldest first. */
async function told(world: Scene, { id }: Ordered, event: string): Promise<readonly EventBody[]> {
  const { data } = await world.service.transactionEvents(world.customer, id, { order: "asc", limit: 100 });
  return data.filter((each) => each.event === `transaction.${event}`);
}

const sumsOf = (events: readonly EventBody[]): unknown[] =>
  events.map(({ data: { received, remaining } }) => [received, remaining]);

const usdc = (amount: bigint): string => formatAmount(amount, 6);

test("Q8: a deposit in two halves: each sum is told once, to the webhook that named it, beside the status", async ({
  open,
}) => {
  const certificate = await sharedCertificate();
  const receiver = await startHttpsReceiver({ certificate });
  const world = await open({ webhooks: { ca: certificate.ca, allowAddress: () => true } });
  const paths: Readonly<Record<string, readonly string[]>> = {
    "/deposits": ["transaction.deposit_received"],
    "/status": STATUS_EVENTS,
  };
  for (const [path, events] of Object.entries(paths)) {
    await world.service.registerWebhook(world.customer, {
      url: `${receiver.url}${path}`,
      events: [...events],
    });
  }
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: 2_000_000n });
  await world.deposit(order.address, { usdc: order.due - 2_000_000n });
  await world.settle(10);
  const deposits = await told(world, order, "deposit_received");
  expect(sumsOf(deposits)).toEqual([
    ["2", usdc(order.due - 2_000_000n)],
    [usdc(order.due), "0"],
  ]);
  expect(new Set(deposits.map(({ eventId }) => eventId)).size).toBe(2);
  const arrived = receiver.requests
    .filter(({ method }) => method === "POST")
    .map(({ path, body }) => [path, (JSON.parse(body.toString()) as EventBody).event]);
  for (const [path, events] of Object.entries({
    ...paths,
    "/deposits": Array(2).fill(paths["/deposits"]?.[0]),
  })) {
    const came = arrived.filter(([to]) => to?.endsWith(path) === true).map(([, event]) => event);
    expect(came).toEqual(path === "/status" ? events.slice(0, 3) : events);
  }
  await receiver.close();
  await world.judge();
});

test("Q8: rises below 0.001 are told with what they add up to", async ({ world }) => {
  const order = await world.sendTo();
  for (let times = 0; times < 4; times++) await world.deposit(order.address, { usdc: 600n });
  expect(sumsOf(await told(world, order, "deposit_received"))).toEqual([
    ["0.0012", usdc(order.due - 1_200n)],
    ["0.0024", usdc(order.due - 2_400n)],
  ]);
  await world.passAndSettle(31 * MINUTE, 8);
  await world.judge();
});

test("Q8: of twelve deposits nine are told, and the one that completes always, also where it is of one unit", async ({
  world,
}) => {
  const order = await world.sendTo();
  for (let times = 0; times < 12; times++) await world.deposit(order.address, { usdc: 1_000n });
  await world.deposit(order.address, { usdc: order.due - 12_000n - 200n });
  expect(sumsOf(await told(world, order, "deposit_received"))).toHaveLength(9);
  await world.deposit(order.address, { usdc: 200n });
  await world.settle(10);
  const sums = sumsOf(await told(world, order, "deposit_received"));
  expect(sums).toHaveLength(10);
  expect(sums.at(-1)).toEqual([usdc(order.due), "0"]);
  // What comes late is refunded, and is one too many to be told.
  await world.deposit(order.address, { usdc: 1_000_000n });
  await world.passAndSettle(11 * MINUTE, 6);
  expect(await told(world, order, "deposit_received")).toHaveLength(10);
  expect(await told(world, order, "refunded")).toHaveLength(1);
  await world.judge();
});

test("Q8: an order without the whole deposit tells what came and each refund, late money included", async ({
  world,
}) => {
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: 2_000_000n });
  await world.passAndSettle(31 * MINUTE, 8);
  expect(await told(world, order, "refunded")).toMatchObject([
    { data: { status: "failed", reason: "INCOMPLETE_DEPOSIT" } },
  ]);
  await world.deposit(order.address, { usdc: 3_000_000n });
  await world.passAndSettle(11 * MINUTE, 8);
  expect(sumsOf(await told(world, order, "deposit_received"))).toEqual([
    ["2", usdc(order.due - 2_000_000n)],
    ["5", usdc(order.due - 5_000_000n)],
  ]);
  expect(new Set((await told(world, order, "refunded")).map(({ eventId }) => eventId)).size).toBe(2);
  await world.judge();
});

test("Q8: a cancelled order tells so once", async ({ world }) => {
  const order = await world.sendTo();
  const { cancelledAt } = await world.service.cancelTransaction(world.customer, order.id);
  await world.passAndSettle(31 * MINUTE);
  expect(await told(world, order, "cancelled")).toMatchObject([
    { createdAt: cancelledAt, data: { status: "cancelled" } },
  ]);
  await world.judge();
});

test("Q8: each hold is told once, whoever holds, and a second one is refused neither its notice nor its step", async ({
  open,
}) => {
  const refused = new Set<string>();
  const world = await open(
    {},
    { screen: async (address) => (refused.has(address) ? ("refused" as const) : ("ok" as const)) },
  );
  const carol = world.wallet("carol", { lamports: 5_000_000_000n, usdc: 50_000_000n });
  const pay = async (order: Ordered, amount: bigint): Promise<void> => {
    await world.openAccount({ ...carol, address: order.address as typeof carol.address }, "USDC");
    await world.payTokens(carol, order.address, "USDC", amount);
  };
  const order = await world.sendTo();
  refused.add(carol.address);
  await pay(order, order.due);
  await world.passAndSettle(3 * MINUTE, 6);
  // A person holds it beside: until both are released it is one hold.
  await world.service.operator.resolve(order.id, { action: "hold" }, BY);
  await world.pass(10_000);
  expect(await told(world, order, "held")).toMatchObject([{ data: { status: "processing", reason: null } }]);

  await world.service.operator.resolve(`held:${order.id}`, { action: "release" }, BY);
  await world.settle(12);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await world.service.operator.resolve(order.id, { action: "hold" }, BY);
  await world.pass(10_000);
  expect(await told(world, order, "held")).toHaveLength(2);
  await pay(order, 3_000_000n);
  await world.passAndSettle(11 * MINUTE, 6);
  await world.service.operator.resolve(`held:${order.id}`, { action: "release" }, BY);
  await world.passAndSettle(11 * MINUTE, 8);
  // Nobody was asked about who paid meanwhile: what is refused of that is a hold of its own.
  const completed = { data: { status: "completed" } };
  expect(await told(world, order, "held")).toMatchObject([{}, completed, completed]);
  await world.service.operator.resolve(`held:${order.id}`, { action: "release" }, BY);
  await world.passAndSettle(11 * MINUTE, 8);
  expect(await told(world, order, "held")).toHaveLength(3);
  expect(await told(world, order, "refunded")).toMatchObject([{ data: { status: "completed" } }]);
  await world.judge();
});
