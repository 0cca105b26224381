/** Taking an order of private mode: a fresh deposit address, and everything it needs promised in one commit. */
import type { PrivateContext, PrivateTables, PrivateWrite } from "./private-storage.ts";
import type { TransactionRecord } from "../frame/tables/orders.ts";
import type { OrderRecord } from "./tables.ts";
import type { CommitResult } from "../../../storage/storage.ts";
import type { Address } from "../../core/address.ts";
import type { CommitAdditions } from "../../engine/index.ts";
import { PaymentError, fieldError } from "../../errors/errors.ts";
import { LedgerUnavailable } from "../../ledger/ledger.ts";
import type { Decision } from "../frame/accounts/answer-once.ts";
import type { Caller } from "../frame/accounts/caller.ts";
import { ledgerMint, type Assets } from "../frame/assets/assets.ts";
import { isBehindBlock } from "../frame/intake/chain-clock.ts";
import { clockRefusal } from "../frame/intake/intake-check.ts";
import { isoTime } from "../frame/iso-time.ts";
import { worthAtMost } from "../frame/prices/prices.ts";
import { checkOrderParties } from "./order-parties.ts";
import { screenParties } from "../frame/recipients/recipients.ts";
import { reserveOrder } from "../frame/purses/sponsor-limit.ts";
import { usedQuote, type CheckedRequest } from "../frame/quotes/checked-request.ts";
import { factsOf } from "../frame/quotes/transaction-facts.ts";
import type { TransactionFacts } from "../frame/notices/notice-body.ts";
import { rateOfSol, type OrderCost } from "./private-pricing.ts";
import { freshOrder, type FreshOrder } from "./fresh-order.ts";
import { depositBody, type DepositBody, paymentUri } from "./deposit-body.ts";
import { startOrder } from "./order-workflow.ts";
import type { PrivateRouting } from "./private-routing.ts";

/** The answer to POST /v1/transactions in private mode. */
export interface CreatedOrderBody extends DepositBody, TransactionFacts {
  readonly transactionId: string;
  readonly status: string;
  readonly mode: "private";
  /** A Solana Pay transfer request for the deposit. */
  readonly paymentUri: string;
  readonly createdAt: string;
}

/** Orders without a deposit that an account may have open. */
const MAX_WAITING: Readonly<Record<Caller["tier"], number>> = { free: 100, pro: 1_000, enterprise: 10_000 };
/** Seconds after which ROUTING_UNAVAILABLE advises a retry. */
const RETRY_SECONDS = 30;

interface OrderAcceptanceParts extends PrivateContext {
  readonly routing: PrivateRouting;
  /** Sponsor, treasury and desk: no customer's money goes there. */
  readonly ownAddresses: readonly Address[];
  readonly commit: (companions: CommitAdditions<PrivateTables>) => Promise<CommitResult>;
}

/** The writes of an order: each of the `limited` ones is refused if there is no room for one more order. */
interface OrderWrites {
  readonly before: readonly PrivateWrite[];
  readonly limited: readonly PrivateWrite[];
  readonly after: readonly PrivateWrite[];
}

/** An order that is about to be taken, with its row. */
interface OrderDecision extends Decision<CreatedOrderBody> {
  readonly order: OrderRecord;
}

export async function acceptOrder(
  parts: OrderAcceptanceParts,
  request: CheckedRequest,
): Promise<OrderDecision> {
  const { storage, ledger, assets, routing, commit } = parts;
  const { sponsor, mostSpentPerDay: mostPerDay } = routing.terms;
  refuseTooMany(request, routing.terms.mostRecipients);
  await checkParties(parts, request).catch(unlessReachable);
  const priced = await pricedAccountsOf(parts, request).catch(unlessReachable);
  const [cost, reading] = await Promise.all([
    costOf(parts, request),
    ledger.funds([sponsor.address], [], "confirmed"),
  ]).catch(unlessReachable);
  await refuseUncovered(parts, request, cost);
  const { networkFee, inputMint } = request.quote;
  const paidBid = await routing.pricing.paidBid(networkFee, inputMint, cost);
  const fresh = await freshOrder(parts, request, { cost, priced, paidBid });
  const { createdAt, id } = fresh.order;
  // The chain's clock ends the window: a window that begins so far in the past would be over before the money is
  // final.
  if (isBehindBlock(createdAt, reading)) throw clockRefusal("private");
  await request.checkAmounts();
  const { before, limited, after } = writesOf(
    request,
    fresh,
    await reserveOrder(storage, {
      id,
      sponsor: sponsor.address,
      caller: request.caller,
      amount: cost.reserved,
      held: reading.funds[0]?.lamports ?? 0n,
      mostPerDay,
      createdAt,
    }),
  );
  return {
    order: fresh.order,
    body: createdOrderBody(fresh.transaction, fresh.order, assets),
    commit: async (more) => {
      const starts = [startOrder(routing.orders, fresh.order)];
      const result = await commit({ starts, writes: [...before, ...limited, ...after, ...more] });
      if (result.ok || result.conflict !== "write") return result.ok;
      const isLimited = result.index >= before.length && result.index < before.length + limited.length;
      if (!isLimited) return false;
      throw new PaymentError("ROUTING_UNAVAILABLE", { reason: "capacity", retryAfter: RETRY_SECONDS });
    },
  };
}

