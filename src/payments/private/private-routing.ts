/** Private mode put together: what it is given, and the use cases and workflows it consists of. */
import type { AnnounceParams } from "../../../machines/index.ts";
import type { PaymentTables, QuoteRecord } from "../records.ts";
import type { PrivateRoutingOptions } from "../../payment-service-options.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import type { Address } from "../../address.ts";
import { SOL_MINT } from "../../address.ts";
import type { AnyWorkflow, EffectHandler, Watcher } from "../../engine/index.ts";
import { PaymentError } from "../../errors.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Signer } from "../../ledger/sign-transaction.ts";
import type { Clock, Logger } from "../../runtime.ts";
import { exchangeRouting } from "../swap/route-exchange.ts";
import type { Exchanger } from "../swap/swap-provider.ts";
import { ledgerMint } from "../assets.ts";
import type { Assets, Token } from "../assets.ts";
import { priceCheck } from "../swap/price-check.ts";
import { checkPurses } from "./check-purses.ts";
import { depositAddressWorkflow } from "./deposit-address-workflow.ts";
import type { DepositAddressWorkflow } from "./deposit-address-workflow.ts";
import type { DepositKeys } from "./deposit-keys.ts";
import { GuardedPrices } from "./guarded-prices.ts";
import type { CheckedPriceBounds } from "./guarded-prices.ts";
import { PaymentEffects } from "./payment-effects.ts";
import { paymentWorkflow } from "./payment-workflow.ts";
import { paymentStarter } from "./planned-payment.ts";
import type { PaymentWorkflow } from "./planned-payment.ts";
import { worthAtMost } from "./prices.ts";
import type { PriceSource } from "./prices.ts";
import { privateTransferWorkflow } from "./private-transfer-workflow.ts";
import type { PrivateTransferWorkflow } from "./private-transfer-workflow.ts";
import { PayoutRouting } from "./route-order.ts";
import { routingCost } from "./routing-cost.ts";
import { spendingCheck } from "./unknown-spending.ts";
import { refuseFixedPrices } from "./refuse-fixed-prices.ts";
import { refuseSharedPurses } from "./refuse-shared-purses.ts";
import { refundCosts } from "./refund-cost.ts";
import { returnTokens } from "./return-tokens.ts";
import { payersScreening } from "./screen-payers.ts";
import { recipientsScreening, screenedRouting } from "./screen-recipients.ts";
import type { Screen } from "./screening.ts";
import { AddressSettling } from "./settle-address.ts";
import { leafStarter } from "./start-leaves.ts";
import { watchAttempts } from "./watch-attempts.ts";
import { watchDeposits } from "./watch-deposits.ts";
import { watchStrays } from "./watch-strays.ts";

/** How private mode is run. */
export interface PrivateRoutingTerms {
  /** Pays network fees and rent. */
  readonly sponsor: Signer;
  /** Receives the fees. */
  readonly treasury: Address;
  readonly prices: PriceSource;
  /** Routing fee in hundredths of a percent of what the recipients get. */
  readonly feeBps: number;
  readonly depositWindowMs: number;
  readonly mostRecipients: number;
  /** Lamports that the sponsor may spend within 24 hours, null without a limit. */
  readonly mostSpentPerDay: bigint | null;
  /** Lamports below which the sponsor is low, null for what twenty sends may take. */
  readonly lowBalance: bigint | null;
  /** Lamports; see `PrivateRoutingOptions`. */
  readonly maxMarkerRent: bigint;
  /** Null when the host screens nobody. */
  readonly screen: Screen | null;
}

/** What private mode polls the chain for. */
type WatchKind = "attempts" | "deposits" | "recentDeposits" | "lateDeposits" | "slowDeposits";

/** What private mode adds to the service. */
export interface PrivateRouting {
  readonly terms: PrivateRoutingTerms;
  readonly keys: DepositKeys;
  readonly orders: PrivateTransferWorkflow;
  readonly addresses: DepositAddressWorkflow;
  readonly workflows: readonly AnyWorkflow[];
  readonly watchers: Readonly<Record<WatchKind, Watcher>>;
  /** Throws `StartRefused` for prices that never move on mainnet; warns of what is missing to begin with. */
  check(genesisHash: string): Promise<void>;
  /** The fee of a same-asset quote, in the asset itself. */
  price(
    asset: Token,
    amount: bigint,
    recipients: readonly Address[] | null,
  ): Promise<Pick<QuoteRecord, "networkFee" | "routingFee" | "rent" | "pricedAccounts">>;
}

/** The options with their defaults. */
type CheckedOptions = Readonly<
  Required<Omit<PrivateRoutingOptions, "screen" | "priceBounds" | "maxSponsorSpendPerDay" | "lowBalance">>
> & {
  readonly screen?: Screen | undefined;
  /** In lamports. */
  readonly maxSponsorSpendPerDay?: bigint | undefined;
  readonly lowBalance?: bigint | undefined;
  readonly priceBounds: CheckedPriceBounds;
};

