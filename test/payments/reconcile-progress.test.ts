/** How far a reconciliation is, for who waits for it. */
import { expect, test } from "vitest";
import { silentLogger } from "../../src/core/runtime.ts";
import { toldEachMinute } from "../../src/payments/frame/reconcile-progress.ts";
import { virtualClock } from "../kit/virtual-clock.ts";

test("L8: how much a reconciliation has looked at is logged once a minute, and never of a short one", () => {
  const clock = virtualClock();
  const told: object[] = [];
  const tell = toldEachMinute({
    clock,
    log: { ...silentLogger, info: (fields: object) => told.push(fields) },
  });
  for (let transactions = 100; transactions <= 900; transactions += 100) {
    clock.advance(20_000);
    tell({ transactions });
  }
  expect(told).toEqual([{ transactions: 300 }, { transactions: 600 }, { transactions: 900 }]);
});
