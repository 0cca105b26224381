/** Many deposit addresses: each is told once, and those that cannot be read keep no other from its turn. */
import { expect, test } from "vitest";
import { LedgerUnavailable } from "../../../src/ledger/ledger.ts";
import { notedLook } from "../../kit/watch-look.ts";
import { watchedWorld, WINDOW_MS } from "./watched-addresses.ts";

test("of 10,000 deposits at once each is told once, from readings of one look each", async () => {
  const world = await watchedWorld(10_000);
  for (const address of world.addresses) world.holdings.set(address, [0n, 5n, 0n]);
  expect((await world.told()).toSorted()).toEqual(world.addresses);
  expect(world.readings).toEqual(Array.from({ length: 100 }, () => 100));
  expect(await world.told()).toEqual([]);
});

test("what an instance could not be told is told again at the next look", async () => {
  const world = await watchedWorld(3);
  const [, deaf = ""] = world.addresses;
  for (const address of world.addresses) world.holdings.set(address, [0n, 5n, 0n]);
  const look = notedLook();
  look.deaf.add(deaf);
  await world.poll(look);
  expect(look.told).toHaveLength(2);
  expect(await world.told()).toEqual([deaf]);
  expect(await world.told()).toEqual([]);
});

test("addresses that cannot be read fail their own look and no other", async () => {
  const world = await watchedWorld(200);
  const [first = "", last = ""] = [world.addresses[0], world.addresses.at(-1)];
  world.holdings.set(last, [0n, 5n, 0n]);
  world.beforeCall = (addresses) => {
    if (addresses.includes(first)) throw new LedgerUnavailable("no node answers");
  };
  expect(await world.told()).toEqual([last]);
});

test("a watched address is remembered, however long it is between two looks", async () => {
  const world = await watchedWorld(2);
  world.holdings.set(world.addresses[0] ?? "", [0n, 5n, 0n]);
  expect(await world.told()).toEqual([world.addresses[0]]);
  for (let period = 0; period < 5; period++) {
    world.clock.advance(WINDOW_MS / 6);
    expect(await world.told()).toEqual([]);
  }
});
