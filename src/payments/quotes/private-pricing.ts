/** The price of private mode: what routing an order costs, in the asset that is deposited. */
import { type Address, SOL_MINT } from "../../address.ts";
import { formatAmount } from "../../amount.ts";
import { PaymentError } from "../../errors.ts";
import type { RoutingLedger } from "../../ledger/routing.ts";
import type { Signer } from "../../ledger/sign-transaction.ts";
import { ledgerMint, type Token } from "../assets/assets.ts";
import { routingCost, type RoutingCost } from "../outgoing/plans/routing-cost.ts";
import { dearestWithin, worthAtMost, type PriceSource, type Rate } from "../prices/prices.ts";
import { mostNetworkFees } from "../purses/sponsor-allowance.ts";
import type { QuoteRecord } from "../tables/orders.ts";
import type { ScreenAddress } from "../recipients/recipients.ts";

/** Terms of private mode. */
export interface PrivateRoutingRules {
  /** Pays network fees and rent. */
  readonly sponsor: Signer;
  /** Receives the fees. */
  readonly treasury: Address;
  readonly prices: PriceSource;
  /** The largest move of a price from the last accepted price, in hundredths of a percent. */
  readonly maxPriceMoveBps: number;
  /** Routing fee in hundredths of a percent of what the recipients get. */
  readonly feeBps: number;
  readonly depositWindowMs: number;
  readonly mostRecipients: number;
  /** Lamports that the sponsor may spend within 24 hours, null without a limit. */
  readonly mostSpentPerDay: bigint | null;
  /** Lamports that bids above what customers pay may be within 24 hours. */
  readonly mostRaisedPerDay: bigint;
  /** Lamports below which the sponsor is low, null for what fifty sends may take. */
  readonly lowBalance: bigint | null;
  /** Lamports; see `PrivateRoutingOptions`. */
  readonly maxMarkerRent: bigint;
  /** Null when the host does not screen. */
  readonly screen: ScreenAddress | null;
}

/** Hundredths of a percent in a whole. */
export const BPS = 10_000n;

/** The fee of a same-asset quote, in base units of the asset itself. */
export type PrivateFees = Pick<QuoteRecord, "networkFee" | "routingFee" | "rent" | "pricedAccounts">;

export class PrivatePricing {
  readonly terms: PrivateRoutingRules;
  readonly #ledger: RoutingLedger;

  constructor(terms: PrivateRoutingRules, ledger: RoutingLedger) {
    this.terms = terms;
    this.#ledger = ledger;
  }

  /** Without `recipients` the price is for one, who may need a token account. */
  async price(asset: Token, amount: bigint, recipients: readonly Address[] | null): Promise<PrivateFees> {
    const { feeBps, treasury, sponsor } = this.terms;
    const pricedAccounts = await this.#accountsToMake(asset, recipients);
    const parties = { sponsor: sponsor.address, treasury };
    const cost = await routingCost(this.#ledger, parties, {
      asset,
      recipients: recipients?.length ?? 1,
      pricedAccounts,
      bid: "estimate",
    });
    const fees = feesOf(cost, await dearestRateOfSol(this.terms, asset.mint), { amount, feeBps });
    if (fees.smallest > amount) throw tooSmall(asset, fees.smallest);
    const { networkFee, rent, routingFee } = fees;
    return { networkFee, rent, routingFee, pricedAccounts };
  }

  async #accountsToMake(asset: Token, recipients: readonly Address[] | null): Promise<number> {
    const mint = ledgerMint(asset);
    if (mint === null) return 0;
    if (recipients === null) return 1;
    return (await this.#ledger.haveTokenAccounts(recipients, mint)).filter((has) => !has).length;
  }
}

/** The worth of a lamport in an asset. Throws `ROUTING_UNAVAILABLE` while no price is known. */
export async function rateOfSol(prices: PriceSource, mint: string): ReturnType<PriceSource["rate"]> {
  if (mint === SOL_MINT) return { give: 1n, get: 1n };
  try {
    return await prices.rate(SOL_MINT, mint);
  } catch (cause) {
    throw new PaymentError("ROUTING_UNAVAILABLE", { reason: "upstream", retryAfter: 30 }, { cause });
  }
}

/** The worth of a lamport at the dearest price within the bound: a fee is fixed now, and paid out of later. */
export async function dearestRateOfSol(
  { prices, maxPriceMoveBps }: Pick<PrivateRoutingRules, "prices" | "maxPriceMoveBps">,
  mint: string,
): Promise<Rate> {
  const rate = await rateOfSol(prices, mint);
  return mint === SOL_MINT ? rate : dearestWithin(rate, maxPriceMoveBps);
}

/**
 * The least fee of an order for the sponsor's money that it binds for a while, in hundredths of a percent of that
 * money.
 */
const BINDING_BPS = 25n;

/** The fees of an order in base units of what is deposited, and the smallest amount whose fee covers what it binds. */
export interface OrderFees {
  readonly networkFee: bigint;
  readonly rent: bigint;
  readonly routingFee: bigint;
  /** The smallest amount; zero when any amount is accepted, and when the operator takes no routing fee. */
  readonly smallest: bigint;
}

/**
 * The fee covers all that may be spent for good, but for bids above one raise. So an order costs the operator nothing else:
 * neither by recipients who close their accounts at the worst moment, nor by a price that moves within its bound.
 */
export function feesOf(
  cost: RoutingCost,
  rate: Rate,
  { amount, feeBps }: { readonly amount: bigint; readonly feeBps: number },
): OrderFees {
  const networkFee = worthAtMost(mostNetworkFees(cost), rate);
  const dueForBound = (cost.deposits * BINDING_BPS + BPS - 1n) / BPS;
  const missing = worthAtMost(dueForBound, rate) - networkFee;
  return {
    networkFee,
    rent: worthAtMost(cost.accountRent, rate),
    routingFee: (amount * BigInt(feeBps) + BPS - 1n) / BPS,
    smallest: missing <= 0n || feeBps === 0 ? 0n : (missing * BPS + BigInt(feeBps) - 1n) / BigInt(feeBps),
  };
}

/**
 * What is left of the customer's network fee for the bid of each transaction, in lamports: `cost` bids from the floor, and the
 * fee was priced from an estimate.
 */
export function paidBid(
  networkFee: bigint,
  { networkFees, tips, transactions }: Pick<RoutingCost, "networkFees" | "tips" | "transactions">,
  { give, get }: Rate,
): bigint {
  const left = (networkFee * give) / get - networkFees - tips;
  return left > 0n ? left / BigInt(transactions) : 0n;
}

/** Refuses an amount whose fee does not cover the order's reservations. */
export function tooSmall(asset: Token, smallest: bigint): PaymentError<"AMOUNT_TOO_SMALL"> {
  return new PaymentError("AMOUNT_TOO_SMALL", { minimum: formatAmount(smallest, asset.decimals) });
}
