/** Taking an order of private mode: a fresh deposit address, and everything it needs promised in one commit. */
import type {
  DepositRecord,
  PaymentTables,
  QuoteRecord,
  RecipientRecord,
  ReservationRecord,
  TransactionRecord,
} from "../records.ts";
import type { CommitResult } from "../../../storage/storage.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { Address } from "../../address.ts";
import { SOL_MINT } from "../../address.ts";
import { formatAmount } from "../../amount.ts";
import { startOf } from "../../engine/index.ts";
import type { Companions } from "../../engine/index.ts";
import { PaymentError } from "../../errors.ts";
import { LedgerUnavailable } from "../../ledger/ledger.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Clock, Random } from "../../runtime.ts";
import type { Decision } from "../accounts/answer-once.ts";
import { ledgerMint, smallestAmount } from "../assets/assets.ts";
import type { Assets, Token } from "../assets/assets.ts";
import type { Caller } from "../accounts/caller.ts";
import type { DeclaredTransaction } from "../quotes/check-quote.ts";
import { newId } from "../ids.ts";
import { isoTime } from "../iso-time.ts";
import { depositBody } from "./deposit-body.ts";
import type { DepositBody } from "./deposit-body.ts";
import { checkRecipientsOnChain, invalidRecipient } from "../recipients/recipients.ts";
import { sponsorPurse } from "../spending.ts";
import type { PrivateRouting } from "./private-routing.ts";
import { screenParties } from "../recipients/screening.ts";
import { shareOfDay } from "../purses/sponsor-limit.ts";
import { sponsorCap } from "../purses/sponsor-allowance.ts";
import { reserveShare } from "../purses/sponsor-share.ts";
import { exchangeCost } from "../outgoing/plans/exchange-cost.ts";
import type { Exchanger } from "../swap-provider/swap-provider.ts";
import { routingCost } from "../outgoing/plans/routing-cost.ts";
import type { RoutingCost } from "../outgoing/plans/routing-cost.ts";

/** The answer to POST /v1/transactions in private mode. */
export interface CreatedOrderBody extends DepositBody {
  readonly transactionId: string;
  readonly status: string;
  readonly mode: "private";
  readonly createdAt: string;
}

/** Orders without a deposit that an account may have open. */
const MOST_WAITING: Readonly<Record<Caller["tier"], number>> = { free: 100, pro: 1_000, enterprise: 10_000 };
/** How long an address is watched after its order: as closely as before, until its markers may be closed, and after that. */
export const LINGER_MS = 15 * 60_000;
export const AGING_MS = 3_600_000;
export const QUIET_MS = 24 * 3_600_000;
export const SLOW_MS = 60 * 24 * 3_600_000;
/** At most one refund per address in this time. */
export const REFUND_PAUSE_MS = 10 * 60_000;
/** What ROUTING_UNAVAILABLE advises. */
const RETRY_SECONDS = 30;

export type AcceptOrder = (
  caller: Caller,
  quote: QuoteRecord,
  declared: DeclaredTransaction,
  requestHash: string,
) => Promise<Decision<CreatedOrderBody>>;

