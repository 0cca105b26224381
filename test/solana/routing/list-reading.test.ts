/** How far a list was read: what the next look asks for. */
import { expect, test } from "vitest";
import { ListReading } from "../../../src/solana/routing/payer-reading-cache.ts";
import type { TransactionListEntry } from "../../../src/solana/rpc/rpc-node.ts";

const page = (...signatures: readonly string[]): readonly TransactionListEntry[] =>
  signatures.map((signature) => ({ signature, slot: Number(signature), err: null }));

/** Reads the next stretch as a full page of these. */
function read(list: ListReading, ...signatures: readonly string[]): object | undefined {
  const stretch = list.next();
  if (stretch !== undefined) list.passed(stretch, page(...signatures), true);
  return stretch;
}

test("M25: a list is read back page by page, and what is new from its newest transaction on", () => {
  const list = new ListReading();
  list.open();
  expect(read(list, "9", "8")).toEqual({});
  expect(read(list, "7", "6")).toEqual({ before: "8", latest: 8 });
  const last = list.next();
  if (last === undefined) throw new Error("there is more");
  expect(last).toEqual({ before: "6", latest: 6 });
  list.passed(last, page("5"), false);
  expect(list.hasMore).toBe(false);
  list.open();
  expect(list.next()).toEqual({ until: "9" });
});

test("M25: while a flood goes on, the oldest stretch takes turns with the newest", () => {
  const list = new ListReading();
  list.open();
  read(list, "3", "2");
  const asked: (object | undefined)[] = [];
  for (let look = 1; look <= 4; look += 1) {
    list.open();
    asked.push(read(list, `${look}9`, `${look}8`), read(list, `${look}7`, `${look}6`));
  }
  expect(asked).toContainEqual({ before: "2", latest: 2 });
  expect(asked).toContainEqual({ until: "3" });
});

test("M25: a page that another look has passed is passed once", () => {
  const list = new ListReading();
  list.open();
  const stretch = list.next();
  if (stretch === undefined) throw new Error("there is more");
  list.passed(stretch, page("9", "8"), true);
  list.passed(stretch, page("9", "8"), true);
  list.open();
  expect([list.next(), list.next()]).toContainEqual({ before: "8", latest: 8 });
});

test("M22: what is left to read may be of a later slot until a page has gone back to that slot", () => {
  const list = new ListReading();
  list.open();
  expect(list.hasMoreAfter(7)).toBe(true);
  read(list, "9", "8");
  expect([list.hasMoreAfter(7), list.hasMoreAfter(8)]).toEqual([true, false]);
  read(list, "7", "6");
  expect([list.hasMoreAfter(5), list.hasMoreAfter(6)]).toEqual([true, false]);
  list.open();
  expect(list.hasMoreAfter(9)).toBe(true);
});
