/** One look at deposit addresses: what it costs, how soon it finds what, and that nothing rests on it. */
import { expect, test } from "vitest";
import { LedgerUnavailable } from "../../../src/ledger/ledger.ts";
import { SOL_MINT, type Address } from "../../../src/address.ts";
import { MAINNET_STABLECOINS } from "../../../src/payments/assets/assets.ts";
import { notedLook } from "../../kit/watch-look.ts";
import { addressAt, watchedWorld, WINDOW_MS, type Held, type WatchedWorld } from "./watched-addresses.ts";

const SAID_AGAIN = 30;

/** The number of the look that has something to tell, counted from 1; null when none of so many has. */
async function toldAtLook(world: WatchedWorld, most: number): Promise<number | null> {
  for (let look = 1; look <= most; look++) if ((await world.poll()).length > 0) return look;
  return null;
}

const one = addressAt(0);

test("100 watched addresses are one call a look, 101 are two", async () => {
  for (const [count, calls] of [
    [1, [1]],
    [100, [100]],
    [101, [100, 1]],
    [1_000, Array.from({ length: 10 }, () => 100)],
  ] as const) {
    const world = await watchedWorld(count);
    for (let look = 0; look < 7; look++) {
      await world.poll();
      expect(world.looks.splice(0)).toEqual(calls);
    }
    expect(world.readings).toEqual([]);
  }
});

test("nothing is derived again while an address is watched", async () => {
  const world = await watchedWorld(250);
  for (let look = 0; look < 24; look++) await world.poll();
  expect(world.derived).toBe(2 * 250);
});

test("L5: of an address that is stored with its token accounts nothing is derived", async () => {
  const { USDC, USDT } = MAINNET_STABLECOINS;
  const account = (mint: string): Address => `${one}/${mint}` as Address;
  const world = await watchedWorld(1, { accounts: { [USDC]: account(USDC), [USDT]: account(USDT) } });
  world.holdings.set(one, [0n, 0n, 7n]);
  for (let look = 0; look < 12; look++) await world.poll();
  expect(world.derived).toBe(0);
  expect(world.readings).not.toEqual([]);
});

test.each([
  ["USDC", MAINNET_STABLECOINS.USDC, [0n, 5n, 0n]],
  ["USDT", MAINNET_STABLECOINS.USDT, [0n, 0n, 5n]],
  ["SOL", SOL_MINT, [5n, 0n, 0n]],
] as const)(
  "a deposit of the expected asset, here %s, is noticed by the second look at the latest",
  async (_, mint, held) => {
    const world = await watchedWorld(1, { mint });
    for (let before = 0; before < 12; before++) {
      world.holdings.set(one, held.map((amount) => amount * BigInt(before + 1)) as unknown as Held);
      expect(await toldAtLook(world, 2)).not.toBeNull();
    }
  },
);

test("P12: a deposit in another asset is noticed within six looks, whenever it comes", async () => {
  for (const held of [
    [5n, 0n, 0n],
    [0n, 0n, 5n],
  ] as const) {
    for (let before = 0; before < 12; before++) {
      const world = await watchedWorld(1);
      for (let look = 0; look < before; look++) await world.poll();
      world.holdings.set(one, held);
      expect(await toldAtLook(world, 6)).not.toBeNull();
    }
  }
});

test("P9, P12: whichever account has changed, all of the address is told, by the block's own clock", async () => {
  const world = await watchedWorld(1);
  world.behindMs = 13_000;
  world.holdings.set(one, [7n, 5n, 6n]);
  expect(await world.poll()).toEqual([
    {
      instance: one,
      event: {
        type: "BALANCES_READ",
        slot: 1,
        blockTime: world.clock.now() - 13_000,
        balances: { [SOL_MINT]: "7", [MAINNET_STABLECOINS.USDC]: "5", [MAINNET_STABLECOINS.USDT]: "6" },
      },
    },
  ]);
});

test("a thousand quiet addresses are never told anything, not even after a restart", async () => {
  const world = await watchedWorld(1_000);
  for (let look = 0; look < 2 * SAID_AGAIN; look++) {
    if (look === SAID_AGAIN) world.restart();
    expect(await world.poll()).toEqual([]);
  }
  expect(world.readings).toEqual([]);
});

test("a thousand addresses that wait no more are told nothing because their windows are over", async () => {
  const world = await watchedWorld(1_000, { waitEndedAt: 1 });
  world.clock.advance(2 * WINDOW_MS);
  for (let look = 0; look < 2 * SAID_AGAIN; look++) expect(await world.poll()).toEqual([]);
  expect(world.readings).toEqual([]);
  world.holdings.set(one, [0n, 5n, 0n]);
  expect(await toldAtLook(world, 2)).not.toBeNull();
});

test("what the look saw is never told, only what the full reading shows", async () => {
  const world = await watchedWorld(1);
  world.lookedAs = () => [9n, 9n, 9n];
  for (let look = 0; look < 2 * SAID_AGAIN; look++) expect(await world.poll()).toEqual([]);
  expect(world.readings).toHaveLength(2 * SAID_AGAIN);
  world.readAs = () => [0n, 5n, 0n];
  const [told] = await world.poll();
  expect(told?.event).toMatchObject({
    balances: { [SOL_MINT]: "0", [MAINNET_STABLECOINS.USDC]: "5", [MAINNET_STABLECOINS.USDT]: "0" },
  });
});

