/** What the rows of an order are judged by beside themselves. */
// modules: private
import { expect, test } from "vitest";
import { timeOf } from "../../../src/payments/private/judged-rows.ts";

test("K10: the chain's time is what as many endpoints have reached as must agree: one that is ahead ends no hour", () => {
  const told = [{ blockTime: 9_000 }, { blockTime: 1_000 }, { blockTime: 1_001 }];
  expect(timeOf({ witnesses: 2, told })).toBe(1_001_000);
  expect(timeOf({ witnesses: 1, told: told.slice(1, 2) })).toBe(1_000_000);
});
