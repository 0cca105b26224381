/** Builds private mode from its options: the machines, their effects and their watchers. */
import type { AnnounceEffect } from "../frame/notices/notice-writes.ts";
import type { PrivateOptions } from "./private-routing-options.ts";
import type { PrivateContext } from "./private-storage.ts";
import { askedSigner } from "../frame/asked-signer.ts";
import type { AskPart } from "../frame/host-parts.ts";
import type { Swapper } from "../frame/exchange/swap-provider.ts";
import { openSponsorAccounts } from "../frame/purses/open-sponsor-accounts.ts";
import { checkPurses, refuseSharedPurses } from "../frame/purses/check-purses.ts";
import type { DepositKeys } from "../frame/secrets/deposit-keys.ts";
import { askedPrices, refuseFixedPrices } from "../frame/prices/prices.ts";
import { GuardedPriceSource } from "../frame/prices/guarded-prices.ts";
import { OrderConcluder } from "./conclude-look.ts";
import { orderWorkflow, type RecordEnd } from "./order-workflow.ts";
import { planTransfer } from "./plan-transfer.ts";
import type { PrivateRouting } from "./private-routing.ts";
import { orderScreening } from "./screen-order.ts";
import { transferWorkflow, type TransferWorkflow } from "./transfer-workflow.ts";
import { watchAttempts } from "./watch-attempts.ts";
import { type OrderMemory, OrderWatch } from "./watch-orders.ts";
import { PrivatePricing, type PrivateRoutingRules } from "./private-pricing.ts";
import { keepingAnswers } from "../frame/recipients/kept-answers.ts";
import type { ScreenAddress } from "../frame/recipients/recipients.ts";

/** Private mode as the options have it, or null when it is off. */
export function openPrivateRouting(
  options: PrivateOptions["privateRouting"],
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

interface PrivateRoutingParts extends PrivateContext {
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
