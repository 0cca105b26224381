/** Compares the database's record of an order with the chain: its markers, its sums, and who is shown as paid. */
import type { PrivateContext } from "../private-storage.ts";
import { commitOne } from "../../../../storage/decided.ts";
import { SOL_MINT, type Address } from "../../../core/address.ts";
import type { Token } from "../../frame/assets/assets.ts";
import { findStrays } from "../find-strays.ts";
import { judgeLevels } from "../judge-levels.ts";
import { lookAtOrder, type OrderLook } from "../look.ts";
import { tellAgain } from "../tell-chunks.ts";
import { paidIn } from "../protocol/facts.ts";
import { isPaid } from "../protocol/outcome.ts";
import { isAnyOut } from "../protocol/rests.ts";
import { placesOf } from "../protocol/cut.ts";
import { standingOf } from "../acts/standing.ts";
import type { AddressTally } from "./tally.ts";

export type ExaminationParts = Pick<PrivateContext, "storage" | "ledger" | "assets" | "clock" | "log">;

/** Money that does not count: in another token account, or of a foreign mint, whose asset is null. */
interface UncountedMoney {
  readonly mint: string;
  readonly asset: Token | null;
  readonly amount: bigint;
}

export interface ExaminedOrder extends Pick<OrderLook, "view" | "transaction"> {
  readonly tallies: readonly { readonly asset: Token; readonly tally: AddressTally }[];
  readonly uncounted: readonly UncountedMoney[];
  /** Chunks whose marker is on record, and not on the chain. */
  readonly goneChunks: readonly number[];
  readonly unknownMarkers: readonly { readonly seed: string; readonly length: number | null }[];
  /** Recipients who are shown as paid, and whom no marker pays. */
  readonly unpaid: readonly Address[];
  /** Whether the order has something to write down. */
  readonly hasNews: boolean;
}

/**
 * Looks at the order, reads the history of its address from the last read on, and stores the sums of both. Throws
 * `LedgerUnavailable` when the chain cannot be read.
 */
export async function examineOrder(parts: ExaminationParts, id: string): Promise<ExaminedOrder> {
  const first = await lookAtOrder(parts, id);
  const { look, writes, set } = await judgeLevels(parts, first, true);
  const found = [...writes, ...(await findStrays(parts, look)), ...(await tellAgain(parts, look))];
  const { view, transaction, facts } = look;
  const hasSums = found.length > 0 || Object.keys(set).length > 0;
  if (hasSums) {
    // Refused: another process has moved the order on meanwhile, and writes by itself.
    const row = { table: "orders" as const, id, set, expectedVersion: view.order.version };
    await commitOne(parts.storage, { writes: [row, ...found] });
  }
  return {
    view,
    transaction,
    tallies: parts.assets.tokens.map((asset) => ({ asset, tally: tallyOf(look, asset) })),
    uncounted: uncountedOf(parts, look),
    goneChunks: facts.chunks.filter(({ isMissed }) => isMissed).map(({ k }) => k),
    unknownMarkers: unknownMarkers(look),
    unpaid: unpaidOf(look),
    hasNews: hasSums || facts.chunks.some(({ isNew }) => isNew),
  };
}

/** A shortage counts from the first reading that shows it, and until a later one says more. */
function tallyOf(look: OrderLook, { mint }: Token): AddressTally {
  const fact = look.facts.levels.find(({ row }) => row.mint === mint);
  const {
    received = 0n,
    out = 0n,
    writtenOff = 0n,
    missing: told = 0n,
    short = false,
  } = fact?.judgement?.row ?? fact?.row ?? {};
  const { payouts: paid, fees } = mint === look.terms.mint ? takenByMarkers(look) : { payouts: 0n, fees: 0n };
  const opened = look.judged.rows.chunks.reduce((sum, chunk) => sum + chunk.opened, 0n);
  const payouts = paid + (mint === SOL_MINT ? opened : 0n);
  const held = standingOf(look).held(mint);
  const gone = received - payouts - fees - out - writtenOff - held;
  const isShort = short && told === 0n && gone > 0n && !isAnyOut(look.judged.rows);
  const missing = isShort ? gone : told;
  const moved = gone - missing;
  const [leaving, arriving] = moved > 0n ? [moved, 0n] : [0n, -moved];
  return { deposits: received, arriving, payouts, fees, refunds: out, leaving, writtenOff, missing, held };
}

/** By the chain's own markers. For a swap the input is the cost of its payee. */
function takenByMarkers({ facts, terms }: OrderLook): Pick<AddressTally, "payouts" | "fees"> {
  let [payouts, fees] = [0n, 0n];
  for (const { k, outcome } of facts.chunks) {
    if (outcome === null) continue;
    placesOf(terms, k).forEach(({ amount, member }, place) => {
      if (!isPaid(outcome, place)) return;
      // The fee is the only place without a recipient.
      if (member === null) fees += amount;
      else payouts += amount;
    });
  }
  return { payouts, fees };
}

function uncountedOf({ assets }: ExaminationParts, { view }: OrderLook): readonly UncountedMoney[] {
  const there = view.deposits.filter(({ account, leftAt }) => account !== null && leftAt === null);
  return [...new Set(there.map(({ mint }) => mint))].map((mint) => ({
    mint,
    asset: assets.ofMint(mint),
    amount: there.reduce((sum, each) => (each.mint === mint ? sum + each.amount : sum), 0n),
  }));
}

function unknownMarkers({ facts }: OrderLook): ExaminedOrder["unknownMarkers"] {
  return facts.chunks.flatMap(({ k, marker, outcome }): ExaminedOrder["unknownMarkers"] => {
    if (marker === "foreign") return [{ seed: String(k), length: null }];
    return typeof marker === "number" && outcome === null ? [{ seed: String(k), length: marker }] : [];
  });
}

function unpaidOf({ terms, facts, recipients }: OrderLook): readonly Address[] {
  const paid = new Set(paidIn(terms, facts).map(({ index }) => index));
  return recipients
    .filter(({ index, status }) => status === "paid" && !paid.has(index))
    .map(({ address }) => address);
}
