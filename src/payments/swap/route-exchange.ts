/** Carrying out a funded private swap: priced at this very moment, and done in one transaction or not at all. */
import type { PaymentFault } from "../../../machines/index.ts";
import type { QuoteRecord } from "../records.ts";
import type { PaymentStorage, TransactionView } from "../payment-storage.ts";
import type { Address } from "../../address.ts";
import { PaymentError } from "../../errors.ts";
import { LedgerUnavailable } from "../../ledger/ledger.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Clock, Logger } from "../../runtime.ts";
import type { Assets } from "../assets/assets.ts";
import { refuseTooLarge } from "../assets/largest-sum.ts";
import { payeesOf } from "../outgoing/plans/plan-payouts.ts";
import type { StartPayment } from "../outgoing/planned-payment.ts";
import type { OrderRouting, Routed } from "../outgoing/order-routing.ts";
import { refuseUnknownSpending } from "../outgoing/unknown-spending.ts";
import { exchangePlan, freshExchangeMark } from "../outgoing/plans/plan-exchange.ts";
import { promisesAt, reserve } from "../swap-provider/reserve.ts";
import type { ExchangeOffer, Exchanger } from "../swap-provider/swap-provider.ts";

/**
 * How long after its deposit an order waits for a price that is good enough, or for liquidity. Then it is refunded: who
 * swaps would rather know than wait.
 */
const PATIENCE_MS = 5 * 60_000;

/** Why a swap was refunded without its payee being at fault. */
type Obstacle = "SLIPPAGE_EXCEEDED" | "LIQUIDITY_UNAVAILABLE";

/** Swaps are exchanged; every other order goes its own way. */
export function exchangeRouting(
  {
    storage,
    ledger,
    clock,
    log,
    assets,
    sponsor,
    startPayment,
    exchanger,
  }: {
    readonly storage: PaymentStorage;
    readonly ledger: Ledger;
    readonly clock: Clock;
    readonly log: Logger;
    readonly assets: Assets;
    readonly sponsor: Address;
    readonly startPayment: StartPayment;
    /** Null while no provider is configured. */
    readonly exchanger: Exchanger | null;
  },
  others: OrderRouting,
): OrderRouting {
  const load = async (transactionId: string): Promise<TransactionView> => {
    const view = await storage.transaction(transactionId);
    if (view === null) throw new Error(`transaction ${transactionId} is not stored`);
    return view;
  };

  /** Tried again for a while, and then refunded. */
  const notNow = async ({ transaction }: TransactionView, obstacle: Obstacle): Promise<Routed> => {
    const [deposit] = await storage.deposits([transaction.depositAddress ?? ""]);
    const waited = clock.now() - (deposit?.waitEndedAt ?? 0);
    return waited < PATIENCE_MS ? { event: { type: "NOT_NOW" } } : giveUp(obstacle);
  };

  const exchange = async (view: TransactionView, quote: QuoteRecord): Promise<Routed> => {
    const { transaction, recipients } = view;
    const [payee] = recipients;
    const direct = exchanger?.direct ?? null;
    if (payee === undefined) throw new Error(`swap ${transaction.id} has no recipient`);
    if (exchanger === null || direct === null) return notNow(view, "LIQUIDITY_UNAVAILABLE");
    const give = assets.named(quote.inputMint);
    const get = assets.named(quote.outputMint);
    const amount = quote.inputAmount - quote.networkFee - quote.routingFee - quote.rent;

    const now = clock.now();
    const promises = promisesAt(storage, now);
    let offer: ExchangeOffer;
    try {
      const { accountId } = transaction;
      offer = await exchanger.offer({ give, get, amount, accountId }, promises.promised);
      refuseTooLarge(offer.outputAmount, get);
    } catch (err) {
      // Nothing is known of the desk then; the task comes back by itself.
      if (err instanceof LedgerUnavailable) throw err;
      if (!(err instanceof PaymentError)) {
        log.warn({ transactionId: transaction.id, err }, "a swap provider gave no price for a funded swap");
      }
      return notNow(view, "LIQUIDITY_UNAVAILABLE");
    }
    const { outputAmount } = offer;
    if (outputAmount < quote.minOutputAmount) return notNow(view, "SLIPPAGE_EXCEEDED");

    const address = transaction.depositAddress as Address;
    const terms = { address, sponsor, rentMinimum: await ledger.rentMinimum(0) };
    const [paid] = await payeesOf(ledger, terms, get, [payee], quote.pricedAccounts);
    if (paid === undefined) throw new Error("one recipient is one payee");
    const mark = freshExchangeMark(view.payments);
    const legs = direct.moves({
      ...{ give, get, inputAmount: amount, outputAmount },
      ...{ from: address, to: paid.address, accountPayer: paid.accountPayer },
    });
    const held = (paymentId: string) =>
      reserve(paymentId, offer.reservations, { createdAt: now, lapsesAt: null });
    const { start, write, reserved } = startPayment({
      transactionId: transaction.id,
      address,
      kind: "exchange",
      mark,
      mint: get.mint,
      legs: [{ address: paid.address, amount: outputAmount }],
      plan: exchangePlan(terms, give, { amount, legs }),
      role: "payout",
      reserve: held,
    });
    return {
      event: { type: "ROUTED", payouts: 1, unpaid: 0 },
      starts: [start],
      writes: [
        ...promises.releaseLapsed(),
        write,
        // From here on it is no estimate any more.
        { table: "recipients", id: payee.id, set: { amount: outputAmount } },
        ...reserved,
      ],
    };
  };

  return {
    async route(transactionId) {
      const view = await load(transactionId);
      const { type, depositAddress, quoteId } = view.transaction;
      if (type !== "swap") return others.route(transactionId);
      await refuseUnknownSpending({ storage, ledger }, depositAddress ?? "");
      const quote = await storage.quote(quoteId);
      if (quote === null) throw new Error(`quote ${quoteId} is not stored`);
      return exchange(view, quote);
    },
    async reroute(transactionId, payment, fault) {
      const view = await load(transactionId);
      if (view.transaction.type !== "swap") return others.reroute(transactionId, payment, fault);
      if (isPayees(fault)) return giveUp(null);
      // Another payment of the order has landed, which its marker tells.
      if (fault?.kind === "superseded") return { event: { type: "ROUTED", payouts: 0, unpaid: 0 } };
      // Confirmed once and then undone by a fork: a status never goes back, so it is not begun again.
      if (view.transaction.status === "confirmed") return giveUp("LIQUIDITY_UNAVAILABLE");
      return notNow(view, "LIQUIDITY_UNAVAILABLE");
    },
  };
}

function isPayees(fault: PaymentFault | null): boolean {
  return fault?.kind === "payee";
}

/** Nothing was exchanged and nothing will be: the address gives everything back. */
function giveUp(reason: Obstacle | null): Routed {
  return { event: { type: "ROUTED", payouts: 0, unpaid: 1, ...(reason === null ? {} : { reason }) } };
}
