/** Private orders in a market where places in blocks cost something. */
// modules: private
import { describe, expect } from "vitest";
import { type Ledger, LedgerUnavailable } from "../../../src/ledger/ledger.ts";
import type { PrivateRoutingOptions } from "../../../src/payments/private/private-routing-options.ts";
import type { AttemptRecord } from "../../../src/payments/frame/tables/attempts.ts";
import { spentInADay, raisedBids } from "../../../src/payments/frame/spending.ts";
import { FeeMarket } from "../../kit/fee-market.ts";
import { oddEndpoint } from "../../kit/odd-endpoints.ts";
import { MINUTE, orderedAs, transfersOf, type Ordered, type Scene } from "./scene.ts";
import { sceneTest } from "./scene-test.ts";

/** A world whose node stands in a market, unless the way to the node is shut; and the ceiling that new orders get. */
interface MarketScene extends Scene {
  readonly market: FeeMarket;
  readonly way: { isOpen: boolean; isBusy: boolean; ceiling: bigint };
}

const test = sceneTest.extend("inMarket", async ({ open }) => {
  return async (routing: Partial<PrivateRoutingOptions> = {}): Promise<MarketScene> => {
    const market = new FeeMarket();
    const way = { isOpen: true, isBusy: false, ceiling: 50_000n };
    const seen = new Set<string>();
    const world = await open({}, routing, ({ chain, ledgerOf }): Ledger => {
      const ledger = ledgerOf([oddEndpoint(chain, "market", market.rule).option]);
      const shut = (): Promise<void> => Promise.reject(new LedgerUnavailable("the way is shut"));
      return {
        ...ledger,
        get bidCeiling() {
          return way.ceiling;
        },
        broadcast(bytes) {
          const isFirst = seen.size < seen.add(Buffer.from(bytes).toString("hex")).size;
          return way.isOpen && !(way.isBusy && isFirst) ? ledger.broadcast(bytes) : shut();
        },
      };
    });
    return { ...world, market, way };
  };
});

/** Pays the order's deposit, and lets minutes pass until its money is routed, ten at most. */
async function minutesToEnd(world: Scene, order: Ordered): Promise<number> {
  await world.deposit(order.address, { usdc: order.due });
  for (let minutes = 0; minutes < 10; minutes += 0.5) {
    if ((await world.shown(order)).status === "completed") return minutes;
    await world.passAndSettle(MINUTE / 2, 2);
  }
  return Infinity;
}

/** The signed bytes of an order's chunks, oldest first. */
async function attemptsOf(world: Scene, order: Ordered): Promise<readonly AttemptRecord[]> {
  const chunks = await transfersOf(world, order, "chunk");
  return world.storage.attemptsOfAny(chunks.map(({ id }) => id));
}

/** The bids of an order's chunks, in lamports, each chunk's in order. */
async function bidsOf(world: MarketScene, order: Ordered): Promise<readonly bigint[]> {
  const attempts = await attemptsOf(world, order);
  return attempts.map(({ id }) => world.market.bids.get(id) ?? -1n);
}

async function payroll(world: Scene, count: number): Promise<Ordered> {
  const payees = Array.from({ length: count }, (_, index) => world.wallet(`payee ${index}`));
  const { body } = await world.order(world.customer, {
    sender: world.alice,
    to: payees.map(({ address }) => ({ address, amount: "0.5" })),
  });
  return orderedAs(body);
}

describe("N1: every slot refuses bids below a floor, and the node's fee answer is of no use", () => {
  for (const told of [[0], []]) {
    test(`with fee answers of ${JSON.stringify(told)} an order is over within five minutes of its deposit`, async ({
      inMarket,
    }) => {
      const world = await inMarket();
      world.market.least = 1_000n;
      world.market.told = told;
      const first = await world.sendTo();
      expect(await minutesToEnd(world, first)).toBeLessThan(5);
      expect(await bidsOf(world, first)).toEqual([1_000n]);
      // The market rises while these wait.
      const orders = [await world.sendTo(), await payroll(world, 12)];
      world.market.least = 100_000n;
      for (const order of orders) expect(await minutesToEnd(world, order)).toBeLessThan(5);
      const ceiling = world.ledger.bidCeiling;
      for (const order of orders) {
        for (const { bid } of await attemptsOf(world, order)) expect(bid).toBeLessThanOrEqual(ceiling);
      }
      await world.judge();
    });
  }
});

