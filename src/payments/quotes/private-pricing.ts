/** The price of private mode: what routing an order costs, in the asset that is deposited. */
import { type Address, SOL_MINT } from "../../address.ts";
import { PaymentError } from "../../errors.ts";
import type { RoutingLedger } from "../../ledger/routing.ts";
import type { Signer } from "../../ledger/sign-transaction.ts";
import { ledgerMint, type Token } from "../assets/assets.ts";
import { routingCost } from "../outgoing/plans/routing-cost.ts";
import { worthAtMost, type PriceSource } from "../prices/prices.ts";
import type { QuoteRecord } from "../records.ts";
import type { Screen } from "../recipients/screening.ts";

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
  /** Lamports below which the sponsor is low, null for what fifty sends may take. */
  readonly lowBalance: bigint | null;
  /** Lamports; see `PrivateRoutingOptions`. */
  readonly maxMarkerRent: bigint;
  /** Null when the host does not screen. */
  readonly screen: Screen | null;
}

/** Hundredths of a percent in a whole. */
export const BPS = 10_000n;

/** The fee of a same-asset quote, in base units of the asset itself. */
export type PrivateFees = Pick<QuoteRecord, "networkFee" | "routingFee" | "rent" | "pricedAccounts">;

/** Prices sends and payrolls of private mode. */
export class PrivatePricing {
  readonly terms: PrivateRoutingTerms;
  readonly #ledger: RoutingLedger;

  constructor(terms: PrivateRoutingTerms, ledger: RoutingLedger) {
    this.terms = terms;
    this.#ledger = ledger;
  }

  /** Without `recipients` the price is for one, who may need a token account. */
  async price(asset: Token, amount: bigint, recipients: readonly Address[] | null): Promise<PrivateFees> {
    const { prices, feeBps, treasury, sponsor } = this.terms;
    const pricedAccounts = await this.#accountsToMake(asset, recipients);
    const parties = { sponsor: sponsor.address, treasury };
    const cost = await routingCost(this.#ledger, parties, {
      asset,
      recipients: recipients?.length ?? 1,
      pricedAccounts,
    });
    const rate = await rateOfSol(prices, asset.mint);
    return {
      networkFee: worthAtMost(cost.networkFees, rate),
      rent: worthAtMost(cost.accountRent, rate),
      routingFee: (amount * BigInt(feeBps) + BPS - 1n) / BPS,
      pricedAccounts,
    };
  }

  async #accountsToMake(asset: Token, recipients: readonly Address[] | null): Promise<number> {
    const mint = ledgerMint(asset);
    if (mint === null) return 0;
    if (recipients === null) return 1;
    return (await this.#ledger.haveTokenAccounts(recipients, mint)).filter((has) => !has).length;
  }
}

/** How much of an asset a lamport is worth. Throws `ROUTING_UNAVAILABLE` while no price is known. */
export async function rateOfSol(prices: PriceSource, mint: string): ReturnType<PriceSource["rate"]> {
  if (mint === SOL_MINT) return { give: 1n, get: 1n };
  try {
    return await prices.rate(SOL_MINT, mint);
  } catch (cause) {
    throw new PaymentError("ROUTING_UNAVAILABLE", { reason: "upstream", retryAfter: 30 }, { cause });
  }
}
