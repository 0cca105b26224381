/** What a transaction of ours bids for its place, and never more. */
import { VersionedMessage } from "@solana/web3.js";
import { expect } from "vitest";
import { LedgerUnavailable } from "../../../src/ledger/ledger.ts";
import type { Fetch } from "../../../src/solana/index.ts";
import { callIn, type Party, type RoutingFixture } from "./routing-fixture.ts";
import { sharedRoutingTest } from "./routing-test.ts";

/** A deposit address that holds something. */
interface Scene extends Omit<RoutingFixture, "deposit"> {
  readonly deposit: Party;
}

const test = sharedRoutingTest.extend("scene", { scope: "file" }, async ({ world }): Promise<Scene> => ({
  ...world,
  deposit: world.party({ lamports: 10_000_000_000n, usdc: 1_000_000n }),
}));

/** What a token payout bids when each node says that recent blocks asked for these prices; and whom it asked about. */
async function bidAt(
  scene: Scene,
  ...pricesByNode: readonly (readonly unknown[])[]
): Promise<{
  price: bigint;
  units: number;
  fee: bigint;
  asked: readonly string[];
  writable: readonly string[];
}> {
  const { deposit } = scene;
  const { ledgerOf, chain, plan, mark, usdc, nobody } = scene;
  let asked: readonly string[] = [];
  const nodes = pricesByNode.map((prices, index) => ({
    url: `http://local${index}`,
    fetch: async (url, init) => {
      const call = callIn(init);
      if (call.method !== "getRecentPrioritizationFees") return await chain.fetch(url, init);
      asked = call.params[0] as readonly string[];
      const result = prices.map((prioritizationFee, slot) => ({ slot, prioritizationFee }));
      return Response.json({ jsonrpc: "2.0", id: call.id, result });
    },
  })) satisfies readonly { readonly url: string; readonly fetch: Fetch }[];
  const ledger = ledgerOf(nodes);
  try {
    const built = await ledger.buildTransaction(plan(mark(deposit), usdc(deposit, nobody(), 1n)));
    const message = VersionedMessage.deserialize(built.message);
    const [limit, price] = message.compiledInstructions.map(({ data }) => Buffer.from(data));
    if (limit === undefined || price === undefined) throw new RangeError("no budget");
    expect([limit[0], price[0]]).toEqual([2, 3]);
    const keys = message.staticAccountKeys.map(String);
    return {
      price: price.readBigUInt64LE(1),
      units: limit.readUInt32LE(1),
      fee: built.networkFee,
      asked,
      writable: keys.filter((_, index) => message.isAccountWritable(index)),
    };
  } finally {
    await ledger.close();
  }
}

test("three quarters of the recent blocks would have taken the bid; nobody asked for anything is no bid", async ({
  scene,
}) => {
  const prices = Array.from({ length: 100 }, (_, index) => (index * 37) % 100);
  expect((await bidAt(scene, prices)).price).toBe(75n);
  expect((await bidAt(scene, [])).price).toBe(0n);
  expect((await bidAt(scene, [0, 0, 0])).price).toBe(0n);
});

test("whatever a node answers, a unit costs the sponsor one lamport at most", async ({ scene }) => {
  for (const told of [Number.MAX_SAFE_INTEGER, 2 ** 64]) {
    const { price, units, fee } = await bidAt(scene, [told]);
    expect(price).toBe(1_000_000n);
    expect(fee).toBe(10_000n + BigInt(units));
  }
});

test("M34: one of two nodes that tells a high price makes no payment dearer", async ({ scene }) => {
  expect((await bidAt(scene, [7], [1_000_000])).price).toBe(7n);
  expect((await bidAt(scene, [1_000_000], [7])).price).toBe(7n);
});

test("the price is asked for the accounts that the transaction writes to", async ({ scene }) => {
  const { asked, writable } = await bidAt(scene, [1]);
  expect(asked.toSorted()).toEqual(writable.toSorted());
  // Sponsor, marker and two token accounts.
  expect(asked).toHaveLength(4);
});

test("the price is asked for once for the same payees, and again for other payees and after five seconds", async ({
  scene: { ledgerOf, chain, clock, plan, party, mark, usdc, nobody },
}) => {
  let asked = 0;
  const node: typeof fetch = async (url, init) => {
    if (callIn(init).method === "getRecentPrioritizationFees") asked += 1;
    return await chain.fetch(url, init);
  };
  const ledger = ledgerOf([{ url: "http://local", fetch: node }]);
  const [payee, other] = [nobody(), nobody()];
  const build = async (to: typeof payee): Promise<unknown> => {
    // Each order is paid out of an address of its own.
    const from = party({ lamports: 10_000_000_000n, usdc: 1_000_000n });
    return await ledger.buildTransaction(plan(mark(from), usdc(from, to, 1n)));
  };
  for (const to of [payee, payee, payee]) await build(to);
  expect(asked).toBe(1);
  await build(other);
  expect(asked).toBe(2);
  clock.advance(5_000);
  await build(payee);
  expect(asked).toBe(3);
  await ledger.close();
});

test("a price that is no whole number is no answer", async ({ scene }) => {
  for (const price of [-1, 0.5, "1", null]) {
    await expect(bidAt(scene, [price])).rejects.toBeInstanceOf(LedgerUnavailable);
  }
});
