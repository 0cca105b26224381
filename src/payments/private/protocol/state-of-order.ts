/**
 * The conclusions of a reading about an order beside its rows: markers first, then levels, then the money that is due. Pure,
 * and the same for the charts' effects, cancels, reconcile, recovery and the inspector. It says facts; the chart decides.
 */
import type { OrderTold } from "../../../ledger/order-reading.ts";
import { smallestAmount } from "../../frame/assets/assets.ts";
import { seedOfChunk, seedOfRedirect } from "./cut.ts";
import { SOL } from "./legs.ts";
import {
  isDue,
  receivedIn,
  type AfterWindow,
  type ChunkFact,
  type LevelFact,
  type MarkerFacts,
  type OrderFacts,
  type Worth,
} from "./facts.ts";
import { answersOf, judgeLevel, loanBy, paidBy } from "./levels.ts";
import { comparable } from "./look.ts";
import { NOBODY } from "./outcome.ts";
import { givesSender, isAnyOut, restsOf } from "./rests.ts";
import { assetOf, emptyLevel, type ChunkRow, type OrderView } from "./rows.ts";

/** Reads an order. */
export function stateOfOrder(view: OrderView): OrderFacts {
  const { terms, rows, look } = view;
  const chunks = rows.chunks.map((row) => chunkFact(view, row));
  const first = chunks[0]?.marker ?? null;
  const decision = typeof first !== "number" ? "open" : first === NOBODY ? "no_go" : "go";
  const isAll = chunks.every(({ marker }) => typeof marker === "number");
  const isDecided = decision === "no_go" || (decision === "go" && isAll);
  // A later chunk's marker is made again once the go stands: until then it keeps nothing from being decided.
  const isUnclear = chunks.some(
    ({ k, marker, isMissed }) => typeof marker === "string" || (isMissed && (k === 0 || decision === "go")),
  );
  const lent = rows.isLoanBack ? 0n : loanBy(terms, rows.chunks, typeof first === "number" ? first : null);
  const isLoanFoundBack =
    lent > 0n && rows.listed === null && isDecided && look.isSaid(({ order }) => order.lamports === 0n);
  const isLoanBack = rows.isLoanBack || isLoanFoundBack;
  const levels = levelsOf({ ...view, rows: { ...rows, isLoanBack } }, chunks, isUnclear);
  const loan = isLoanFoundBack ? 0n : lent;
  const facts = { chunks, decision, isDecided, isUnclear, loan, isLoanFoundBack, levels } as const;
  return { ...facts, isUntouched: isUntouched(view, levels), ...dueOf(view, facts) };
}

function chunkFact({ terms, look }: OrderView, row: ChunkRow): ChunkFact {
  const marker = look.marker(seedOfChunk(row.k));
  const isMissed = row.length !== null && marker !== row.length;
  const missesLater = (told: OrderTold): boolean =>
    isLater(told, row) && look.lengthTold(told, row.k) !== row.length;
  const isMissedLater = isMissed && look.isSaid(missesLater);
  return {
    k: row.k,
    marker,
    outcome: typeof marker === "number" ? paidBy(terms, row, marker) : null,
    isNew: row.length === null && typeof marker === "number",
    isMissed,
    isMissedLater,
    isGone: isMissedLater && row.isMissed,
  };
}

/** About an hour. */
const SLOTS_TOO_FAR = 9_000;

/**
 * Whether an answer is later than what the row says: behind one URL are nodes some slots apart. An endpoint that told a slot
 * which no block of an hour later has reached has lied.
 */
function isLater({ slot }: OrderTold, row: ChunkRow): boolean {
  return slot > row.slot || slot < row.slot - SLOTS_TOO_FAR;
}

/**
 * No level is judged while money goes out by anything but a chunk, or before it is known whom a marker paid: that of an open
 * act, too, which another copy may have carried out.
 */
function levelsOf(view: OrderView, chunks: readonly ChunkFact[], isUnclear: boolean): readonly LevelFact[] {
  const { rows, look, tokens } = view;
  const isAwaited = chunks.some(({ isNew }) => isNew) || rows.chunks.some(({ story }) => story === "awaited");
  const isActUnread = rows.acts.some(
    ({ n, state }) => state === "open" && look.marker(seedOfRedirect(n)) !== null,
  );
  const isJudged = !isAnyOut(rows) && !isUnclear && !isAwaited && !isActUnread;
  return [SOL, ...tokens].map(({ mint }) => {
    const row = rows.levels.find((level) => level.mint === mint) ?? emptyLevel(mint);
    const listed = rows.listed?.find((sum) => sum.mint === mint) ?? null;
    const evidence = { answers: answersOf(view, mint), witnesses: look.reading.witnesses, listed };
    return { row, judgement: isJudged ? judgeLevel(row, evidence) : null };
  });
}

function isUntouched(view: OrderView, levels: readonly LevelFact[]): boolean {
  const { terms, look } = view;
  const smallest = smallestAmount(assetOf(view, terms.mint));
  const shows = (told: OrderTold): boolean =>
    told.markers.some((marker) => marker !== null) || look.amount(told, terms.mint) >= smallest;
  return receivedIn(levels, terms.mint) < smallest && !look.reading.told.some(shows);
}

function dueOf(view: OrderView, facts: MarkerFacts): Pick<OrderFacts, "isFunded" | "worth" | "afterWindow"> {
  const { terms, rows, look } = view;
  const { witnesses, told } = look.reading;
  const from = Math.max(0, ...rows.levels.map(({ slot }) => slot));
  const counted = facts.isUnclear ? null : comparable(told, from, witnesses);
  if (counted === null) return { isFunded: false, afterWindow: null, worth: null };
  const isThere = (each: OrderTold): boolean => look.amount(each, terms.mint) >= terms.required;
  const worth = new Map(counted.map((each) => [each, worthOf(view, facts, each)]));
  const past = counted.filter(({ blockTime }) => blockTime * MS > terms.windowEnds);
  const endOf = (each: OrderTold): AfterWindow => {
    if (isThere(each)) return "funded";
    return isDue(worth.get(each) ?? null) ? "refused" : "over";
  };
  const came = receivedIn(facts.levels, terms.mint) >= terms.required;
  return {
    isFunded: came && counted.filter(isThere).length >= witnesses,
    afterWindow: past.length < witnesses ? null : (agreed(past.map(endOf), witnesses) ?? "disputed"),
    worth: agreed([...worth.values()], witnesses),
  };
}

const MS = 1_000;

/** The worth of the money on the word of one endpoint. */
function worthOf(view: OrderView, facts: MarkerFacts, told: OrderTold): Worth {
  const rests = restsOf(view, facts, { told, way: "asserted" });
  if (rests.some((rest) => rest.kind === "rest" && (facts.isDecided || givesSender(rest)))) return "worth";
  const kinds = new Set(rests.map(({ kind }) => kind));
  if (kinds.has("held")) return "held";
  const isSome = view.tokens.some((token) => view.look.amount(told, token.mint) >= smallestAmount(token));
  for (const kind of isSome ? (["waiting_for_price", "purse_frozen"] as const) : []) {
    if (kinds.has(kind)) return kind;
  }
  return kinds.size === 1 && kinds.has("nothing") ? "nothing" : "not_worth";
}

/** The answer that so many give; null if none is, or two are. */
function agreed<Answer>(answers: readonly Answer[], witnesses: number): Answer | null {
  const given = [...new Set(answers)].filter(
    (answer) => answers.filter((each) => each === answer).length >= witnesses,
  );
  return given.length === 1 ? (given[0] ?? null) : null;
}
