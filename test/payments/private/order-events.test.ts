/** What of an order is told beside its status. */
// modules: private
import { expect, it } from "vitest";
import { refundEvent } from "../../../src/payments/private/order-events.ts";
import { SOL_MINT } from "../../../src/core/address.ts";
import type { AttemptLeg } from "../../../src/payments/frame/tables/attempts.ts";

it("E15: a refund is told of what gives something back, and not of what only brings the sponsor's own home", () => {
  const leg = (as: AttemptLeg["as"], amount: bigint): AttemptLeg => ({
    mint: SOL_MINT,
    to: SOL_MINT,
    amount,
    as,
  });
  const told = (...legs: readonly AttemptLeg[]): number =>
    refundEvent("tx_1", { transfer: "tr_1", legs }).length;
  expect(told(leg("sender", 1n), leg("loan", 9n))).toBe(1);
  expect(told(leg("payee", 1n))).toBe(1);
  expect(told(leg("sender", 0n), leg("cost", 5n), leg("loan", 9n))).toBe(0);
  expect(refundEvent("tx_1", { transfer: "tr_1", legs: null })).toEqual([]);
});
