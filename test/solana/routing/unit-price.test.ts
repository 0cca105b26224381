/** What a transaction of ours bids for its place in a block, and never more. */
import { VersionedMessage } from "@solana/web3.js";
import { expect } from "vitest";
import type { Bid } from "../../../src/ledger/routing.ts";
import { silentLogger } from "../../../src/core/runtime.ts";
import { solanaLedger, type FeeOptions } from "../../../src/solana/index.ts";
import { blockClock } from "../../kit/chain-fixture.ts";
import { noting, oddEndpoint } from "../../kit/odd-endpoints.ts";
import type { Party, RoutingFixture } from "./routing-fixture.ts";
import { sharedRoutingTest } from "./routing-test.ts";

/** A deposit address that holds something. */
interface Scene extends Omit<RoutingFixture, "deposit"> {
  readonly deposit: Party;
}

const test = sharedRoutingTest.extend("scene", { scope: "file" }, async ({ world }): Promise<Scene> => ({
  ...world,
  deposit: world.party({ lamports: 10_000_000_000n, usdc: 1_000_000n }),
}));

/** The fees that each node tells of recent blocks, the options, and how a transaction bids. */
interface Market {
  readonly told?: readonly (readonly unknown[])[];
  readonly fees?: FeeOptions;
  readonly bid?: Bid;
}

/** What a token payout bids, and what the nodes were asked. */
async function bidAt(scene: Scene, { told = [[]], fees = {}, bid }: Market) {
  const { deposit, ledgerOf, chain, plan, mark, usdc, nobody } = scene;
  const asked: (readonly unknown[])[] = [];
  const nodes = told.map((prices, index) =>
    oddEndpoint(chain, `local${index}`, ({ method, params }) => {
      if (method !== "getRecentPrioritizationFees") return undefined;
      asked.push(params);
      const blocks = prices.map((prioritizationFee, slot) => ({ slot, prioritizationFee }));
      return { kind: "lie", answer: () => blocks };
    }),
  );
  const ledger = ledgerOf(
    nodes.map(({ option }) => option),
    { fees },
  );
  try {
    const built = await ledger.buildTransaction(plan(mark(deposit), usdc(deposit, nobody(), 1n)), bid);
    const message = VersionedMessage.deserialize(built.message);
    const [limit, price] = message.compiledInstructions.map(({ data }) => Buffer.from(data));
    if (limit === undefined || price === undefined) throw new RangeError("no budget");
    expect([limit[0], price[0]]).toEqual([2, 3]);
    const { networkFee: fee, priorityFee } = built;
    return { price: price.readBigUInt64LE(1), units: limit.readUInt32LE(1), fee, priorityFee, asked };
  } finally {
    await ledger.close();
  }
}

/** The highest price at which so many units stay within the ceiling. */
const priceOf = (lamports: bigint, units: number): bigint => (lamports * 1_000_000n) / BigInt(units);

test("N1: a bid is the floor where nobody had to bid, whatever a node says of that", async ({ scene }) => {
  for (const told of [[], [0, 0, 0], [0, 7, 999]]) {
    expect((await bidAt(scene, { told: [told] })).price, String(told)).toBe(1_000n);
  }
  expect((await bidAt(scene, { fees: { floor: 0n } })).price).toBe(0n);
});

test("three quarters of the blocks in which somebody had to bid would have taken the bid, or as many as the option says", async ({
  scene,
}) => {
  const told = [[...Array.from({ length: 100 }, (_, index) => 1_001 + ((index * 37) % 100)), 0, 0, 0]];
  expect((await bidAt(scene, { told })).price).toBe(1_076n);
  expect((await bidAt(scene, { told, fees: { percentile: 50 } })).price).toBe(1_051n);
  expect((await bidAt(scene, { told, fees: { percentile: 100 } })).price).toBe(1_100n);
});

test("nodes are asked about no accounts: of ours alone they would tell what we have bid ourselves", async ({
  scene,
}) => {
  expect((await bidAt(scene, { told: [[1]] })).asked).toEqual([[]]);
});

test("M34: one of two nodes that tells a high price makes no payment dearer", async ({ scene }) => {
  expect((await bidAt(scene, { told: [[7_000], [1_000_000]] })).price).toBe(7_000n);
  expect((await bidAt(scene, { told: [[1_000_000], [7_000]] })).price).toBe(7_000n);
});

test("N20: whatever a node answers, a transaction bids 50,000 lamports at most, or what the option says", async ({
  scene,
}) => {
  for (const told of [1e9, Number.MAX_SAFE_INTEGER, 2 ** 64]) {
    const { price, units, fee, priorityFee } = await bidAt(scene, { told: [[told]] });
    expect(price).toBe(priceOf(50_000n, units));
    expect(priorityFee).toBeLessThanOrEqual(50_000n);
    expect(fee).toBe(10_000n + priorityFee);
    const dear = await bidAt(scene, { told: [[told]], fees: { ceiling: 90_000n } });
    expect(dear.price).toBe(priceOf(90_000n, dear.units));
  }
});

