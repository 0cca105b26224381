/** Carrying out a funded private swap: priced at this very moment, and done in one transaction or not at all. */
import { depositAddressOf, termsOf } from "../outgoing/plans/routing-terms.ts";
import type { PaymentFault } from "../../../machines/private-messages.ts";
import type { QuoteRecord, RecipientRecord, TransactionView } from "../tables/orders.ts";
import type { Address } from "../../address.ts";
import { agingTime } from "../../clock-trust.ts";
import { PaymentError } from "../../errors.ts";
import { LedgerUnavailable } from "../../ledger/ledger.ts";
import type { Token } from "../assets/assets.ts";
import { refuseTooLarge } from "../assets/amount-errors.ts";
import type {
  OrderRouting,
  RoutingOutcome,
  PlannedPayment,
  StartPayment,
} from "../outgoing/planned-payment.ts";
import { swapPlan, freshSwapMark } from "../outgoing/plans/plan-swap.ts";
import { payeesOf } from "../outgoing/plans/plan-payouts.ts";
import { refuseUnknownSpending } from "../outgoing/unknown-spending.ts";
import { type ServiceContext, storageTime } from "../service-context.ts";
import { promisesAt, reserve, type ReservationState } from "../swap-provider/reserve.ts";
import type { SwapOffer, Swapper } from "../swap-provider/swap-provider.ts";

/**
 * How long after its deposit an order waits for a price that is good enough, or for liquidity. Then it is refunded: a
 * swap that is late is worth less to its sender than the money.
 */
const PATIENCE_MS = 5 * 60_000;

/** The reason why a swap was refunded without a fault of its payee. */
type Obstacle = "SLIPPAGE_EXCEEDED" | "LIQUIDITY_UNAVAILABLE";

interface SwapRoutingParts extends Omit<ServiceContext, "random"> {
  readonly sponsor: Address;
  readonly startPayment: StartPayment;
  /** Null while no provider is configured. */
  readonly swapper: Swapper | null;
}

/** The assets and amounts of a swap, without fees. */
interface SwapLegs {
  readonly give: Token;
  readonly get: Token;
  /** Base units of `give`. */
  readonly amount: bigint;
}

/** An acceptable offer, and its reservations. */
interface GoodOffer extends SwapLegs {
  readonly direct: NonNullable<Swapper["direct"]>;
  readonly offer: SwapOffer;
  readonly now: number;
  readonly promises: ReservationState;
}

/** Swaps are swapped; every other order goes its own way. */
export class SwapRouting implements OrderRouting {
  readonly #with: SwapRoutingParts;
  readonly #others: OrderRouting;

  constructor(parts: SwapRoutingParts, others: OrderRouting) {
    this.#with = parts;
    this.#others = others;
  }

  async route(transactionId: string): Promise<RoutingOutcome> {
    const { storage, ledger } = this.#with;
    const view = await this.#load(transactionId);
    const { type, quoteId } = view.transaction;
    if (type !== "swap") return this.#others.route(transactionId);
    await refuseUnknownSpending({ storage, ledger }, depositAddressOf(view.transaction));
    const quote = await storage.quote(quoteId);
    if (quote === null) throw new Error(`quote ${quoteId} is not stored`);
    const [payee] = view.recipients;
    if (payee === undefined) throw new Error(`swap ${transactionId} has no recipient`);
    const found = await this.#offerFor(view, quote);
    if (typeof found === "string") return this.#notNow(view, found);
    const { promises } = found;
    const { start, write, reserved } = await this.#begin(view, quote, { ...found, payee });
    return {
      event: { type: "ROUTED", payouts: 1, unpaid: 0 },
      starts: [start],
      writes: [
        ...promises.releaseLapsed(),
        write,
        // From now on the amount is no estimate.
        { table: "recipients", id: payee.id, set: { amount: found.offer.outputAmount } },
        ...reserved,
      ],
    };
  }

