/** One look at an order: its rows, its terms, one reading of the chain, and what the two say together. */
import type { PrivateContext } from "./private-storage.ts";
import { SOL_MINT, type Address } from "../../core/address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { OrderReading } from "../../ledger/order-reading.ts";
import type { Commitment } from "../../ledger/reading.ts";
import { ledgerMint, type Assets } from "../frame/assets/assets.ts";
import { worthAtMost, type PriceSource } from "../frame/prices/prices.ts";
import type { AttemptRecord } from "../frame/tables/attempts.ts";
import type { RecipientRecord, TransactionRecord } from "../frame/tables/orders.ts";
import type { OrderedTransaction, OrderView } from "./tables.ts";
import { rowsOf } from "./judged-rows.ts";
import { collectCost, type Price } from "./protocol/cost.ts";
import type { OrderFacts } from "./protocol/facts.ts";
import { MOST_REDIRECTS } from "./protocol/cut.ts";
import { feeOf } from "./protocol/fee.ts";
import type { Asset } from "./protocol/legs.ts";
import { Look, queryOf } from "./protocol/look.ts";
import type { OrderView as JudgedOrder } from "./protocol/rows.ts";
import { stateOfOrder } from "./protocol/state-of-order.ts";
import type { OrderTerms } from "./protocol/terms.ts";

/** Rows and chain at one moment. A commit of its conclusions expects the version `view.order.version`. */
export interface OrderLook {
  readonly view: OrderView;
  readonly transaction: TransactionRecord;
  readonly recipients: readonly RecipientRecord[];
  readonly terms: OrderTerms;
  readonly reading: Evidence<OrderReading>;
  /** Terms, rows, reading, fee and prices as the protocol's pure functions take them. */
  readonly judged: JudgedOrder;
  readonly facts: OrderFacts;
}

/** An order as the database has it. */
export type StoredOrder = Pick<OrderLook, "view" | "transaction" | "recipients" | "terms">;

export interface LookParts extends Pick<PrivateContext, "storage" | "ledger" | "assets"> {
  /** Without prices nothing of a token is worth its return: it waits for one. */
  readonly prices?: PriceSource;
}

/** Where to look besides the accounts of every order, and how firm the block has to be. */
interface LookOptions {
  /** Default: finalized, which alone is acted upon. */
  readonly commitment?: Commitment;
  /** Owners besides sponsor, treasury and sender whose accounts decide something, one at most beside 72 chunks. */
  readonly more?: readonly Address[];
}

/**
 * Reads the rows of the order first, then the chain. Throws `LedgerUnavailable` if fewer endpoints answer than must agree,
 * and an `Error` for an order that is not stored.
 */
export async function lookAtOrder(
  deps: LookParts,
  id: string,
  { commitment = "finalized", more = [] }: LookOptions = {},
): Promise<OrderLook> {
  const { ledger } = deps;
  const stored = await storedOrder(deps, id);
  const { terms } = stored;
  const tokens = tokensOf(deps.assets);
  const mints = tokens.map(({ mint }) => mint);
  const query = queryOf(terms, { mints, redirects: MOST_REDIRECTS, others: more });
  const [reading, fee, collects] = await Promise.all([
    ledger.readOrder(query, commitment),
    feeOf(ledger, terms, "floor"),
    unchargedCollects(deps, stored),
  ]);
  const look = new Look(query, reading);
  const priceOf = await pricesOf(
    deps,
    tokens.filter(({ mint }) => isThere(look, mint)),
  );
  const rates = { rentPerByte: reading.rentPerByte, fee };
  const uncharged = collects.reduce((sum, { legs }) => {
    return sum + collectCost(rates, legs?.some(({ as }) => as === "rent") === true);
  }, 0n);
  const judged = { terms, rows: rowsOf(stored, reading, uncharged), look, tokens, fee, priceOf };
  return { ...stored, reading, judged, facts: stateOfOrder(judged) };
}

/** The rows and terms of an order. Throws an `Error` for an order that is not stored. */
export async function storedOrder({ storage }: Pick<LookParts, "storage">, id: string): Promise<StoredOrder> {
  const view = await storage.orderedTransaction(id);
  const order = storedOrderIn(view);
  if (order === null) throw new Error(`order ${id} is not stored`);
  return order;
}

/** The collects that have landed since the last rest: the next one is charged with them. */
async function unchargedCollects(
  { storage }: Pick<LookParts, "storage">,
  { view: { transfers } }: StoredOrder,
): Promise<readonly AttemptRecord[]> {
  const done = transfers.filter(({ state }) => state === "done");
  const charged = done.filter(({ kind }) => kind === "rest").map(({ landedAt }) => landedAt ?? 0);
  const signatures = done
    .filter(({ kind, landedAt }) => kind === "collect" && (landedAt ?? 0) > Math.max(0, ...charged))
    .flatMap(({ signature }) => signature ?? []);
  return signatures.length === 0 ? [] : storage.attempts(signatures);
}

/** The order of a transaction that is read already; null in wallet mode and for none. */
export function storedOrderIn(view: OrderedTransaction | null): StoredOrder | null {
  if (view === null || view.order === null) return null;
  const { transaction, recipients, order } = view;
  return { view: order, transaction, recipients, terms: termsOf(order, transaction, recipients) };
}

/** The terms of a stored order: no rule and no price of today has a part in them. */
function termsOf(
  { order }: Pick<OrderView, "order">,
  { outputMint }: Pick<TransactionRecord, "outputMint">,
  recipients: readonly Pick<RecipientRecord, "index" | "address" | "amount">[],
): OrderTerms {
  const { id, layout, type, address, sender, sponsor, treasury, mint, required, fee, cut } = order;
  const { rentPerByte, rentTaken, windowEnds } = order;
  const members = recipients.map(({ index, address: payee, amount }) => ({
    index,
    address: payee,
    amount,
    isPriced: order.priced.includes(index),
  }));
  const asked = { id, layout, type, address, sender, sponsor, treasury, mint, required, fee, cut, members };
  return { ...asked, payMint: outputMint as Address, rentPerByte, rentTaken, windowEnds };
}

/** The tokens of the service, SOL left out. */
export function tokensOf({ tokens }: Pick<Assets, "tokens">): readonly Asset[] {
  return tokens.filter((token) => ledgerMint(token) !== null);
}

function isThere(look: Look, mint: Address): boolean {
  return look.reading.told.some((told) => (look.account(told, look.query.address, mint)?.amount ?? 0n) > 0n);
}

/** The price of SOL in each of these tokens, as far as it is known now. */
export async function pricesOf(
  { prices }: Pick<LookParts, "prices">,
  tokens: readonly Asset[],
): Promise<(mint: Address) => Price> {
  const known = new Map<Address, Price>();
  await Promise.all(
    tokens.map(async ({ mint }) => {
      const rate = await prices?.rate(SOL_MINT, mint).catch(() => null);
      if (rate) known.set(mint, (lamports) => worthAtMost(lamports, rate));
    }),
  );
  return (mint) => known.get(mint) ?? null;
}
