/** Builds private mode from its options: the machines, their effects and their watchers. */
import type { z } from "zod";
import { countedDeposit } from "../payments/deposit-context.ts";
import type { AnnounceEffect } from "../payments/notice-writes.ts";
import type { paymentServiceOptions } from "./payment-service-options.ts";
import { askedSigner } from "../payments/asked-signer.ts";
import type { AskPart } from "../payments/host-parts.ts";
import type { ServiceContext } from "../payments/service-context.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { SwapRouting } from "../payments/swap/route-swap.ts";
import type { Swapper } from "../payments/swap-provider/swap-provider.ts";
import { priceCheck } from "../payments/swap-provider/price-check.ts";
import { checkPurses, refuseSharedPurses } from "../payments/purses/check-purses.ts";
import { depositAddressWorkflow } from "../payments/private/deposit-address-workflow.ts";
import type { DepositKeys } from "../payments/secrets/deposit-keys.ts";
import { DepositNameQueue } from "../payments/private/deposit-names.ts";
import { askedPrices, refuseFixedPrices } from "../payments/prices/prices.ts";
import { GuardedPriceSource } from "../payments/prices/guarded-prices.ts";
import { PaymentEffects } from "../payments/outgoing/payment-effects.ts";
import { paymentWorkflow } from "../payments/outgoing/payment-workflow.ts";
import { paymentStarter, type PaymentWorkflow, leafStarter } from "../payments/outgoing/planned-payment.ts";
import { privateTransferWorkflow } from "../payments/private/private-transfer-workflow.ts";
import type { PrivateRouting } from "../payments/private/private-routing.ts";
import { PrivatePricing, type PrivateRoutingRules } from "../payments/quotes/private-pricing.ts";
import { PayoutRouting } from "../payments/private/route-order.ts";
import { declinableRouting } from "../payments/outgoing/declined.ts";
import { OtherCopyReader } from "../payments/outgoing/other-copy-payment.ts";
import { spendingCheck, type SpendingCheck } from "../payments/outgoing/unknown-spending.ts";
import { refundCosts } from "../payments/outgoing/plans/refund-cost.ts";
import { returnTokens } from "../payments/private/return-tokens.ts";
import { payersScreening } from "../payments/private/screen-payers.ts";
import { recipientsScreening, screenedRouting } from "../payments/private/screen-recipients.ts";
import { keepingAnswers } from "../payments/recipients/kept-answers.ts";
import type { ScreenAddress } from "../payments/recipients/recipients.ts";
import { boundSettlement } from "../payments/private/bound-settlement.ts";
import { SettlementEffects } from "../payments/private/settle-address.ts";
import { watchAttempts } from "../payments/outgoing/watch-attempts.ts";
import { LandingCache } from "../payments/outgoing/landing-cache.ts";
import { LookBudget } from "../payments/private/look-budget.ts";
import { DepositWatch } from "../payments/private/watch-deposits.ts";
import { StrayWatch } from "../payments/private/watch-strays.ts";

type CheckedOptions = NonNullable<z.output<typeof paymentServiceOptions>["privateRouting"]>;