/** Private mode as the options have it, or null when it is off. */
export function openPrivateRouting(
  options: CheckedOptions | undefined,
  shared: Omit<Parameters<typeof createPrivateRouting>[0], "terms">,
): PrivateRouting | null {
  if (options === undefined) return null;
  const { sponsor, feeBps, depositWindowMs, maxMarkerRent } = options;
  const terms: PrivateRoutingTerms = {
    ...{ sponsor, feeBps, depositWindowMs, maxMarkerRent },
    treasury: options.treasury as Address,
    prices: new GuardedPrices(options.prices, options.priceBounds, shared.clock),
    mostRecipients: options.maxRecipients,
    mostSpentPerDay: options.maxSponsorSpendPerDay ?? null,
    lowBalance: options.lowBalance ?? null,
    screen: options.screen ?? null,
  };
  return createPrivateRouting({ terms, ...shared });
}

/**
 * An address whose order is over is looked at this often: nobody waits for it, a refund takes ten minutes at the least,
 * and every order that ever was is one of these for a day.
 */
const LATE_INTERVAL_MS = 5 * 60_000;
/** And in the slow lane this often. */
const SLOW_INTERVAL_MS = 60 * 60_000;
const BPS = 10_000n;

function createPrivateRouting({
  terms,
  keys,
  intervalMs,
  announce,
  ...shared
}: {
  readonly terms: PrivateRoutingTerms;
  readonly keys: DepositKeys;
  readonly intervalMs: number;
  readonly announce: EffectHandler<AnnounceParams, never, PaymentTables>;
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Logger;
  readonly assets: Assets;
  /** Null while no swap provider is configured. */
  readonly exchanger: Exchanger | null;
}): PrivateRouting {
  const { ledger } = shared;
  const { prices, feeBps, treasury } = terms;
  const sponsor = terms.sponsor.address;
  const direct = shared.exchanger?.direct ?? null;
  refuseSharedPurses({ sponsor, treasury, desk: direct?.signer.address ?? null });
  const cosigners = direct === null ? [] : [direct.signer];
  const hasPaidWithoutUs = spendingCheck(shared);
  const startPayment = paymentStarter((): PaymentWorkflow => payments, shared.clock);
  const startLeaves = leafStarter({ ...shared, sponsor, startPayment });
  const payments = paymentWorkflow(
    new PaymentEffects({
      ...{ ...shared, keys, sponsor: terms.sponsor, treasury, cosigners, hasPaidWithoutUs, startLeaves },
      maxMarkerRent: terms.maxMarkerRent,
      isPriceGood: priceCheck(shared),
    }),
  );
  const routed = { ...shared, keys, sponsor, startPayment };
  const screening = { ...shared, screen: terms.screen };
  const routing = exchangeRouting(routed, new PayoutRouting(routed));
  const orders = privateTransferWorkflow(screenedRouting(routing, recipientsScreening(screening)), announce);
  const mayServePayers = payersScreening(screening, [sponsor]);
  const refundCost = refundCosts({ ledger, prices, sponsor, treasury });
  const addresses = depositAddressWorkflow(
    new AddressSettling({ ...routed, treasury, refundCost, mayServePayers }),
    returnTokens(routed),
    mayServePayers,
    async (address) => (await shared.storage.deposits([address]))[0]?.transactionId ?? "",
  );
  const watching = { ...shared, hasPaidWithoutUs };
  return {
    terms,
    keys,
    orders,
    addresses,
    workflows: [orders, addresses, payments],
    watchers: {
      attempts: watchAttempts({ ...shared, intervalMs }),
      deposits: watchStrays(watchDeposits({ ...watching, intervalMs }), shared),
      recentDeposits: watchDeposits({ ...watching, intervalMs }),
      lateDeposits: watchDeposits({ ...watching, intervalMs: LATE_INTERVAL_MS }),
      slowDeposits: watchDeposits({ ...watching, intervalMs: SLOW_INTERVAL_MS }),
    },
    async check(genesisHash) {
      refuseFixedPrices(genesisHash, prices, "privateRouting.prices");
      await checkPurses({ ...shared, sponsor, treasury, mostSpentPerDay: terms.mostSpentPerDay });
    },
    async price(asset, amount, recipients) {
      const mint = ledgerMint(asset);
      const present =
        mint === null || recipients === null ? [] : await ledger.haveTokenAccounts(recipients, mint);
      // Nobody named: priced for one, who may need an account.
      const pricedAccounts =
        mint === null ? 0 : recipients === null ? 1 : present.filter((has) => !has).length;
      const cost = await routingCost(ledger, { sponsor, treasury }, asset, {
        recipients: recipients?.length ?? 1,
        pricedAccounts,
      });
      const rate = mint === null ? { give: 1n, get: 1n } : await rateOf(prices, asset.mint);
      return {
        networkFee: worthAtMost(cost.networkFees, rate),
        rent: worthAtMost(cost.accountRent, rate),
        routingFee: (amount * BigInt(feeBps) + BPS - 1n) / BPS,
        pricedAccounts,
      };
    },
  };
}

async function rateOf(prices: PriceSource, mint: string): ReturnType<PriceSource["rate"]> {
  try {
    return await prices.rate(SOL_MINT, mint);
  } catch (cause) {
    throw new PaymentError("ROUTING_UNAVAILABLE", { reason: "upstream", retryAfter: 30 }, { cause });
  }
}