test("N2: a blockhash that passed raises the bid fourfold, and then to the ceiling, which is the operator's cost", async ({
  inMarket,
}) => {
  const world = await inMarket();
  const order = await world.sendTo();
  world.market.least = 100_000n;
  expect(await minutesToEnd(world, order)).toBeLessThan(5);
  const [first = 0n, second = 0n, third = 0n, ...more] = await bidsOf(world, order);
  expect([first, more]).toEqual([1_000n, []]);
  // What a bid is in lamports is rounded up.
  expect(second).toBeGreaterThanOrEqual(4_000n);
  expect(second).toBeLessThan(4_100n);
  expect(third).toBeGreaterThan(100_000n);
  const { address } = world.sponsor;
  const raised = await spentInADay(world.storage, raisedBids(address), world.clock.now());
  expect(raised).toBeGreaterThan(49_000n);
  expect(raised).toBeLessThanOrEqual(50_000n);
  await world.judge();
});

test("N2, C15: half an hour that let no bytes through raises no bid and holds nothing", async ({
  inMarket,
}) => {
  const world = await inMarket();
  const order = await world.sendTo();
  world.way.isOpen = false;
  await world.deposit(order.address, { usdc: order.due });
  for (let minutes = 0; minutes < 30; minutes += 1) await world.passAndSettle(MINUTE, 2);
  expect(await world.shown(order)).toMatchObject({ status: "processing", attention: null });
  world.way.isOpen = true;
  expect(await minutesToEnd(world, order)).toBeLessThan(5);
  const bids = new Set(world.market.bids.values());
  expect([...bids]).toEqual([1_000n]);
  await world.judge();
});

test("N2: bytes that were taken at the second send raise the bid, too", async ({ inMarket }) => {
  const world = await inMarket();
  const order = await world.sendTo();
  world.way.isBusy = true;
  world.market.least = 100_000n;
  await world.deposit(order.address, { usdc: order.due });
  for (let seconds = 0; seconds < 5 * 60; seconds += 5) await world.passAndSettle(5_000, 1);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await world.judge();
});

test("N2: where the day has no room for raised bids, none is above what the customer pays", async ({
  inMarket,
}) => {
  const world = await inMarket({ maxRaisedBidsPerDay: "0.00004" });
  const { market } = world;
  const order = await world.sendTo();
  market.least = 100_000n;
  expect(await minutesToEnd(world, order)).toBe(Infinity);
  expect([...market.bids.values()].every((bid) => bid < 4_100n)).toBe(true);
  market.least = 4_000n;
  await world.passAndSettle(2 * MINUTE, 4);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await world.judge();
});

test("N2: bids of attempts that can land no more leave the day its room for raised bids", async ({
  inMarket,
}) => {
  const world = await inMarket({ maxRaisedBidsPerDay: "0.00012" });
  const { market } = world;
  const order = await world.sendTo();
  market.least = 10n ** 9n;
  await world.deposit(order.address, { usdc: order.due });
  for (let minutes = 0; minutes < 8; minutes += 1) await world.passAndSettle(MINUTE, 2);
  market.least = 100_000n;
  const status = async () => (await world.shown(order)).status;
  for (let halves = 0; halves < 6 && (await status()) !== "completed"; halves += 1) {
    await world.passAndSettle(MINUTE / 2, 2);
  }
  expect(await status()).toBe("completed");
  const raised = await spentInADay(world.storage, raisedBids(world.sponsor.address), world.clock.now());
  expect(raised).toBeGreaterThan(49_000n);
  expect(raised).toBeLessThanOrEqual(50_000n);
  await world.judge();
});