/** Private mode as the options have it, or null when it is off. */
export function openPrivateRouting(
  options: CheckedOptions | undefined,
  shared: Omit<PrivateRoutingParts, "terms">,
): PrivateRouting | null {
  if (options === undefined) return null;
  const { sponsor, feeBps, depositWindowMs, maxMarkerRent } = options;
  const { ask } = shared;
  const prices = askedPrices(options.prices, "price source", ask);
  const terms: PrivateRoutingRules = {
    sponsor: askedSigner(sponsor, "signer of the sponsor", ask),
    feeBps,
    depositWindowMs,
    maxMarkerRent,
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

/**
 * An address whose order is over is looked at this often: no caller waits for it, a refund takes ten minutes at the least,
 * and every order that ever was is one of these for a day.
 */
const LATE_INTERVAL_MS = 5 * 60_000;
/** And in the slow lane this often. */
const SLOW_INTERVAL_MS = 60 * 60_000;

interface PrivateRoutingParts extends Omit<ServiceContext, "random"> {
  readonly ask: AskPart;
  readonly terms: PrivateRoutingRules;
  readonly keys: DepositKeys;
  readonly intervalMs: number;
  readonly announce: AnnounceEffect;
  /** The ledger with its own number of witnesses, not the one an operator has lowered it to. */
  readonly configured: Pick<Ledger, "heights">;
  /** Null while no swap provider is configured. */
  readonly swapper: Swapper | null;
}

function createPrivateRouting({
  terms,
  keys,
  intervalMs,
  announce,
  ...shared
}: PrivateRoutingParts): PrivateRouting {
  const { ledger } = shared;
  const { prices, treasury } = terms;
  const sponsor = terms.sponsor.address;
  const direct = shared.swapper?.direct ?? null;
  refuseSharedPurses({ sponsor, treasury, desk: direct?.signer.address ?? null });
  const cosigners = direct === null ? [] : [direct.signer];
  const checked = spendingCheck(shared);
  const landings = new LandingCache();
  const startPayment = paymentStarter((): PaymentWorkflow => payments, shared.clock);
  const startLeaves = leafStarter({ ...shared, sponsor, startPayment });
  const payments = paymentWorkflow(
    new PaymentEffects({
      ...shared,
      ...terms,
      keys,
      cosigners,
      spendingCheck: checked,
      landings,
      startLeaves,
      isPriceGood: priceCheck(shared),
    }),
  );
  const routed = { ...shared, keys, sponsor, startPayment };
  const screening = { ...shared, screen: terms.screen };
  const routing = new SwapRouting(routed, new PayoutRouting(routed));
  const screened = screenedRouting(routing, recipientsScreening(screening));
  const declinable = declinableRouting(shared.storage, screened, new OtherCopyReader(routed));
  const orders = privateTransferWorkflow(declinable, announce);
  const mayServePayers = payersScreening(screening, [sponsor]);
  const refundCost = refundCosts({ ledger, prices, sponsor, treasury });
  const addresses = depositAddressWorkflow({
    settlement: boundSettlement(new SettlementEffects({ ...routed, treasury, refundCost, mayServePayers }), {
      ...routed,
      treasury,
    }),
    sendBack: returnTokens(routed),
    mayServePayers,
    orderOf: async (address) => (await shared.storage.deposits([address]))[0]?.transactionId ?? "",
    versionOf: async (address) => (await countedDeposit(shared.storage, address)).version,
  });
  return {
    terms,
    pricing: new PrivatePricing(terms, ledger),
    keys,
    orders,
    addresses,
    workflows: [orders, addresses, payments],
    ...watchingOf({ ...shared, spendingCheck: checked }, intervalMs),
    check: (genesisHash) => refuseFixedPrices(genesisHash, prices, "privateRouting.prices"),
    landings: () => landings.figures(),
    warn: () => checkPurses({ ...shared, sponsor, treasury, mostSpentPerDay: terms.mostSpentPerDay }),
  };
}

interface WatchingParts extends Omit<ServiceContext, "random"> {
  readonly spendingCheck: SpendingCheck;
}

/** The closer an address is to its deposit, the more often it is looked at. */
function watchingOf(
  watching: WatchingParts,
  intervalMs: number,
): Pick<PrivateRouting, "watchers" | "permittedDeposits"> {
  const budget = new LookBudget(watching.ledger);
  const names = new DepositNameQueue(watching);
  const deposits = (kind: string, everyMs: number): DepositWatch =>
    new DepositWatch({ ...watching, budget, names }, { kind, intervalMs: everyMs });
  const whole = (kind: string): StrayWatch => new StrayWatch(deposits(kind, intervalMs), watching);
  const watchers = {
    attempts: watchAttempts({ ...watching, intervalMs }),
    deposits: whole("deposits"),
    recentDeposits: whole("recentDeposits"),
    lateDeposits: deposits("lateDeposits", LATE_INTERVAL_MS),
    slowDeposits: deposits("slowDeposits", SLOW_INTERVAL_MS),
  };
  return { watchers, permittedDeposits: () => budget.permitted() };
}
