/** Taking an order of private mode: a fresh deposit address, and everything it needs promised in one commit. */
import type { PaymentTables } from "../tables.ts";
import type { DepositRecord } from "../tables/deposits.ts";
import type { ReservationRecord } from "../tables/limits.ts";
import type { RecipientRecord, TransactionRecord } from "../tables/orders.ts";
import type { CommitResult } from "../../../storage/storage.ts";
import type { PaymentWrite } from "../payment-storage.ts";
import { SOL_MINT, type Address } from "../../address.ts";
import { agingTime } from "../../clock-trust.ts";
import { startOf, type CommitAdditions, type StartRequest } from "../../engine/index.ts";
import { PaymentError, fieldError } from "../../errors.ts";
import { LedgerUnavailable } from "../../ledger/ledger.ts";
import type { Decision } from "../accounts/answer-once.ts";
import type { Caller } from "../accounts/caller.ts";
import { smallestAmount, type Assets } from "../assets/assets.ts";
import { newId } from "../ids.ts";
import { isBehindBlock } from "../intake/chain-clock.ts";
import { clockRefusal } from "../intake/intake-check.ts";
import { isoTime } from "../iso-time.ts";
import { type PriceSource, worthAtMost } from "../prices/prices.ts";
import { checkOrderParties } from "../recipients/order-parties.ts";
import { screenParties } from "../recipients/recipients.ts";
import { swapCost } from "../outgoing/plans/swap-cost.ts";
import { routingCost, type RoutingCost } from "../outgoing/plans/routing-cost.ts";
import { mostNetworkFees, sponsorCap } from "../purses/sponsor-allowance.ts";
import {
  shareOfDay,
  type SponsorLimitWrites,
  boundBy,
  releaseUncounted,
  reserveShares,
} from "../purses/sponsor-limit.ts";
import { begunTransaction, usedQuote, type CheckedRequest } from "../quotes/checked-request.ts";
import { factsOf } from "../quotes/transaction-facts.ts";
import type { TransactionFacts } from "../webhooks/sending/notice-body.ts";
import { paidBid, rateOfSol } from "../quotes/private-pricing.ts";
import { type ServiceContext, storageTime } from "../service-context.ts";
import { sponsorPurse } from "../spending.ts";
import type { Swapper } from "../swap-provider/swap-provider.ts";
import { depositAccounts } from "./look-at-account.ts";
import { depositBody, type DepositBody, paymentUri } from "./deposit-body.ts";
import { AGING_MS } from "../outgoing/closing.ts";
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
/**
 * How long an address is watched after its order: first as closely as before, then until its markers may be closed,
 * then slowly.
 */
export const LINGER_MS = 15 * 60_000;
export const QUIET_MS = 24 * 3_600_000;
export const SLOW_MS = 60 * 24 * 3_600_000;
/** The least time between two refunds of an address. */
export const REFUND_PAUSE_MS = 10 * 60_000;
/** Seconds after which ROUTING_UNAVAILABLE advises a retry. */
const RETRY_SECONDS = 30;

interface OrderAcceptanceParts extends ServiceContext {
  readonly routing: PrivateRouting;
  /** Null while no swap provider is configured. */
  readonly swapper: Swapper | null;
  /** Sponsor, treasury and desk: no customer's money goes there. */
  readonly ownAddresses: readonly Address[];
  readonly commit: (companions: CommitAdditions<PaymentTables>) => Promise<CommitResult>;
}

/** A new order under its fresh id, and its reserved costs. */
interface FreshOrder {
  readonly transaction: TransactionRecord;
  readonly recipients: readonly RecipientRecord[];
  readonly deposit: DepositRecord;
  /** The sponsor's worst case, and what the sponsor holds, in lamports. */
  readonly reservation: ReservationRecord;
  readonly held: bigint;
  readonly share: SponsorLimitWrites;
  /** Both of the account's shares, and the release of what no longer counts against it. */
  readonly ofAccount: readonly PaymentWrite[];
  readonly uncounted: readonly PaymentWrite[];
}

