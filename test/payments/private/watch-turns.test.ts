/** More deposit addresses than one look can take: each has its turn, whatever becomes of the others. */
import { expect, test } from "vitest";
import { LedgerUnavailable } from "../../../src/ledger/ledger.ts";
import { watchedWorld, WINDOW_MS } from "./watched-addresses.ts";

const ADDRESSES = 50_000;
const AT_ONCE = 20_000;
const IN_FULL = 3_300;
const ENDS = 50;

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);

test("of 50,000 addresses no look takes more than 20,000, and three looks have seen each of them", async () => {
  const world = await watchedWorld(ADDRESSES);
  const looks: number[] = [];
  const seen = new Set<string>();
  world.beforeCall = (addresses) => addresses.forEach((address) => seen.add(address));
  for (let look = 0; look < 3; look++) {
    expect(await world.told()).toEqual([]);
    looks.push(sum(world.looks.splice(0)));
  }
  expect(looks).toEqual([AT_ONCE, AT_ONCE, AT_ONCE]);
  expect(seen.size).toBe(ADDRESSES);
});

test("addresses that cannot be read do not keep the others from their turn", async () => {
  const world = await watchedWorld(2 * AT_ONCE);
  const [first = "", second = ""] = [world.addresses[0], world.addresses[AT_ONCE]];
  world.holdings.set(second, [0n, 5n, 0n]);
  world.beforeCall = (addresses) => {
    if (addresses.includes(first)) throw new LedgerUnavailable("no node answers");
  };
  await expect(world.poll()).rejects.toBeInstanceOf(LedgerUnavailable);
  expect(await world.told()).toEqual([second]);
  await expect(world.poll()).rejects.toBeInstanceOf(LedgerUnavailable);
});

test("of 10,000 deposits at once 3,300 a look are read in full, and each is told once", async () => {
  const world = await watchedWorld(10_000);
  for (const address of world.addresses) world.holdings.set(address, [0n, 5n, 0n]);
  const told: string[] = [];
  for (let look = 0; look < 4; look++) told.push(...(await world.told()));
  expect(world.readings).toEqual([IN_FULL, IN_FULL, IN_FULL, 100]);
  expect(told.toSorted()).toEqual(world.addresses);
});

test("of many windows that end at once 50 a look are told, and a deposit waits for none of them", async () => {
  const world = await watchedWorld(120);
  const paid = world.addresses.at(-1) ?? "";
  await world.poll();
  world.clock.advance(WINDOW_MS + 1_000);
  world.holdings.set(paid, [0n, 5n, 0n]);
  const first = await world.told();
  expect(first).toHaveLength(ENDS);
  expect(first).toContain(paid);
  const told = [...first, ...(await world.told()), ...(await world.told())];
  expect(told.toSorted()).toEqual(world.addresses);
  expect(await world.told()).toEqual([]);
});
