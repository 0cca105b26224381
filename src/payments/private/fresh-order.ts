/** A new order of private mode under its fresh id: with address, terms and rows. */
import type { PrivateContext } from "./private-storage.ts";
import type { Address } from "../../core/address.ts";
import { ledgerMint, type Assets } from "../frame/assets/assets.ts";
import { newId } from "../frame/ids.ts";
import { begunTransaction, type CheckedRequest } from "../frame/quotes/checked-request.ts";
import type { OrderCost } from "./private-pricing.ts";
import { storageTime } from "../frame/service-context.ts";
import type { RecipientRecord, TransactionRecord } from "../frame/tables/orders.ts";
import type { ChunkRecord, LevelRecord, OrderRecord } from "./tables.ts";
import type { PrivateRouting } from "./private-routing.ts";

/** The cost of an order for the sponsor, and the part that its quote has paid for. */
interface OrderPrices {
  readonly cost: OrderCost;
  /** Indexes of the recipients whose token accounts are priced. */
  readonly priced: readonly number[];
  /** Lamports of each transaction's bid. */
  readonly paidBid: bigint;
}

/** A new order under its fresh id, as its rows are. */
export interface FreshOrder {
  readonly transaction: TransactionRecord;
  readonly recipients: readonly RecipientRecord[];
  readonly order: OrderRecord;
  readonly chunks: readonly ChunkRecord[];
  readonly levels: readonly LevelRecord[];
}

interface FreshOrderParts extends PrivateContext {
  readonly routing: PrivateRouting;
}

/** The state of an order that waits for its deposit. */
export const WAITING = {
  loanBack: null,
  listedTo: 0,
  waitEndedAt: null,
  state: "waiting",
  overState: null,
  reason: null,
  lastGoHeight: null,
  ends: null,
} as const;

/** Throws if the key of its address cannot be derived again. */
export async function freshOrder(
  parts: FreshOrderParts,
  request: CheckedRequest,
  { cost, priced, paidBid }: OrderPrices,
): Promise<FreshOrder> {
  const { random, routing, ledger, assets } = parts;
  const { keys, terms } = routing;
  const { quote, caller } = request;
  const createdAt = await storageTime(parts);
  const id = newId("tx", createdAt, random);
  const key = { masterVersion: keys.newestVersion, transactionId: id };
  const address = keys.address(key);
  // Derived a second time: an address whose key cannot be brought back is never shown to anybody.
  if (keys.address(key) !== address) throw new Error("a deposit address did not derive to itself");
  const { transaction, recipients } = begunTransaction(request, { id, createdAt });
  const mints = assets.tokens.map(ledgerMint).filter((mint) => mint !== null);
  const order: OrderRecord = {
    id,
    version: 1,
    layout: 1,
    accountId: caller.accountId,
    address,
    masterVersion: key.masterVersion,
    accounts: Object.fromEntries(mints.map((mint) => [mint, ledger.tokenAccountOf(address, mint)])),
    referenceKey: keys.referenceKey(key),
    type: transaction.type,
    sender: transaction.sender,
    sponsor: terms.sponsor.address,
    treasury: terms.treasury,
    mint: quote.inputMint as Address,
    required: quote.inputAmount,
    fee: quote.networkFee + quote.routingFee + quote.rent,
    paidBid,
    cut: cost.cut,
    priced,
    rentPerByte: cost.rentPerByte,
    rentTaken: cost.rentPerByte,
    windowEnds: createdAt + terms.depositWindowMs,
    createdAt,
    ...WAITING,
  };
  return { transaction, recipients, order, ...begunRows(order, assets) };
}

/** The rows of an order to which nothing has happened: its chunks are to pay everybody, and nothing has come. */
export function begunRows(
  { id: order, cut }: Pick<OrderRecord, "id" | "cut">,
  { tokens }: Pick<Assets, "tokens">,
): Pick<FreshOrder, "chunks" | "levels"> {
  const untold = {
    length: null,
    slot: null,
    signature: null,
    blockTime: null,
    paid: null,
    isOwn: false,
    isLent: false,
    opened: 0n,
    goneAt: null,
  };
  const empty = { received: 0n, out: 0n, writtenOff: 0n, slot: 0, short: false, missing: 0n };
  return {
    chunks: cut.map((_, k) => ({ id: `${order}:${k}`, order, k, wanted: 0, ...untold })),
    levels: tokens.map(({ mint }) => ({ id: `${order}:${mint}`, order, mint, ...empty })),
  };
}
