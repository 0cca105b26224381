/** The changes of an order's levels by a reading, after the history of its address was listed if a level moves (K15). */
import { untoldEvent } from "../frame/notices/notice-writes.ts";
import { SOL_MINT } from "../../core/address.ts";
import type { PrivateContext, PrivateWrite } from "./private-storage.ts";
import type { OrderRecord, OrderView } from "./tables.ts";
import { rowsOf } from "./judged-rows.ts";
import { bookLateLandings } from "./late-landings.ts";
import { listHistory } from "./list-history.ts";
import type { OrderLook } from "./look.ts";
import { openedAccounts } from "./opened-accounts.ts";
import type { LevelFact } from "./protocol/facts.ts";
import { stateOfOrder } from "./protocol/state-of-order.ts";
import { chunkWrite } from "./chunk-rows.ts";

/** The look with all that is listed, and the rows that change. */
export interface JudgedLevels {
  readonly look: OrderLook;
  readonly writes: readonly PrivateWrite[];
  /** Changes of the order's row. */
  readonly set: Partial<Pick<OrderRecord, "listedTo" | "loanBack">>;
  /** Whether all of the history was read, if it was asked for, and nothing is booked with these rows that the levels have not. */
  readonly isWhole: boolean;
}

/** `isEntry`: the order is about to be over or idle, so that its history is listed in any case. Throws `LedgerUnavailable`. */
export async function judgeLevels(
  deps: Pick<PrivateContext, "storage" | "ledger" | "assets" | "clock">,
  found: OrderLook,
  isEntry: boolean,
): Promise<JudgedLevels> {
  if (found.facts.levels.some(isShort)) {
    const late = await bookLateLandings(deps, found);
    if (late.writes.length > 0) return { look: found, ...late, isWhole: false };
  }
  const read = explained(found);
  const opened = read.facts.levels.some(lacksLamports) ? await openedAccounts(deps, read) : [];
  const chunks = read.view.chunks.map((chunk) => opened.find(({ id }) => id === chunk.id) ?? chunk);
  const look = opened.length === 0 ? read : withRows(read, { ...read.view, chunks });
  const made = opened.map(chunkWrite);
  if (!look.facts.levels.some(moves) && !isEntry) {
    return { look, writes: [...made, ...levelWrites(look)], set: loanFound(look), isWhole: true };
  }
  const { deposits, writes, set, isWhole } = await listHistory(deps, look);
  const view = { ...look.view, deposits, order: { ...look.view.order, ...set } };
  const listed = withRows(look, view);
  const { listedTo, loanBack } = look.view.order;
  const isListed = set.listedTo !== listedTo || set.loanBack !== loanBack;
  return {
    // The rows are still those of the version that was read.
    look: { ...listed, view: { ...view, order: look.view.order } },
    writes: [...made, ...writes, ...levelWrites(listed)],
    set: { ...(isListed ? set : {}), ...loanFound(listed) },
    isWhole,
  };
}

/** The same reading beside other rows. */
function withRows(look: OrderLook, view: OrderView): OrderLook {
  const { uncharged } = look.judged.rows;
  const judged = { ...look.judged, rows: rowsOf({ ...look, view }, look.reading, uncharged) };
  return explained({ ...look, view, judged, facts: stateOfOrder(judged) });
}

/** Whether less is there than came, or was the last time: own bytes that have landed since explain it best. */
function isShort({ row, judgement }: LevelFact): boolean {
  return row.missing > 0n || isLess(judgement);
}

function isLess(judgement: LevelFact["judgement"]): boolean {
  return judgement?.news === "short" || judgement?.news === "missing";
}

/** While endpoints differ about whether a rest has taken what is not there, no shortage is told: the rest tells a person. */
function explained(look: OrderLook): OrderLook {
  const isRestDenied = look.view.transfers.some(
    ({ kind, state, reason }) => kind === "rest" && state === "planned" && reason === "unclear",
  );
  if (!isRestDenied) return look;
  const levels = look.facts.levels.map((level) =>
    isLess(level.judgement) ? { ...level, judgement: null } : level,
  );
  return { ...look, facts: { ...look.facts, levels } };
}

/** Whether lamports are short: receipts of chunks are read before they are told as missing. */
function lacksLamports({ row: { mint }, judgement }: LevelFact): boolean {
  return mint === SOL_MINT && isLess(judgement);
}

/** Also what would take back a part of what a person has written off: a listed deposit explains it better. */
function moves(level: LevelFact): boolean {
  const { row, judgement } = level;
  return isUntold(level) || (judgement !== null && judgement.row.writtenOff < row.writtenOff);
}

/** Whether more has come than the rows say. */
export function isUntold({ judgement }: LevelFact): boolean {
  return judgement?.news === "deposit" || judgement?.news === "unlisted";
}

/** If no node has the history of an order, an empty address says that the loan is back. */
function loanFound({ facts }: OrderLook): JudgedLevels["set"] {
  return facts.isLoanFoundBack ? { loanBack: "unlisted" } : {};
}

function levelWrites({ view, facts, terms }: OrderLook): readonly PrivateWrite[] {
  return facts.levels.flatMap(({ row: before, judgement }): readonly PrivateWrite[] => {
    if (judgement === null || judgement.row === before) return [];
    const { mint, received, out, writtenOff, slot, short, missing } = judgement.row;
    const stored = view.levels.find((level) => level.mint === mint);
    if (stored === undefined) return [];
    const came = judgement.news === "deposit" && mint === terms.mint;
    const by = `${mint}:${received}`;
    return [
      { table: "levels", id: stored.id, set: { received, out, writtenOff, slot, short, missing } },
      ...(came ? [untoldEvent(terms.id, { event: "transaction.deposit_received", by })] : []),
    ];
  });
}
