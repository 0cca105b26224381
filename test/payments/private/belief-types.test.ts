/** One node's word about an order does not compile where its money is decided: each line below is a planted mistake. */
// modules: private
import { expect, expectTypeOf, test } from "vitest";
import { agreed } from "../../../src/ledger/agreed.ts";
import type { Evidence } from "../../../src/ledger/belief.ts";
import { heard } from "../../../src/ledger/heard.ts";
import type { OrderHistory, OrderReading } from "../../../src/ledger/order-reading.ts";
import type { RoutingLedger, SignedHistory } from "../../../src/ledger/routing.ts";
import type { ListedHistory } from "../../../src/payments/private/list-history.ts";
import type { OrderLook } from "../../../src/payments/private/look.ts";

/** Mistakes about whom an order's markers pay, what came and whether its window is over, compiled and never run. */
function mistakesAboutLooks(look: OrderLook, reading: OrderReading): readonly unknown[] {
  // @ts-expect-error -- a look of one node
  const one: OrderLook = { ...look, reading: heard(reading) };
  // @ts-expect-error -- a bare look
  const none: OrderLook = { ...look, reading };
  // @ts-expect-error -- evidence of another reading does not vouch for a bare one
  const mixed: OrderLook = { ...look, reading: { ...agreed(reading), rentPerByte: 7n } };
  const all: OrderLook = { ...look, reading: agreed(reading) };
  return [one, none, mixed, all];
}

/** Mistakes about what an order has paid and who paid in, compiled and never run. */
function mistakesAboutHistory(
  routing: RoutingLedger,
  { changes, more }: OrderHistory,
  listed: ListedHistory,
): readonly unknown[] {
  // @ts-expect-error -- what one node lists
  const one: ListedHistory = { ...listed, changes: heard(changes) };
  // @ts-expect-error -- a bare list
  const none: ListedHistory = { ...listed, changes };
  const all: ListedHistory = { ...listed, changes: agreed(changes) };
  expectTypeOf(routing.signedBy).returns.resolves.toEqualTypeOf<Evidence<SignedHistory>>();
  expectTypeOf(routing.readOrder).returns.resolves.toEqualTypeOf<Evidence<OrderReading>>();
  expectTypeOf(routing.changesOfOrder).returns.resolves.toEqualTypeOf<Evidence<OrderHistory>>();
  return [one, none, all, more];
}

test("one node's word and a bare value do not compile where an order's money is decided", () => {
  // The mistakes are checked by the compiler, which all of the project passes before its tests.
  expect([typeof mistakesAboutLooks, typeof mistakesAboutHistory]).toEqual(["function", "function"]);
});
