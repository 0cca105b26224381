/**
 * Stores a lost deposit address again, held until an operator decides: one commit with the rows and both instances.
 */
import { depositAccounts } from "../../private/look-at-account.ts";
import type { PaymentTables } from "../../tables.ts";
import type { DepositRecord } from "../../tables/deposits.ts";
import type { ReservationRecord } from "../../tables/limits.ts";
import type { TransactionRecord } from "../../tables/orders.ts";
import type { PaymentStorage, PaymentWrite } from "../../payment-storage.ts";
import { SOL_MINT, type Address } from "../../../address.ts";
import { MAX_AMOUNT } from "../../../amount.ts";
import { startOf, type Engine, type StartRequest } from "../../../engine/index.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { Clock } from "../../../runtime.ts";
import type { ActContext } from "../../intake/rules.ts";
import { smallestAmount, type Assets } from "../../assets/assets.ts";
import { routingCost } from "../../outgoing/plans/routing-cost.ts";
import { UNKNOWN_SPENDING, unknownSpending } from "../../outgoing/unknown-spending.ts";
import { AGING_MS } from "../../outgoing/closing.ts";
import { LINGER_MS, QUIET_MS, REFUND_PAUSE_MS, SLOW_MS } from "../../private/accept-order.ts";
import type { PrivateRouting } from "../../private/private-routing.ts";
import { sponsorCap } from "../../purses/sponsor-allowance.ts";
import { shareOfDay } from "../../purses/sponsor-limit.ts";
import { sponsorPurse } from "../../spending.ts";
import type { WriteAct } from "../act.ts";
import { RECOVERED } from "../attention/held-addresses.ts";

/** The account of recovered orders: a journal does not record who ordered. */
export const RECOVERED_ACCOUNT = "recovered";

/** The asset that a recovered order is stored with: the ordered asset is not known. */
const ORDERED_MINT = SOL_MINT;

/** A deposit address that was derived from its order's id. */
export interface DerivedAddress {
  readonly transactionId: string;
  readonly address: Address;
  readonly masterVersion: number;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
}

export interface RestoringParts {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly engine: Engine<PaymentTables>;
  readonly clock: Clock;
  readonly assets: Assets;
  readonly routing: PrivateRouting;
  readonly writeAct: WriteAct;
}

/**
 * Restores the address and returns the reason of its hold: an address that has already paid waits for an explanation.
 */
export async function restoreAddress(
  parts: RestoringParts,
  derived: DerivedAddress,
  by: ActContext,
): Promise<string> {
  const { storage, clock, routing, engine, writeAct } = parts;
  const { transactionId, address } = derived;
  const spent = await unknownSpending(parts, address);
  const heldReason = spent.length > 0 ? UNKNOWN_SPENDING : RECOVERED;
  const sponsor = routing.terms.sponsor.address;
  const cost = await costOfSend(parts);
  const now = clock.now();
  // What sending the money on may cost the sponsor is reserved as for any order, and released as for any order.
  const reservation: ReservationRecord = {
    id: transactionId,
    version: 1,
    resource: sponsorPurse(sponsor),
    amount: sponsorCap(cost),
    createdAt: now,
    lapsesAt: null,
    releasedAt: null,
  };
  const { depositWindowMs } = routing.terms;
  const order = { transactionId, sponsor, cost, depositWindowMs };
  const share = await shareOfDay(storage, order, { mostPerDay: null, now, agedTo: now });
  const writes: PaymentWrite[] = [
    { table: "transactions", insert: transactionOf(derived) },
    { table: "deposits", insert: depositOf(parts, derived, { heldReason, now }) },
    { table: "reservations", insert: reservation },
    share.take,
    writeAct({ by, act: "recover", what: { transactionId, address, heldReason } }),
  ];
  const result = await engine.commit({ starts: startsOf(parts, derived, reservation.amount), writes });
  // Refused when another operator has restored the address meanwhile: then nothing is left to do.
  if (!result.ok && (await storage.transaction(transactionId)) === null) {
    throw new Error(`deposit address ${address} could not be restored`);
  }
  return heldReason;
}

/** The highest cost of a send to one recipient for the sponsor. */
function costOfSend({ ledger, assets, routing }: RestoringParts): ReturnType<typeof routingCost> {
  const { sponsor, treasury } = routing.terms;
  const parties = { sponsor: sponsor.address, treasury };
  return routingCost(ledger, parties, {
    asset: assets.named(ORDERED_MINT),
    recipients: 1,
    pricedAccounts: 0,
    bid: "floor",
  });
}

// Who sent the money is not known: it goes where an operator says, and nowhere else.
const NOT_KNOWN = "" as Address;

/** The row of an order that is over. */
function transactionOf({ transactionId, address, createdAt }: DerivedAddress): TransactionRecord {
  return {
    id: transactionId,
    accountId: RECOVERED_ACCOUNT,
    quoteId: "",
    type: "send",
    mode: "private",
    sender: NOT_KNOWN,
    senderAllowOffCurve: false,
    inputMint: ORDERED_MINT,
    inputAmount: 0n,
    outputMint: ORDERED_MINT,
    outputAmount: 0n,
    feeMint: ORDERED_MINT,
    depositAddress: address,
    requestHash: "",
    status: "failed",
    reason: RECOVERED.toUpperCase(),
    signature: null,
    blockTime: null,
    fee: 0n,
    refundOf: null,
    landedAfterCancel: false,
    broadcastAt: null,
    cancelledAt: null,
    finalAt: createdAt,
    createdAt,
    reference: null,
    attention: null,
    landedSignature: null,
  };
}

function depositOf(
  { ledger, assets }: Pick<RestoringParts, "ledger" | "assets">,
  derived: DerivedAddress,
  { heldReason, now }: { readonly heldReason: string; readonly now: number },
): DepositRecord {
  const { transactionId, address, masterVersion, createdAt } = derived;
  return {
    id: address,
    transactionId,
    accountId: RECOVERED_ACCOUNT,
    masterVersion,
    mint: ORDERED_MINT,
    amount: 0n,
    expiresAt: createdAt,
    waitEndedAt: now,
    heldReason,
    checkedTo: null,
    otherMintsAt: null,
    accounts: depositAccounts(ledger, assets, address),
    // Nothing is asked for at it any more.
    referenceKey: null,
    createdAt,
    version: 1,
  };
}

/** `allowance` is what the sponsor may spend on the order, in lamports. */
function startsOf(
  { ledger, assets, routing }: RestoringParts,
  { transactionId, address, createdAt }: DerivedAddress,
  allowance: bigint,
): readonly StartRequest[] {
  const { orders, addresses, terms } = routing;
  const smallest = assets.tokens.map((each) => [each.mint, String(smallestAmount(each))] as const);
  return [
    startOf(orders, transactionId, { depositAddress: address, fee: "0" }),
    startOf(addresses, address, {
      // No deposit is ever enough to be paid out.
      address,
      order: transactionId,
      mint: ORDERED_MINT,
      required: String(MAX_AMOUNT),
      smallest: Object.fromEntries(smallest),
      rentMint: SOL_MINT,
      expiresAt: createdAt,
      lingerMs: LINGER_MS,
      agingMs: AGING_MS,
      quietMs: QUIET_MS,
      slowMs: SLOW_MS,
      refundPauseMs: REFUND_PAUSE_MS,
      sponsorCap: String(allowance),
      bidCeiling: String(ledger.bidCeiling),
      tip: String(ledger.tip ?? 0n),
      isScreened: terms.screen !== null,
      isRecovered: true,
    }),
  ];
}
