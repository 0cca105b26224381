/** News of an order before it is final, or while it waits: all payouts confirmed, and a swap without a price. */
import type { OrderEvent } from "../../../machines/order-context.ts";
import { isAwaited, timeOf } from "./judged-rows.ts";
import { lookAtOrder, type LookParts, type OrderLook } from "./look.ts";
import { transferId } from "./plan-transfer.ts";
import { paidIn } from "./protocol/facts.ts";

/**
 * CONFIRMED if every chunk's marker stands at confirmed and leaves nobody out; null before, and for a swap: what its payee got
 * is told once it is final.
 */
export async function confirmedPayout(
  deps: LookParts,
  { terms, view, reading }: OrderLook,
): Promise<{ readonly event: OrderEvent } | null> {
  if (terms.type === "swap") return null;
  // The length of another copy's marker alone does not tell its payees.
  if (view.chunks.some((chunk) => isAwaited(chunk, timeOf(reading)))) return null;
  const isMade = view.chunks.every(
    ({ k, length }) =>
      length !== null ||
      view.transfers.some(({ kind, n, state }) => kind === "chunk" && n === k && state === "out"),
  );
  if (!isMade || view.chunks.some(({ wanted }) => wanted !== 0)) return null;
  const { facts } = await lookAtOrder(deps, terms.id, { commitment: "confirmed" });
  if (facts.isUnclear || !facts.isDecided) return null;
  if (paidIn(terms, facts).length !== terms.members.length) return null;
  return {
    event: { type: "CONFIRMED", signature: await lastSignature(deps, terms.id, terms.cut.length - 1) },
  };
}

/** The last chunk's newest attempt that a node shows. */
async function lastSignature(
  { storage, ledger }: LookParts,
  order: string,
  n: number,
): Promise<string | null> {
  const attempts = await storage.attemptsOf(transferId({ order, kind: "chunk", n }));
  const statuses = await ledger.statuses(attempts.map(({ id }) => id));
  return attempts.findLast((_, index) => (statuses[index] ?? null) !== null)?.id ?? null;
}

/** Why a swap is given up: its transfer has found no price that is good enough, or no desk, for ten minutes; null before. */
export function pricelessSwap({ view }: OrderLook): "SLIPPAGE_EXCEEDED" | "LIQUIDITY_UNAVAILABLE" | null {
  const reason = view.transfers.find(({ kind }) => kind === "chunk")?.reason;
  const isHeld = view.holds.some(({ endedAt }) => endedAt === null);
  return !isHeld && (reason === "SLIPPAGE_EXCEEDED" || reason === "LIQUIDITY_UNAVAILABLE") ? reason : null;
}
