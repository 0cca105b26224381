/** The books of an account: a line of CSV for each sum that its transactions of a time have paid, cost or sent back. */
import type { z } from "zod";
import { formatAmount } from "../../../core/amount.ts";
import { ledgerMint, type Assets, type Token } from "../assets/assets.ts";
import type { Caller } from "../accounts/caller.ts";
import { isoTime } from "../iso-time.ts";
import { exportQuery, type ExportQuery } from "../requests.ts";
import { parseRequest } from "../request-fields.ts";
import type { TransactionRecord } from "../tables/orders.ts";
import type { ExportPlace, ExportPlaces } from "./export-places.ts";
import { partsOf } from "./list-transactions.ts";
import { shownAmount } from "../assets/shown-amount.ts";
import { detailedTransactions, type DetailedTransaction, type TransactionParts } from "./read-transaction.ts";
import type { RefundSum } from "./transaction-mode.ts";

/** Base units of an asset, or of a mint that is none. */
interface Money {
  readonly asset: Pick<Token, "symbol" | "decimals"> & { readonly mint: string | null };
  readonly amount: bigint;
}

/** A sum of a transaction. */
interface Sum extends Money {
  readonly kind: "payment" | "fee" | "refund" | "cost" | "excess";
  /** The receiver of the sum; absent for fees and costs. */
  readonly address?: string;
  readonly signature: string | null;
  /** The amount that a payment has brought its recipient. */
  readonly brought?: Money;
}

interface ExportParts extends TransactionParts {
  readonly places: ExportPlaces;
}

/** Rows read at a time. */
const PAGE_ROWS = 100;
const END_OF_LINE = "\r\n";

/** See `PaymentService.exportTransactions`. */
export async function exportTransactions(
  { places, ...deps }: ExportParts,
  caller: Caller,
  query: ExportQuery,
): Promise<AsyncGenerator<string, void, undefined>> {
  const asked = parseRequest(exportQuery, query);
  return linesOf(deps, caller.accountId, { ...asked, place: places.take(caller) });
}

/** The rows of the export, and the account's place for it. */
interface Exported extends z.output<typeof exportQuery> {
  readonly place: ExportPlace;
}

async function* linesOf(
  { storage, assets, modes }: TransactionParts,
  accountId: string,
  { from, to, by, place }: Exported,
): AsyncGenerator<string, void, undefined> {
  const time = by === "final" ? "finalAt" : "createdAt";
  try {
    // The empty id comes before every other, so that rows of this time are included.
    let after: readonly [number, string] | null = [Date.parse(from), ""];
    let lines = [lineOf(Object.keys(CELLS))];
    let count = 0;
    while (after !== null) {
      const rows = await storage.transactionsBeyond(accountId, { by: time, after, limit: PAGE_ROWS });
      const wanted = rows.filter((row) => (row[time] ?? Infinity) < Date.parse(to));
      for (const part of partsOf(wanted)) {
        const ids = part.map(({ id }) => id);
        const views = await detailedTransactions({ storage, modes }, ids);
        const rowsHere = views.flatMap((view) => rowsOf(view, assets));
        count += rowsHere.length;
        lines.push(...rowsHere.map(lineOf));
        yield lines.join("");
        lines = [];
        place.keep();
        await new Promise(setImmediate);
      }
      const last = wanted.length < PAGE_ROWS ? undefined : wanted.at(-1);
      after = last === undefined ? null : [last[time] ?? 0, last.id];
    }
    yield [...lines, `#end,${count}${END_OF_LINE}`].join("");
  } finally {
    place.leave();
  }
}

function rowsOf(view: DetailedTransaction, assets: Assets): readonly (readonly Cell[])[] {
  const cells = Object.values(CELLS);
  return sumsOf(view, assets).map((sum) => cells.map((cell) => cell(view.transaction, sum)));
}