export function acceptOrder({
  storage,
  ledger,
  clock,
  random,
  assets,
  routing,
  exchanger,
  commit,
}: {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
  readonly assets: Assets;
  readonly routing: PrivateRouting;
  /** Null while no swap provider is configured. */
  readonly exchanger: Exchanger | null;
  readonly commit: (companions: Companions<PaymentTables>) => Promise<CommitResult>;
}): AcceptOrder {
  const { terms, keys, orders, addresses } = routing;
  const sponsor = terms.sponsor.address;
  const desk = exchanger?.direct ?? null;

  /** Money that we sent to ourselves would go round for ever. */
  const refuseOwnAddresses = async (recipients: readonly string[], sender: string): Promise<void> => {
    const ours = new Set<string>([sponsor, terms.treasury, ...(desk === null ? [] : [desk.signer.address])]);
    for (const { id } of await storage.deposits([...recipients, sender])) ours.add(id);
    recipients.forEach((address, index) => {
      if (ours.has(address)) throw invalidRecipient(index, address, "own_address");
    });
    if (ours.has(sender)) throw badSender("it is one of the service's own addresses");
  };

  /** Refunds go to the sender, so it must be payable like any recipient. */
  const checkSender = async (sender: Address): Promise<void> => {
    try {
      await checkRecipientsOnChain(ledger, [sender]);
    } catch (error) {
      if (!(error instanceof PaymentError)) throw error;
      throw badSender("refunds go there, and it is no wallet that could take them");
    }
  };

  /** A wallet that holds nothing can only be paid the rent minimum or more. */
  const checkSmallest = async (asset: Token, { transfers }: DeclaredTransaction): Promise<void> => {
    if (ledgerMint(asset) !== null) return;
    const [minimum, { funds }] = await Promise.all([
      ledger.rentMinimum(0),
      ledger.funds(
        transfers.map(({ recipient }) => recipient),
        [],
        "confirmed",
      ),
    ]);
    const index = transfers.findIndex(
      ({ amount }, position) => (funds[position]?.lamports ?? 0n) + amount < minimum,
    );
    if (index >= 0) {
      throw new PaymentError("AMOUNT_TOO_SMALL", { minimum: formatAmount(minimum, asset.decimals), index });
    }
  };

  /** What the order may cost the sponsor, in lamports. */
  const costOf = (
    { inputMint, outputMint, pricedAccounts }: QuoteRecord,
    recipients: number,
  ): Promise<RoutingCost> => {
    const give = assets.named(inputMint);
    const { treasury } = terms;
    if (inputMint === outputMint) {
      return routingCost(ledger, { sponsor, treasury }, give, { recipients, pricedAccounts });
    }
    if (desk === null) throw new PaymentError("ROUTING_UNAVAILABLE", { reason: "paused", retryAfter: 60 });
    const get = assets.named(outputMint);
    return exchangeCost(ledger, { sponsor, treasury, desk }, { give, get, pricedAccounts });
  };

  return async (caller, quote, declared, requestHash) => {
    const { transfers } = declared;
    const recipients = transfers.map(({ recipient }) => recipient);
    if (quote.recipients === null && recipients.length > 1) {
      throw new PaymentError("INVALID_QUOTE", { quoteId: quote.id, reason: "recipients_mismatch" });
    }
    if (recipients.length > terms.mostRecipients) {
      const message = `at most ${terms.mostRecipients} recipients`;
      throw new PaymentError("VALIDATION_ERROR", { fields: [{ path: "recipients", message }] });
    }
    await refuseOwnAddresses(recipients, declared.sender);
    await checkRecipientsOnChain(ledger, recipients);
    await checkSender(declared.sender as Address);
    await checkSmallest(assets.named(quote.outputMint), declared);
    await screenParties(terms.screen, declared.sender, recipients);

    const [cost, { funds }] = await Promise.all([
      costOf(quote, recipients.length),
      ledger.funds([sponsor], [], "confirmed"),
    ]).catch(unlessReachable);
    const worstCase = sponsorCap(cost);

    const createdAt = clock.now();
    const id = newId("tx", createdAt, random);
    const key = { masterVersion: keys.newestVersion, transactionId: id };
    const address = keys.address(key);
    // Derived a second time: an address whose key cannot be brought back is never shown to anybody.
    if (keys.address(key) !== address) throw new Error("a deposit address did not derive to itself");

    const transaction: TransactionRecord = {
      id,
      accountId: caller.accountId,
      quoteId: quote.id,
      type: declared.type,
      mode: "private",
      sender: declared.sender,
      mint: quote.outputMint,
      feeMint: quote.feeMint,
      depositAddress: address,
      reference: declared.reference,
      requestHash,
      status: "pending",
      reason: null,
      signature: null,
      blockTime: null,
      fee: null,
      landedAfterCancel: false,
      attention: null,
      landedSignature: null,
      broadcastAt: null,
      cancelledAt: null,
      createdAt,
    };
    const deposit: DepositRecord = {
      id: address,
      transactionId: id,
      accountId: caller.accountId,
      masterVersion: key.masterVersion,
      mint: quote.inputMint,
      amount: quote.inputAmount,
      expiresAt: createdAt + terms.depositWindowMs,
      waitEndedAt: null,
      heldReason: null,
      createdAt,
    };
    const reservation: ReservationRecord = {
      id,
      version: 1,
      resource: sponsorPurse(sponsor),
      amount: worstCase,
      createdAt,
      lapsesAt: null,
      releasedAt: null,
    };
    const { depositWindowMs, mostSpentPerDay } = terms;
    const share = await shareOfDay(
      storage,
      { transactionId: id, sponsor, cost, depositWindowMs },
      { mostPerDay: mostSpentPerDay, now: createdAt },
    );
    const shares = transfers.map(({ recipient, amount }, index): RecipientRecord => {
      const { accountId } = caller;
      const leg = { transactionId: id, accountId, createdAt, index, address: recipient, amount };
      return { ...leg, id: `${id}:${index}`, status: "unpaid", signature: null };
    });
    const held = funds[0]?.lamports ?? 0n;
    const limited: PaymentWrite[] = [
      { table: "deposits", insert: deposit, atMost: { count: MOST_WAITING[caller.tier] } },
      { table: "reservations", insert: reservation, atMost: { total: held } },
      reserveShare(reservation, caller, held),
      share.take,
    ];
    const unlimited: PaymentWrite[] = [
      // First: a request that lost the quote to another one is told so, also where the other one took the last room.
      { table: "quotes", id: quote.id, set: { usedBy: id }, expectedVersion: quote.version },
      ...share.makeRoom,
    ];
    const writes: PaymentWrite[] = [
      ...unlimited,
      ...limited,
      { table: "transactions", insert: transaction },
      ...shares.map((insert) => ({ table: "recipients" as const, insert })),
    ];
    const fee = quote.networkFee + quote.routingFee + quote.rent;
    const starts = [
      startOf(orders, id, { depositAddress: address, fee: String(fee) }),
      startOf(addresses, address, {
        address,
        order: id,
        mint: quote.inputMint,
        required: String(quote.inputAmount),
        smallest: Object.fromEntries(assets.tokens.map((each) => [each.mint, String(smallestAmount(each))])),
        rentMint: SOL_MINT,
        expiresAt: deposit.expiresAt,
        lingerMs: LINGER_MS,
        agingMs: AGING_MS,
        quietMs: QUIET_MS,
        slowMs: SLOW_MS,
        refundPauseMs: REFUND_PAUSE_MS,
        sponsorCap: String(worstCase),
        isScreened: terms.screen !== null,
      }),
    ];
    return {
      body: createdOrderBody(transaction, deposit, assets),
      commit: async (more) => {
        const result = await commit({ starts, writes: [...writes, ...more] });
        if (
          !result.ok &&
          result.conflict === "write" &&
          writes[result.index] !== undefined &&
          result.index >= unlimited.length &&
          result.index < unlimited.length + limited.length
        ) {
          throw new PaymentError("ROUTING_UNAVAILABLE", { reason: "capacity", retryAfter: RETRY_SECONDS });
        }
        return result.ok;
      },
    };
  };
}

/** What was answered when the order was taken; the same at every replay. */
export function createdOrderBody(
  { id, createdAt }: Pick<TransactionRecord, "id" | "createdAt">,
  deposit: DepositRecord,
  assets: Assets,
): CreatedOrderBody {
  return {
    transactionId: id,
    status: "pending",
    mode: "private",
    ...depositBody(deposit, assets),
    createdAt: isoTime(createdAt),
  };
}

function badSender(message: string): PaymentError {
  return new PaymentError("VALIDATION_ERROR", { fields: [{ path: "sender", message }] });
}

function unlessReachable(error: unknown): never {
  if (!(error instanceof LedgerUnavailable)) throw error;
  throw new PaymentError(
    "ROUTING_UNAVAILABLE",
    { reason: "upstream", retryAfter: RETRY_SECONDS },
    { cause: error },
  );
}
