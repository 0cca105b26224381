/** Screens before bytes are signed that pay recipients or the sender: as of this reading, and not as it once was. */
import { LedgerUnavailable } from "../../ledger/ledger.ts";
import type { PrivateContext, PrivateWrite } from "./private-storage.ts";
import { SCREENING } from "../frame/recipients/recipients.ts";
import { isUntold } from "./judge-levels.ts";
import { listHistory } from "./list-history.ts";
import type { ScreenOrder } from "./screen-order.ts";
import type { TransferInHand } from "./transfer-in-hand.ts";
import { held, isLongSince, orderChanged, putOff, type TransferOutcome } from "./transfer-outcomes.ts";

export interface GateDeps extends Pick<PrivateContext, "ledger" | "assets" | "clock" | "random"> {
  readonly screenOrder: ScreenOrder;
}

/** Nodes list a finalized transaction a moment after they show its money; an hour later it is no delay. */
const PATIENCE_MS = 3_600_000;

/**
 * Null if it may be signed: the sender and everybody who paid are known and served, or a person has released what they paid.
 * Somebody who is refused, or unknown for an hour, holds the order. The commit of the bytes expects the rows unchanged by
 * which this judges. Rejects while the host does not answer.
 */
export async function screeningGate(deps: GateDeps, inHand: TransferInHand): Promise<TransferOutcome | null> {
  const { row, look } = inHand;
  // The order first lists deposits since then.
  const isListed = !look.facts.levels.some(isUntold);
  const parties = row.kind === "chunk" ? "recipients" : "sender";
  const verdict = isListed ? await deps.screenOrder(look, parties) : "unknown";
  if (verdict === "clear") return null;
  const released = look.view.holds.filter(({ reason }) => reason === SCREENING);
  const since = Math.max(row.createdAt, ...released.map(({ endedAt }) => endedAt ?? 0));
  const isLate = isListed && isLongSince(since, deps.clock.now(), PATIENCE_MS);
  if (verdict === "refused") return held(deps, inHand, SCREENING);
  const writes = isListed ? await listedSince(deps, inHand, isLate).catch(unlessSilent) : [];
  return isLate && writes.length === 0
    ? held(deps, inHand, SCREENING)
    : { ...putOff("screening", null), writes };
}

/** A node may list what is later before what is earlier. */
const SLOTS_OUT_OF_ORDER = 150;

/**
 * Listed deposits that the levels have counted already: the order itself lists only where a level moves. At last all of its
 * history is read again.
 */
async function listedSince(
  deps: GateDeps,
  { look }: TransferInHand,
  isLate: boolean,
): Promise<readonly PrivateWrite[]> {
  const { listedTo } = look.view.order;
  const newer = await listHistory(deps, look);
  if (newer.writes.length > 0) return [orderChanged(look, newer.set), ...newer.writes];
  const from = isLate ? 0 : Math.max(0, listedTo - SLOTS_OUT_OF_ORDER);
  const { writes, set } = await listHistory(deps, look, from);
  return writes.length === 0 ? [] : [orderChanged(look, { ...set, listedTo }), ...writes];
}

function unlessSilent(error: unknown): readonly PrivateWrite[] {
  if (error instanceof LedgerUnavailable) return [];
  throw error;
}