/** The writes of an order: each of the `limited` ones is refused where there is no room for one more order. */
interface OrderWrites {
  readonly before: readonly PaymentWrite[];
  readonly limited: readonly PaymentWrite[];
  readonly after: readonly PaymentWrite[];
}

export async function acceptOrder(
  parts: OrderAcceptanceParts,
  request: CheckedRequest,
): Promise<Decision<CreatedOrderBody>> {
  const { ledger, assets, routing, commit } = parts;
  const { sponsor } = routing.terms;
  refuseTooMany(request, routing.terms.mostRecipients);
  await checkParties(parts, request).catch(unlessReachable);

  const [cost, reading] = await Promise.all([
    costOf(parts, request),
    ledger.funds([sponsor.address], [], "confirmed"),
  ]).catch(unlessReachable);
  const bid = await coveredBid(request, cost, routing.terms.prices);
  const order = await freshOrder(parts, request, { cost, held: reading.funds[0]?.lamports ?? 0n });
  // The chain's clock ends the window: a window that begins so far in the past would be over before the money is
  // final.
  if (isBehindBlock(order.deposit.createdAt, reading)) throw clockRefusal("private");
  await request.checkAmounts();
  const { before, limited, after } = writesOf(request, order);
  const starts = startsOf(parts, order, { quote: request.quote, bid });
  return {
    body: createdOrderBody(order.transaction, order.deposit, assets),
    commit: async (more) => {
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
 * The fee was fixed by the quote. Where it does not cover any more what may be spent, the order is not taken; else it covers a
 * bid.
 */
async function coveredBid(
  { quote }: CheckedRequest,
  cost: RoutingCost,
  prices: PriceSource,
): Promise<bigint> {
  const rate = await rateOfSol(prices, quote.inputMint);
  const isCovered =
    quote.networkFee >= worthAtMost(mostNetworkFees(cost), rate) &&
    quote.rent >= worthAtMost(cost.accountRent, rate);
  if (!isCovered) throw new PaymentError("INVALID_QUOTE", { quoteId: quote.id, reason: "price_moved" });
  return paidBid(quote.networkFee, cost, rate);
}

/** The highest cost of the order for the sponsor, in lamports. */
async function costOf(
  { ledger, assets, routing, swapper }: OrderAcceptanceParts,
  { quote, declared }: CheckedRequest,
): Promise<RoutingCost> {
  const { inputMint, outputMint, pricedAccounts } = quote;
  const { treasury } = routing.terms;
  const sponsor = routing.terms.sponsor.address;
  const give = assets.named(inputMint);
  if (inputMint === outputMint) {
    const recipients = declared.transfers.length;
    const order = { asset: give, recipients, pricedAccounts, bid: "floor" } as const;
    return routingCost(ledger, { sponsor, treasury }, order);
  }
  const desk = swapper?.direct ?? null;
  if (desk === null) throw new PaymentError("ROUTING_UNAVAILABLE", { reason: "liquidity", retryAfter: 60 });
  const get = assets.named(outputMint);
  return swapCost(ledger, { sponsor, treasury, desk }, { give, get, pricedAccounts, bid: "floor" });
}

async function freshOrder(
  parts: OrderAcceptanceParts,
  request: CheckedRequest,
  { cost, held }: { readonly cost: RoutingCost; readonly held: bigint },
): Promise<FreshOrder> {
  const { storage, clock, random, routing, ledger, assets } = parts;
  const { keys, terms } = routing;
  const { quote, caller } = request;
  const sponsor = terms.sponsor.address;
  const { depositWindowMs, mostSpentPerDay: mostPerDay } = terms;
  // By the clock that gaps in the lives of the database are dated by: the address is checked for later ones.
  const createdAt = await storageTime(parts);
  const agedTo = agingTime(clock, createdAt);
  const id = newId("tx", createdAt, random);
  const key = { masterVersion: keys.newestVersion, transactionId: id };
  const address = keys.address(key);
  // Derived a second time: an address whose key cannot be brought back is never shown to anybody.
  if (keys.address(key) !== address) throw new Error("a deposit address did not derive to itself");
  const begun = begunTransaction(request, { id, createdAt });
  const orderCost = { transactionId: id, sponsor, cost, depositWindowMs };
  const reservation: ReservationRecord = {
    id,
    version: 1,
    resource: sponsorPurse(sponsor),
    amount: sponsorCap(cost),
    createdAt,
    lapsesAt: null,
    releasedAt: null,
  };
  const bound = boundBy(sponsor, caller.accountId);
  return {
    transaction: { ...begun.transaction, depositAddress: address },
    recipients: begun.recipients,
    deposit: {
      id: address,
      ...key,
      accountId: caller.accountId,
      createdAt,
      mint: quote.inputMint,
      amount: quote.inputAmount,
      expiresAt: createdAt + depositWindowMs,
      waitEndedAt: null,
      heldReason: null,
      checkedTo: null,
      otherMintsAt: null,
      accounts: depositAccounts(ledger, assets, address),
      referenceKey: keys.referenceKey(key),
      version: 1,
    },
    reservation,
    held,
    share: await shareOfDay(storage, orderCost, { mostPerDay, now: createdAt, agedTo }),
    ofAccount: reserveShares({ reservation, sponsor, caller, held }),
    uncounted: await releaseUncounted(storage, bound, agedTo),
  };
}

function startsOf(
  { ledger, assets, routing }: OrderAcceptanceParts,
  order: FreshOrder,
  { quote, bid }: Pick<CheckedRequest, "quote"> & { readonly bid: bigint },
): readonly StartRequest[] {
  const { orders, addresses, terms } = routing;
  const { id: address, transactionId, amount, mint, expiresAt } = order.deposit;
  const fee = quote.networkFee + quote.routingFee + quote.rent;
  return [
    startOf(orders, transactionId, { depositAddress: address, fee: String(fee) }),
    startOf(addresses, address, {
      address,
      order: transactionId,
      mint,
      required: String(amount),
      expiresAt,
      smallest: Object.fromEntries(assets.tokens.map((each) => [each.mint, String(smallestAmount(each))])),
      rentMint: SOL_MINT,
      lingerMs: LINGER_MS,
      agingMs: AGING_MS,
      quietMs: QUIET_MS,
      slowMs: SLOW_MS,
      refundPauseMs: REFUND_PAUSE_MS,
      sponsorCap: String(order.reservation.amount),
      bidCeiling: String(ledger.bidCeiling),
      paidBid: String(bid),
      tip: String(ledger.tip ?? 0n),
      isScreened: terms.screen !== null,
    }),
  ];
}

function writesOf({ quote, caller }: CheckedRequest, order: FreshOrder): OrderWrites {
  const { transaction, recipients, deposit, reservation, held, share, ofAccount, uncounted } = order;
  return {
    // First, so that a request that lost its quote to a rival request gets that error, even when the rival took the
    // last room.
    before: [
      usedQuote(quote, { usedBy: transaction.id, now: transaction.createdAt }),
      ...share.makeRoom,
      ...uncounted,
    ],
    limited: [
      { table: "deposits", insert: deposit, atMost: { count: MAX_WAITING[caller.tier] } },
      { table: "reservations", insert: reservation, atMost: { total: held } },
      ...ofAccount,
      share.take,
    ],
    after: [
      { table: "transactions", insert: transaction },
      ...recipients.map((insert) => ({ table: "recipients" as const, insert })),
    ],
  };
}

/** The answer to a new order; the same at every replay. */
export function createdOrderBody(
  transaction: TransactionRecord,
  deposit: DepositRecord,
  assets: Assets,
): CreatedOrderBody {
  const body = depositBody(deposit, assets);
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
      referenceKey: deposit.referenceKey,
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