test("N2: an estimate that rises after the quote is followed as far as the customer has paid, and further only by raised bids", async ({
  inMarket,
}) => {
  const world = await inMarket({ maxRaisedBidsPerDay: "0.0000001" });
  world.way.ceiling = 500_000n;
  const calm = await world.sendTo();
  const price = 700_000n;
  world.market.told = [Number(price)];
  await world.passAndSettle(10_000, 1);
  const dear = await world.sendTo();
  expect(await minutesToEnd(world, dear)).toBeLessThan(5);
  expect(await bidsOf(world, dear)).toEqual([price]);
  world.market.told = [10 ** 9];
  expect(await minutesToEnd(world, calm)).toBeLessThan(5);
  // The customer has paid for the floor four times.
  for (const bid of await bidsOf(world, calm)) expect(bid).toBeLessThanOrEqual(4_100n);
  await world.judge();
});

test("M31: a refund that has to bid the ceiling costs the operator nothing", async ({ inMarket }) => {
  const world = await inMarket();
  const order = await world.sendTo();
  const [before] = await world.held(world.sponsor.address);
  world.market.least = 100_000n;
  // A base unit less than is due comes back once the window has ended.
  await world.deposit(order.address, { usdc: order.due - 1n });
  await world.passAndSettle(31 * MINUTE, 6);
  for (let minutes = 0; minutes < 10; minutes += 1) await world.passAndSettle(MINUTE, 2);
  expect(await world.shown(order)).toMatchObject({ refunds: [{ status: "paid" }] });
  const bids = [...world.market.bids.values()];
  expect(bids.some((bid) => bid > 40_000n)).toBe(true);
  // The rent of the address's account, which the depositor has paid, covers more than the bids.
  const [after] = await world.held(world.sponsor.address);
  expect(after).toBeGreaterThanOrEqual(before);
  await world.judge();
});

test("C15: three attempts that endpoints took and that did not land are an operator's matter until the payment has ended, which needs none", async ({
  inMarket,
}) => {
  const world = await inMarket();
  const order = await world.sendTo();
  const stuck = async () =>
    (await world.service.operator.attention()).filter(({ kind }) => kind === "stuck_payment");
  world.market.least = 10n ** 9n;
  await world.deposit(order.address, { usdc: order.due });
  await world.passAndSettle(2 * MINUTE, 4);
  expect(await stuck()).toEqual([]);
  for (let minutes = 0; minutes < 4; minutes += 1) await world.passAndSettle(MINUTE, 2);
  const [chunk] = await transfersOf(world, order, "chunk");
  expect(await stuck()).toMatchObject([
    {
      id: `stuck_payment:${chunk?.id}`,
      transactionId: order.id,
      message: expect.stringContaining(`chunk 0 of order ${order.id} does not land`) as unknown,
      actions: ["retry", "decline"],
    },
  ]);
  // Half an hour above the ceiling, and then the market falls.
  for (let minutes = 0; minutes < 24; minutes += 1) await world.passAndSettle(MINUTE, 2);
  world.market.least = 0n;
  for (let minutes = 0; minutes < 3; minutes += 1) await world.passAndSettle(MINUTE, 2);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect(await stuck()).toEqual([]);
  await world.judge();
});

test("N2: nothing is signed before a place to send it is free: six orders at a send a second are signed one after the other, and none twice", async ({
  open,
}) => {
  const world = await open({}, {}, ({ chain, ledgerOf }) =>
    ledgerOf([{ url: "http://limited.example", fetch: chain.fetch, sendsPerSecond: 1 }]),
  );
  const orders: Ordered[] = [];
  for (let count = 0; count < 6; count += 1) orders.push(await world.sendTo());
  const signed = async (): Promise<number> => {
    const attempts = await Promise.all(orders.map((order) => attemptsOf(world, order)));
    return attempts.flat().length;
  };
  for (const { address, due } of orders) world.chain.fund(address, { usdc: due });
  world.chain.advance(35);
  await world.service.settled();
  expect(await signed()).toBe(1);
  for (let minutes = 0; minutes < 4; minutes += 1) await world.passAndSettle(MINUTE, 3);
  for (const order of orders) expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect(await signed()).toBe(orders.length);
  await world.judge();
});