function sumsOf(view: DetailedTransaction, assets: Assets): readonly Sum[] {
  const { transaction, details } = view;
  const fee: Sum = {
    kind: "fee",
    asset: assetOf(transaction.feeMint, assets),
    amount: details.fee ?? 0n,
    signature: details.feeSignature,
  };
  const returned = details.refunds
    .filter(({ status }) => status === "paid")
    .flatMap((refund) => returnedBy(refund, transaction, assets));
  return [...paidBy(view, assets), fee, ...returned].filter(({ amount }) => amount > 0n);
}

/** The amounts of the paid recipients, in the asset that was given. */
function paidBy({ transaction, recipients, details }: DetailedTransaction, assets: Assets): readonly Sum[] {
  const asset = assetOf(transaction.inputMint, assets);
  const output = assetOf(transaction.outputMint, assets);
  return recipients.flatMap((share): readonly Sum[] => {
    const { status, signature } = details.outcomeOf(share);
    if (status !== "paid") return [];
    // A swap has one recipient, who gets the whole amount.
    const amount = transaction.type === "swap" ? details.given : share.amount;
    const brought = { asset: output, amount: share.amount };
    return [{ kind: "payment", asset, amount, address: share.address, signature, brought }];
  });
}

/** A refund and its cost. The refund of a completed order returns money beyond the deposit. */
function returnedBy(
  { mint, amount, cost, decimals, to: address, signature }: RefundSum,
  { status, feeMint }: TransactionRecord,
  assets: Assets,
): readonly Sum[] {
  const shown = shownAmount({ mint, amount, decimals }, assets);
  const other = { symbol: shown.asset, mint: shown.mint, decimals: shown.decimals ?? 0 };
  const asset = assets.ofMint(mint) === null ? other : assetOf(mint, assets);
  const kind = status === "completed" && mint === feeMint ? "excess" : "refund";
  return [
    { kind, asset, amount, address, signature },
    { kind: "cost", asset, amount: cost, signature },
  ];
}

function assetOf(mint: string, assets: Assets): Sum["asset"] {
  const token = assets.named(mint);
  return { symbol: token.symbol, decimals: token.decimals, mint: ledgerMint(token) };
}

type Cell = string | number | null;

const timeOf = (at: number | null): Cell => (at === null ? null : isoTime(at));

/** The columns in their order, with what stands in them. */
const CELLS: Readonly<Record<string, (of: TransactionRecord, sum: Sum) => Cell>> = {
  transactionId: ({ id }) => id,
  createdAt: ({ createdAt }) => timeOf(createdAt),
  finalAt: ({ finalAt }) => timeOf(finalAt),
  blockTime: ({ blockTime }) => blockTime,
  type: ({ type }) => type,
  mode: ({ mode }) => mode,
  status: ({ status }) => status,
  reason: ({ reason }) => reason,
  kind: (_, { kind }) => kind,
  asset: (_, { asset }) => asset.symbol,
  mint: (_, { asset }) => asset.mint,
  amount: (_, { asset, amount }) => formatAmount(amount, asset.decimals),
  address: (_, { address }) => address ?? null,
  outputAsset: (_, { brought }) => brought?.asset.symbol ?? null,
  outputAmount: (_, { brought }) =>
    brought === undefined ? null : formatAmount(brought.amount, brought.asset.decimals),
  signature: (_, { signature }) => signature,
  sender: ({ sender }) => sender,
  quoteId: ({ quoteId }) => quoteId,
  reference: ({ reference }) => reference,
  refundOf: ({ refundOf }) => refundOf,
};

/** A record of RFC 4180. A text that a spreadsheet would take for a formula gets an apostrophe in front. */
function lineOf(cells: readonly Cell[]): string {
  return `${cells.map((cell) => fieldOf(String(cell ?? ""))).join(",")}${END_OF_LINE}`;
}

function fieldOf(text: string): string {
  const safe = /^[=+\-@]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
