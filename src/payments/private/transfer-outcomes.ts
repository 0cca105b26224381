/** The outcomes of a transfer: events of its chart, each with the rows of the same commit. */
import type { TransferEvent } from "../../../machines/transfer.ts";
import type { EffectOutcome } from "../../engine/index.ts";
import type { PrivateContext, PrivateWrite, PrivateTables } from "./private-storage.ts";
import type { OrderRecord, TransferRecord } from "./tables.ts";
import type { SwapObstacle } from "./price-order-swap.ts";
import type { OrderLook } from "./look.ts";
import type { NotNow } from "./protocol/culprits.ts";
import { shapeOf } from "./protocol/cut.ts";
import { leavingOut, lengthOf } from "./protocol/outcome.ts";
import type { Bar } from "./protocol/rests.ts";
import { holdOrder, isHeld } from "./screen-order.ts";
import { chunkOf, wantedOutcome, type TransferInHand } from "./transfer-in-hand.ts";

export type TransferOutcome = EffectOutcome<TransferEvent, PrivateTables>;

/**
 * Why a transfer waits, for operators. `pause`: a refund of the address has landed within ten minutes. `price`, `desk`: a
 * swap finds no price that is good enough, or no desk; after ten minutes the caller's reason stands in its place.
 * `PAYOUT_FAILED`: the order has to refuse itself first, since its only chunk pays nobody. `waiting_for_funds`: rent is dearer
 * than what was reserved, until a person retries. `unexplained`: an error of no table, for an hour.
 */
export type WaitReason =
  | Exclude<Bar, "hold">
  | NotNow
  | SwapObstacle
  | "held"
  | "screening"
  | "pause"
  | "no_send_place"
  | "waiting_for_funds"
  | "purse_frozen"
  | "price"
  | "PAYOUT_FAILED"
  | "dust"
  | "landed_with_error"
  | "not_closable"
  | "asserted_again"
  | "stuck_payment";

/** A person's word tells the transfer at once; this is for one that was missed. A hold may last for days. */
export const HELD_PAUSE_MS = 10 * 60_000;

/** Puts a transfer off for so many milliseconds; null: for 2 s, and each time twice as long up to a minute. */
export function putOff(reason: WaitReason, pauseMs: number | null): TransferOutcome {
  return { event: { type: "NOT_NOW", reason, pauseMs } };
}

const HOUR_MS = 3_600_000;

/**
 * Whether so many milliseconds have passed since a row says that something was. A row of a clock that ran ahead as far tells no
 * time: this wait would last until that moment, and is over. It waits twice as long at most.
 */
export function isLongSince(since: number, now: number, ms: number): boolean {
  return Math.abs(now - since) >= ms;
}

/**
 * Puts off what the next look should show otherwise. An endpoint may tell for ever of accounts that are not so: after an hour
 * in which nothing else has kept it, a person is told.
 */
export function lookAgain(
  { clock }: Pick<PrivateContext, "clock">,
  { row, look, attempts }: TransferInHand,
  reason: "rent" | "levels" | "read_again",
): TransferOutcome {
  const now = clock.now();
  const since = Math.max(
    row.createdAt,
    ...attempts.map(({ createdAt }) => createdAt),
    ...look.view.holds.map(({ endedAt }) => endedAt ?? now),
  );
  const isStuck = row.reason === reason && isLongSince(since, now, HOUR_MS) && row.stuckSince === null;
  return { ...putOff(reason, null), ...(isStuck ? { writes: [changed(row, { stuckSince: now })] } : {}) };
}

/** Nothing that pays is signed until a person has looked; the transfer looks again now and then. */
export function held(
  deps: Pick<PrivateContext, "clock" | "random">,
  { row, look }: TransferInHand,
  reason: string,
): TransferOutcome {
  if (isHeld(look.view)) return putOff("held", HELD_PAUSE_MS);
  const since = deps.clock.now();
  return {
    event: { type: "HELD", reason },
    writes: [orderChanged(look), ...holdOrder(deps, { order: row.order, reason, since })],
  };
}

/** Leaves members of a chunk out: another outcome of the same marker, signed at once. */
export function leaveOut(inHand: TransferInHand, places: readonly number[]): TransferOutcome {
  const { row, look } = inHand;
  const { id } = chunkOf(inHand, row.n);
  const shape = shapeOf(look.terms, row.n);
  const before = wantedOutcome(inHand);
  const leftOut = before.kind === "paid" ? before.leftOut : [];
  const outcome = leavingOut(shape, [...new Set([...leftOut, ...places])]);
  return {
    event: { type: "CULPRIT", isNobodyWanted: outcome.kind === "nobody" },
    writes: [orderChanged(look), { table: "chunks", id, set: { wanted: lengthOf(shape, outcome) } }],
  };
}

/** Refused if the order's row has changed since the look, and refuses what another look concludes. */
export function orderChanged(
  { view: { order } }: OrderLook,
  set: Partial<Omit<OrderRecord, "id">> = {},
): PrivateWrite {
  const { id, version: expectedVersion, state } = order;
  return { table: "orders", id, set: { state, ...set }, expectedVersion };
}

/** Refused if the order's row has changed since the look: chunks of it are signed side by side. */
export function orderUnchanged({ view: { order } }: OrderLook): PrivateWrite {
  return { table: "orders", id: order.id, expectVersion: order.version };
}

export function changed(
  { id }: Pick<TransferRecord, "id">,
  set: Partial<Omit<TransferRecord, "id">>,
): PrivateWrite {
  return { table: "transfers", id, set };
}