async function checkParties(parts: OrderAcceptanceParts, { quote, declared }: CheckedRequest): Promise<void> {
  const { sender, senderAllowOffCurve, transfers } = declared;
  const asset = parts.assets.named(quote.outputMint);
  const refunded = { recipient: sender, allowOffCurve: senderAllowOffCurve };
  await checkOrderParties(parts, { sender: refunded, transfers, asset });
  const recipients = transfers.map(({ recipient }) => recipient);
  await screenParties(parts.routing.terms.screen, sender, recipients);
}

function refuseTooMany({ quote, declared: { transfers } }: CheckedRequest, mostRecipients: number): void {
  if (quote.recipients === null && transfers.length > 1) {
    throw new PaymentError("INVALID_QUOTE", { quoteId: quote.id, reason: "recipients_mismatch" });
  }
  if (transfers.length > mostRecipients) {
    const message = `at most ${mostRecipients} recipients`;
    throw fieldError("recipients", message);
  }
}

/**
 * The fee was fixed by the quote, for a number of accounts that it counted. Which recipients these are for is read now, the
 * first ones that have none; an account that none needs any more is priced for nobody.
 */
async function pricedAccountsOf(
  { ledger, assets }: OrderAcceptanceParts,
  { quote, declared: { transfers } }: CheckedRequest,
): Promise<readonly number[]> {
  const mint = ledgerMint(assets.named(quote.outputMint));
  if (mint === null || quote.pricedAccounts === 0) return [];
  // A price for all of them needs no look: an account that is there today may be closed tomorrow.
  if (quote.pricedAccounts >= transfers.length) return transfers.map((_, index) => index);
  const states = await ledger.tokenAccountStates(
    transfers.map(({ recipient }) => ({ owner: recipient, mint })),
  );
  return states.flatMap((state, index) => (state === "absent" ? [index] : [])).slice(0, quote.pricedAccounts);
}

/** Where the fee does not cover any more what may be spent, the order is not taken. */
async function refuseUncovered(
  { routing }: OrderAcceptanceParts,
  { quote }: CheckedRequest,
  cost: OrderCost,
): Promise<void> {
  const rate = await rateOfSol(routing.terms.prices, quote.inputMint);
  const isCovered =
    quote.networkFee >= worthAtMost(cost.network, rate) && quote.rent >= worthAtMost(cost.rent, rate);
  if (!isCovered) throw new PaymentError("INVALID_QUOTE", { quoteId: quote.id, reason: "price_moved" });
}

/** The cost of the order for the sponsor, in lamports. Throws `ROUTING_UNAVAILABLE` for a swap that no desk carries out. */
async function costOf(
  { assets, routing }: OrderAcceptanceParts,
  { quote, declared }: CheckedRequest,
): Promise<OrderCost> {
  const { inputMint, outputMint, pricedAccounts } = quote;
  if (inputMint !== outputMint && !routing.canSwap) {
    throw new PaymentError("ROUTING_UNAVAILABLE", { reason: "liquidity", retryAfter: 60 });
  }
  return routing.pricing.cost({
    give: assets.named(inputMint),
    get: assets.named(outputMint),
    recipients: declared.transfers.length,
    pricedAccounts,
    bid: "floor",
  });
}

function writesOf(
  { quote, caller }: CheckedRequest,
  { transaction, recipients, order, chunks, levels }: FreshOrder,
  reserved: readonly PrivateWrite[],
): OrderWrites {
  return {
    // First, so that a request that lost its quote to a rival request gets that error, even when the rival took the
    // last room.
    before: [usedQuote(quote, { usedBy: transaction.id, now: transaction.createdAt })],
    limited: [{ table: "orders", insert: order, atMost: { count: MAX_WAITING[caller.tier] } }, ...reserved],
    after: [
      { table: "transactions", insert: transaction },
      ...recipients.map((insert) => ({ table: "recipients" as const, insert })),
      ...chunks.map((insert) => ({ table: "chunks" as const, insert })),
      ...levels.map((insert) => ({ table: "levels" as const, insert })),
    ],
  };
}

/** The answer to a new order; the same at every replay. */
export function createdOrderBody(
  transaction: TransactionRecord,
  order: OrderRecord,
  assets: Assets,
): CreatedOrderBody {
  const body = depositBody(order, assets);
  const { id, createdAt, reference } = transaction;
  return {
    transactionId: id,
    status: "pending",
    mode: "private",
    ...body,
    paymentUri: paymentUri({
      recipient: body.ephemeralAddress,
      amount: body.depositAmount,
      mint: body.depositMint,
      referenceKey: order.referenceKey,
      label: reference ?? id,
    }),
    createdAt: isoTime(createdAt),
    ...factsOf(transaction, assets),
  };
}

function unlessReachable(error: unknown): never {
  if (!(error instanceof LedgerUnavailable)) throw error;
  throw new PaymentError(
    "ROUTING_UNAVAILABLE",
    { reason: "upstream", retryAfter: RETRY_SECONDS },
    { cause: error },
  );
}