  async reroute(transactionId: string, payment: string, fault: PaymentFault | null): Promise<RoutingOutcome> {
    const view = await this.#load(transactionId);
    if (view.transaction.type !== "swap") return this.#others.reroute(transactionId, payment, fault);
    if (fault?.kind === "payee") return giveUp(null);
    // A rival payment of the order has landed, as its marker shows.
    if (fault?.kind === "superseded") return { event: { type: "ROUTED", payouts: 0, unpaid: 0 } };
    // Confirmed once and then undone by a fork: a status never goes back, so it is not begun again.
    if (view.transaction.status === "confirmed") return giveUp("LIQUIDITY_UNAVAILABLE");
    return this.#notNow(view, "LIQUIDITY_UNAVAILABLE");
  }

  async #load(transactionId: string): Promise<TransactionView> {
    const view = await this.#with.storage.transaction(transactionId);
    if (view === null) throw new Error(`transaction ${transactionId} is not stored`);
    return view;
  }

  /** The provider's price now, or what stands in the way of a good one. */
  async #offerFor({ transaction }: TransactionView, quote: QuoteRecord): Promise<GoodOffer | Obstacle> {
    const { storage, clock, log, assets, swapper } = this.#with;
    const direct = swapper?.direct ?? null;
    if (swapper === null || direct === null) return "LIQUIDITY_UNAVAILABLE";
    const give = assets.named(quote.inputMint);
    const get = assets.named(quote.outputMint);
    const amount = quote.inputAmount - quote.networkFee - quote.routingFee - quote.rent;
    const now = await storageTime(this.#with);
    const promises = promisesAt(storage, agingTime(clock, now));
    try {
      const { accountId } = transaction;
      const offer = await swapper.offer({ give, get, amount, accountId }, promises.promised);
      refuseTooLarge(offer.outputAmount, get);
      if (offer.outputAmount < quote.minOutputAmount) return "SLIPPAGE_EXCEEDED";
      return { give, get, amount, direct, offer, now, promises };
    } catch (err) {
      // Nothing is known of the desk then; the task comes back by itself.
      if (err instanceof LedgerUnavailable) throw err;
      if (!(err instanceof PaymentError)) {
        log.warn({ transactionId: transaction.id, err }, "a swap provider gave no price for a funded swap");
      }
      return "LIQUIDITY_UNAVAILABLE";
    }
  }

  async #begin(
    { transaction, payments }: TransactionView,
    { pricedAccounts }: QuoteRecord,
    found: GoodOffer & { readonly payee: RecipientRecord },
  ): Promise<ReturnType<StartPayment>> {
    const { ledger, sponsor, startPayment } = this.#with;
    const { give, get, amount, direct, offer, now, payee } = found;
    const { outputAmount, reservations } = offer;
    const terms = await termsOf({ ledger, sponsor }, depositAddressOf(transaction));
    const { address } = terms;
    const [paid] = await payeesOf(ledger, terms, { asset: get, recipients: [payee], pricedAccounts });
    if (paid === undefined) throw new Error("one recipient is one payee");
    const legs = direct.moves({
      give,
      get,
      inputAmount: amount,
      outputAmount,
      from: address,
      to: paid.address,
      accountPayer: paid.accountPayer,
    });
    const planned: PlannedPayment = {
      transactionId: transaction.id,
      address,
      kind: "swap",
      role: "payout",
      mark: freshSwapMark(payments),
      mint: get.mint,
      legs: [{ address: paid.address, amount: outputAmount }],
      plan: swapPlan(terms, give, { amount, legs }),
      reserve: (paymentId) => reserve(paymentId, reservations, { createdAt: now, lapsesAt: null }),
    };
    return startPayment(planned);
  }

  /** Tried again for a while, and then refunded. */
  async #notNow({ transaction }: TransactionView, obstacle: Obstacle): Promise<RoutingOutcome> {
    const { storage, clock } = this.#with;
    const [deposit] = await storage.deposits([transaction.depositAddress ?? ""]);
    const waited = clock.now() - (deposit?.waitEndedAt ?? 0);
    return waited < PATIENCE_MS ? { event: { type: "NOT_NOW" } } : giveUp(obstacle);
  }
}

/** Gives the swap up: the address returns everything. */
function giveUp(reason: Obstacle | null): RoutingOutcome {
  return { event: { type: "ROUTED", payouts: 0, unpaid: 1, ...(reason === null ? {} : { reason }) } };
}
