/** The history of an order that is flooded: it is read a part at a time, and what never ends is not asked for ever. */
import bs58 from "bs58";
import { expect } from "vitest";
import { flood } from "../../kit/flood.ts";
import { lyingAbout, type OddRule } from "../../kit/odd-endpoints.ts";
import { historyTest as test } from "./history-test.ts";

test("of a flood a thousand are read, whole slots of them, and the next look goes on from where that ended", async ({
  world,
}) => {
  const { pays, history, ledger, order, dave, over } = world;
  await pays(1n);
  // One slot that is fuller than a look is read whole.
  await flood(world, dave, { address: order.address, count: 1_010 });
  await flood(world, dave, { address: order.address, count: 5 });
  await pays(2n);
  const first = await history();
  expect(first.changes.map((each) => each.changes[1])).toEqual([1n]);
  // A node that tells later slots makes the next look pass nothing over.
  const later = lyingAbout("getSignaturesForAddress", (honest: { slot: number }[]) =>
    honest.map((each) => ({ ...each, slot: each.slot + 1_000_000 })),
  );
  expect(await history(over(later, undefined))).toEqual(first);
  const second = await history(ledger, first.more ?? 0);
  expect(second.changes).toEqual([]);
  expect(second.more).toBeGreaterThan(first.more ?? Infinity);
  const third = await history(ledger, second.more ?? 0);
  expect([third.changes.map((each) => each.changes[1]), third.more]).toEqual([[2n], null]);
});

test("a node whose list never ends leaves it unread, and is not asked for ever", async ({ world }) => {
  const { pays, history, over } = world;
  await pays(1n);
  let asked = 0;
  const entry = { signature: bs58.encode(Buffer.alloc(64, 7)), slot: 1_000_000, err: null, memo: null };
  const page = Array.from({ length: 1_000 }, () => entry);
  const endless: OddRule = ({ method }) => {
    if (method !== "getSignaturesForAddress") return undefined;
    asked += 1;
    return { kind: "lie", answer: () => page };
  };
  expect(await history(over(endless, undefined), 5)).toEqual({ changes: [], more: 5 });
  expect(asked).toBe(300);
});