test("a bid begins where it is told to, is no less than it must be, and stays below the ceiling of its order", async ({
  scene,
}) => {
  const told = [[5_000]];
  expect((await bidAt(scene, { told, bid: { from: "estimate" } })).price).toBe(5_000n);
  expect((await bidAt(scene, { told, bid: { from: "floor" } })).price).toBe(1_000n);
  const { units, price } = await bidAt(scene, { told, bid: { from: "ceiling" } });
  expect(price).toBe(priceOf(50_000n, units));
  const raised = await bidAt(scene, { told, bid: { from: "floor", atLeast: 777n } });
  // A price is a whole number, so a bid may be a lamport more.
  expect([777n, 778n]).toContain(raised.priorityFee);
  const low = await bidAt(scene, { told, bid: { from: "floor", atLeast: 777n, ceiling: 500n } });
  expect(low.price).toBe(priceOf(500n, low.units));
});

test("an estimate of another source moves a bid between floor and ceiling, and one that fails leaves it at the floor", async ({
  scene,
}) => {
  const of = async (estimate: () => Promise<bigint>) => bidAt(scene, { told: [[9_000]], fees: { estimate } });
  const told = await of(async () => 6_000n);
  expect(told.price).toBe(6_000n);
  expect(told.asked).toEqual([]);
  expect((await of(async () => 5n)).price).toBe(1_000n);
  const { price, units } = await of(async () => 10n ** 18n);
  expect(price).toBe(priceOf(50_000n, units));
  expect((await of(() => Promise.reject(new Error("out")))).price).toBe(1_000n);
  expect((await of(async () => -1n)).price).toBe(1_000n);
  expect((await of(async () => "7000" as unknown as bigint)).price).toBe(1_000n);
});

test("an estimate of nothing is a price like any other, and one below nothing is told to be none", async ({
  scene: { deposit, chain, clock, plan, mark, usdc, nobody },
}) => {
  for (const [estimate, warnings] of [
    [0n, []],
    [-1n, ["fees.estimate told no price: bids are at the floor"]],
  ] as const) {
    const warned: string[] = [];
    const ledger = solanaLedger({
      endpoints: [oddEndpoint(chain, "local").option],
      clock: blockClock(chain, clock),
      fees: { floor: 7n, estimate: async () => estimate },
      logger: { ...silentLogger, warn: (_: object, message: string) => void warned.push(message) },
    });
    await ledger.buildTransaction(plan(mark(deposit), usdc(deposit, nobody(), 1n)));
    expect(warned).toEqual(warnings);
    await ledger.close();
  }
});

test("N2: an estimate of another source that never comes holds nothing up: the bid is the floor after two seconds", async ({
  scene,
}) => {
  const estimate = (): Promise<bigint> => new Promise(() => {});
  const bidding = bidAt(scene, { told: [[9_000]], fees: { estimate } });
  const waiting = setInterval(() => scene.clock.advance(500), 5);
  try {
    expect((await bidding).price).toBe(1_000n);
  } finally {
    clearInterval(waiting);
  }
});

test("the market is asked about once in five seconds", async ({
  scene: { ledgerOf, chain, clock, plan, party, mark, usdc, nobody },
}) => {
  const fees = noting("getRecentPrioritizationFees");
  const ledger = ledgerOf([oddEndpoint(chain, "local", fees).option]);
  const build = async (): Promise<unknown> => {
    const from = party({ lamports: 10_000_000_000n, usdc: 1_000_000n });
    return await ledger.buildTransaction(plan(mark(from), usdc(from, nobody(), 1n)));
  };
  for (let times = 0; times < 3; times += 1) await build();
  expect(fees.params).toHaveLength(1);
  clock.advance(5_000);
  await build();
  expect(fees.params).toHaveLength(2);
  await ledger.close();
});

test("a price that is no whole number is no answer, and the bid is the floor", async ({ scene }) => {
  for (const price of [-1, 0.5, "1", null]) {
    expect((await bidAt(scene, { told: [[price]] })).price).toBe(1_000n);
  }
});

test("wrong fees are refused by the name of their option", ({ scene: { ledgerOf } }) => {
  const nodes = [{ url: "http://local" }];
  const wrong = { floor: -1n, ceiling: 0n, percentile: 0 };
  expect(() => ledgerOf(nodes, { fees: wrong })).toThrow(/fees\.floor[^]*fees\.ceiling[^]*fees\.percentile/);
});