test("a deposit that a lagging node does not show in full yet is found again by the next looks", async () => {
  const world = await watchedWorld(1);
  world.holdings.set(one, [0n, 5n, 0n]);
  world.readAs = () => [0n, 0n, 0n];
  for (let look = 0; look < 5; look++) expect(await world.poll()).toEqual([]);
  world.readAs = null;
  expect(await toldAtLook(world, 2)).not.toBeNull();
});

test("what was seen in another asset and could not be read in full is read at the next look", async () => {
  const world = await watchedWorld(1);
  world.holdings.set(one, [5n, 0n, 0n]);
  world.beforeCall = () => {
    if (world.readings.length > 0) throw new LedgerUnavailable("no node answers");
  };
  await expect(toldAtLook(world, 6)).rejects.toBeInstanceOf(LedgerUnavailable);
  world.beforeCall = () => undefined;
  expect(await world.told()).toEqual([one]);
});

test("what was told is told again after thirty looks while anything is there, and when it is gone once more", async () => {
  const world = await watchedWorld(1);
  world.holdings.set(one, [0n, 5n, 0n]);
  expect(await world.told()).toEqual([one]);
  expect(await toldAtLook(world, 2 * SAID_AGAIN)).toBe(SAID_AGAIN);
  world.restart();
  expect(await world.told()).toEqual([one]);
  world.holdings.delete(one);
  expect(await toldAtLook(world, 2)).not.toBeNull();
  expect(await toldAtLook(world, 2 * SAID_AGAIN)).toBeNull();
});

test("P30: our own clock only says when to ask: a window is over by the block's, and is told until it is heard", async () => {
  const world = await watchedWorld(1);
  world.behindMs = 13_000;
  await world.poll();
  world.clock.advance(WINDOW_MS + 1_000);
  expect(await world.told()).toEqual([]);
  expect(world.readings).toEqual([1]);
  world.clock.advance(12_000);
  expect(await world.told()).toEqual([]);
  world.clock.advance(1_000);
  expect(await world.told()).toEqual([one]);
  expect(await toldAtLook(world, 2 * SAID_AGAIN)).toBe(SAID_AGAIN);
  world.restart();
  expect(await world.told()).toEqual([one]);
});

test("of a held address nothing is told or read in full, until it is held no more", async () => {
  const world = await watchedWorld(2, { heldReason: "unknown_spending" });
  world.holdings.set(one, [0n, 5n, 0n]);
  world.clock.advance(WINDOW_MS + 1_000);
  for (let look = 0; look < SAID_AGAIN; look++) expect(await world.poll()).toEqual([]);
  expect(world.readings).toEqual([]);
  await world.storage.commit([{ writes: [{ table: "deposits", id: one, set: { heldReason: null } }] }]);
  expect(await world.told()).toEqual([one]);
});

test("a window that ends is not told of an address that has paid without us: it is held instead", async () => {
  const world = await watchedWorld(2);
  world.spentElsewhere.add(one);
  world.clock.advance(WINDOW_MS + 1_000);
  expect(await world.told()).toEqual([addressAt(1)]);
  expect(await world.storage.deposits([one])).toMatchObject([{ heldReason: "unknown_spending" }]);
  expect(await world.told()).toEqual([]);
  expect(world.readings).toEqual([2]);
});

test("what has come in is told before the windows that are over are looked into", async () => {
  const world = await watchedWorld(20);
  const paid = world.addresses.at(-1) ?? "";
  await world.poll();
  world.clock.advance(WINDOW_MS + 1_000);
  world.behindMs = 2_000;
  world.holdings.set(paid, [0n, 5n, 0n]);
  expect(await world.told()).toEqual([paid]);
  world.behindMs = 0;
  expect((await world.told()).toSorted()).toEqual(world.addresses);
});

test("a look whose time is over looks into no further window, and says which are left", async () => {
  const world = await watchedWorld(20);
  await world.poll();
  world.clock.advance(WINDOW_MS + 1_000);
  const over = new AbortController();
  over.abort();
  const look = notedLook(over.signal);
  const told = (await world.poll(look)).map(({ instance }) => instance);
  const left = look.left.map(({ key }) => key);
  expect(told).toHaveLength(4);
  expect([...told, ...left].toSorted()).toEqual(world.addresses);
  expect((await world.told()).toSorted()).toEqual(left.toSorted());
});

test("a window whose end cannot be looked into keeps no other from being told", async () => {
  const world = await watchedWorld(20);
  await world.poll();
  world.clock.advance(WINDOW_MS + 1_000);
  world.unreadable.add(one);
  const look = notedLook();
  expect(await world.poll(look)).toHaveLength(19);
  expect(look.left.map(({ key }) => key)).toEqual([one]);
  world.unreadable.clear();
  expect(await world.told()).toEqual([one]);
});
