/** Builds private mode from its options: the machines, their effects and their watchers. */
import type { PaymentContext } from "../payments/payment-storage.ts";
import type { z } from "zod";
import type { AnnounceEffect } from "../payments/frame/notices/notice-writes.ts";
import type { paymentServiceOptions } from "./payment-service-options.ts";
import { askedSigner } from "../payments/frame/asked-signer.ts";
import type { AskPart } from "../payments/frame/host-parts.ts";
import type { Swapper } from "../payments/frame/exchange/swap-provider.ts";
import { openSponsorAccounts } from "../payments/frame/purses/open-sponsor-accounts.ts";
import { checkPurses, refuseSharedPurses } from "../payments/frame/purses/check-purses.ts";
import type { DepositKeys } from "../payments/frame/secrets/deposit-keys.ts";
import { askedPrices, refuseFixedPrices } from "../payments/frame/prices/prices.ts";
import { GuardedPriceSource } from "../payments/frame/prices/guarded-prices.ts";
import { OrderConcluder } from "../payments/private/conclude-look.ts";
import { orderWorkflow, type RecordEnd } from "../payments/private/order-workflow.ts";
import { planTransfer } from "../payments/private/plan-transfer.ts";
import type { PrivateRouting } from "../payments/private/private-routing.ts";
import { orderScreening } from "../payments/private/screen-order.ts";
import { transferWorkflow, type TransferWorkflow } from "../payments/private/transfer-workflow.ts";
import { watchAttempts } from "../payments/private/watch-attempts.ts";
import { type OrderMemory, OrderWatch } from "../payments/private/watch-orders.ts";
import { PrivatePricing, type PrivateRoutingRules } from "../payments/private/private-pricing.ts";
import { keepingAnswers } from "../payments/frame/recipients/kept-answers.ts";
import type { ScreenAddress } from "../payments/frame/recipients/recipients.ts";

type CheckedOptions = NonNullable<z.output<typeof paymentServiceOptions>["privateRouting"]>;

/** Private mode as the options have it, or null when it is off. */
export function openPrivateRouting(
  options: CheckedOptions | undefined,
  shared: Omit<PrivateRoutingParts, "terms">,
): PrivateRouting | null {
  if (options === undefined) return null;
  const { sponsor, feeBps, depositWindowMs, maxRentPerByte } = options;
  const { ask } = shared;
  const prices = askedPrices(options.prices, "price source", ask);
  const terms: PrivateRoutingRules = {
    sponsor: askedSigner(sponsor, "signer of the sponsor", ask),
    feeBps,
    depositWindowMs,
    maxRentPerByte,
    treasury: options.treasury,
    prices: new GuardedPriceSource(prices, options.priceBounds, shared.clock),
    maxPriceMoveBps: options.priceBounds.maxDeviationBps,
    mostRecipients: options.maxRecipients,
    mostSpentPerDay: options.maxSponsorSpendPerDay ?? null,
    mostRaisedPerDay: options.maxRaisedBidsPerDay,
    lowBalance: options.lowBalance ?? null,
    screen:
      options.screen === undefined ? null : keepingAnswers(askedScreen(options.screen, ask), shared.clock),
  };
  return createPrivateRouting({ terms, ...shared });
}

function askedScreen(screen: ScreenAddress, ask: AskPart): ScreenAddress {
  return (address, as) => ask("screen", (signal) => screen(address, as, signal));
}

/** Once it has its deposit, an order hears from its transfers: more money, and other copies, have time. */
const ACTIVE_PACE = 5;
/** An order that is over is looked at this often after a quarter of an hour, and this often after a day. */
const LATE_INTERVAL_MS = 5 * 60_000;
const SLOW_INTERVAL_MS = 60 * 60_000;

interface PrivateRoutingParts extends PaymentContext {
  readonly ask: AskPart;
  readonly terms: PrivateRoutingRules;
  readonly keys: DepositKeys;
  readonly intervalMs: number;
  readonly announce: AnnounceEffect;
  readonly recordEnd: RecordEnd;
  /** Null while no swap provider is configured. */
  readonly swapper: Swapper | null;
}

function createPrivateRouting({
  terms,
  keys,
  intervalMs,
  announce,
  recordEnd,
  ...shared
}: PrivateRoutingParts): PrivateRouting {
  const { ledger, clock, assets } = shared;
  const { prices, treasury, screen } = terms;
  const sponsor = terms.sponsor.address;
  const canSwap = (shared.swapper?.direct ?? null) !== null;
  refuseSharedPurses({ sponsor, treasury, desk: shared.swapper?.direct?.signer.address ?? null });
  const pricing = new PrivatePricing(terms, ledger);
  // Orders and transfers start each other.
  const plan = planTransfer((): TransferWorkflow => transfers, clock);
  const acting = { ...shared, ...terms, keys, plan, screenOrder: orderScreening({ ...shared, screen }) };
  const transfers = transferWorkflow(acting);
  const orders = orderWorkflow({ concluder: new OrderConcluder(acting), recordEnd, announce });
  const watching = { ...shared, intervalMs };
  const closely: OrderMemory = new Map();
  return {
    terms,
    keys,
    pricing,
    orders,
    transfers,
    plan,
    canSwap,
    workflows: [orders, transfers],
    watchers: {
      attempts: watchAttempts(watching),
      orders: new OrderWatch(shared, intervalMs, closely),
      activeOrders: new OrderWatch(shared, ACTIVE_PACE * intervalMs, closely),
      lateOrders: new OrderWatch(shared, LATE_INTERVAL_MS),
      slowOrders: new OrderWatch(shared, SLOW_INTERVAL_MS),
    },
    check: (genesisHash) => refuseFixedPrices(genesisHash, prices, "privateRouting.prices"),
    warn: async () => {
      const dearestSend = (): Promise<bigint> => pricing.dearestSend(assets);
      await openSponsorAccounts({ ...shared, ...terms });
      return checkPurses({
        ...shared,
        sponsor,
        treasury,
        mostSpentPerDay: terms.mostSpentPerDay,
        dearestSend,
      });
    },
  };
}
