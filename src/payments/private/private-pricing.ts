/** The price of private mode: what routing an order costs, in the asset that is deposited. */
import { type Address, SOL_MINT } from "../../core/address.ts";
import { formatAmount } from "../../core/amount.ts";
import { PaymentError } from "../../errors/errors.ts";
import { rentOf } from "../../ledger/order-reading.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Signer } from "../../ledger/sign-transaction.ts";
import { ledgerMint, type Assets, type Token } from "../frame/assets/assets.ts";
import { dearestWithin, worthAtMost, type PriceSource, type Rate } from "../frame/prices/prices.ts";
import { larger, quotedCost, reservedFor } from "./protocol/cost.ts";
import { cutOf } from "./protocol/cut.ts";
import { bidIn, feeOf } from "./protocol/fee.ts";
import type { QuoteFees } from "../frame/quotes/priced-quote.ts";
import type { ScreenAddress } from "../frame/recipients/recipients.ts";

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
  readonly maxRentPerByte: bigint;
  /** Null when the host does not screen. */
  readonly screen: ScreenAddress | null;
}

/** Hundredths of a percent in a whole. */
export const BPS = 10_000n;

/** Seconds after which ROUTING_UNAVAILABLE advises a retry. */
const RETRY_SECONDS = 30;

/** An order that is to be priced. */
export interface PricedOrder {
  /** The deposit and the amounts of the recipients: another asset in a swap. */
  readonly give: Token;
  readonly get: Token;
  readonly recipients: number;
  /** Recipients whose token accounts the sponsor makes. */
  readonly pricedAccounts: number;
  /** Where the bids begin: a customer pays for the estimate, and a reserve trusts no estimate. */
  readonly bid: "estimate" | "floor";
}

/** The cost of an order for the sponsor, in lamports, and the part that its terms keep. */
export interface OrderCost {
  readonly network: bigint;
  /** The part of `network` that is bid for places in blocks. */
  readonly bids: bigint;
  readonly rent: bigint;
  /** The most that is spent before a person is asked. */
  readonly reserved: bigint;
  readonly rentPerByte: bigint;
  readonly cut: readonly number[];
}

/** The customer's share of a bid: the estimate, and one raise of it. */
const PAID_RAISE = 4n;

export class PrivatePricing {
  readonly terms: PrivateRoutingRules;
  readonly #ledger: Ledger;

  constructor(terms: PrivateRoutingRules, ledger: Ledger) {
    this.terms = terms;
    this.#ledger = ledger;
  }

  /** For a send or payroll. Without `recipients` the price is for one, who may need a token account. */
  async price(asset: Token, amount: bigint, recipients: readonly Address[] | null): Promise<QuoteFees> {
    const pricedAccounts = await this.#accountsToMake(asset, recipients);
    const count = recipients?.length ?? 1;
    return this.fees(amount, { give: asset, get: asset, recipients: count, pricedAccounts });
  }

  /** The fees of an order of so much: they cover what it costs while the price of SOL stays within its bound. */
  async fees(amount: bigint, order: Omit<PricedOrder, "bid">): Promise<QuoteFees> {
    const [cost, rate] = await Promise.all([
      this.cost({ ...order, bid: "estimate" }),
      dearestRateOfSol(this.terms, order.give.mint),
    ]);
    return {
      networkFee: worthAtMost(cost.network, rate),
      rent: worthAtMost(cost.rent, rate),
      routingFee: (amount * BigInt(this.terms.feeBps) + BPS - 1n) / BPS,
      pricedAccounts: order.pricedAccounts,
    };
  }

  /** Throws `ROUTING_UNAVAILABLE` upstream while rent is dearer than `maxRentPerByte`. */
  async cost({ give, get, recipients, pricedAccounts: priced, bid }: PricedOrder): Promise<OrderCost> {
    const [emptyRent, fee] = await Promise.all([this.#ledger.rentMinimum(0), this.#feeOf(give, bid)]);
    const rentPerByte = emptyRent / rentOf(1n, 0);
    if (rentPerByte > this.terms.maxRentPerByte) {
      throw new PaymentError("ROUTING_UNAVAILABLE", { reason: "upstream", retryAfter: RETRY_SECONDS });
    }
    const type = give.mint !== get.mint ? "swap" : recipients === 1 ? "send" : "payroll";
    const cut = cutOf({ type, mint: give.mint }, recipients);
    const costed = { type, mint: give.mint, chunks: cut.length, priced, rentPerByte, fee } as const;
    const bids = bidIn(fee) * BigInt(cut.length + 1);
    return { ...quotedCost(costed), bids, reserved: reservedFor(costed), rentPerByte, cut };
  }

  /** Lamports that each transaction of an order may bid out of the network fee of its quote, which covers this cost. */
  async paidBid(networkFee: bigint, mint: string, { network, bids, cut }: OrderCost): Promise<bigint> {
    const { give, get } = await dearestRateOfSol(this.terms, mint);
    const beyond = larger((networkFee * give) / get - network, 0n);
    return (bids + beyond) / BigInt(cut.length + 1);
  }

  /** The most of the sponsor's lamports that a send to one may take, of the most expensive asset. */
  async dearestSend({ tokens }: Pick<Assets, "tokens">): Promise<bigint> {
    const costs = await Promise.all(
      tokens.map((asset) => {
        const pricedAccounts = ledgerMint(asset) === null ? 0 : 1;
        return this.cost({ give: asset, get: asset, recipients: 1, pricedAccounts, bid: "floor" });
      }),
    );
    return costs.reduce((most, { reserved }) => (reserved > most ? reserved : most), 0n);
  }

  /** Lamports of a transaction with two signatures: the network's fee, and its bid with one raise. */
  async #feeOf({ mint }: Token, bid: PricedOrder["bid"]): Promise<bigint> {
    const { treasury, sponsor } = this.terms;
    const fee = await feeOf(this.#ledger, { sponsor: sponsor.address, treasury, mint }, bid);
    return fee + bidIn(fee) * (PAID_RAISE - 1n);
  }

  async #accountsToMake(asset: Token, recipients: readonly Address[] | null): Promise<number> {
    const mint = ledgerMint(asset);
    if (mint === null) return 0;
    if (recipients === null) return 1;
    const states = await this.#ledger.tokenAccountStates(recipients.map((owner) => ({ owner, mint })));
    return states.filter((state) => state === "absent").length;
  }
}

/** The worth of a lamport in an asset. Throws `ROUTING_UNAVAILABLE` while no price is known. */
export async function rateOfSol(prices: PriceSource, mint: string): ReturnType<PriceSource["rate"]> {
  if (mint === SOL_MINT) return { give: 1n, get: 1n };
  try {
    return await prices.rate(SOL_MINT, mint);
  } catch (cause) {
    throw new PaymentError(
      "ROUTING_UNAVAILABLE",
      { reason: "upstream", retryAfter: RETRY_SECONDS },
      { cause },
    );
  }
}

/** The worth of a lamport at the dearest price within the bound: a fee is fixed now, and paid out of later. */
async function dearestRateOfSol(
  { prices, maxPriceMoveBps }: Pick<PrivateRoutingRules, "prices" | "maxPriceMoveBps">,
  mint: string,
): Promise<Rate> {
  const rate = await rateOfSol(prices, mint);
  return mint === SOL_MINT ? rate : dearestWithin(rate, maxPriceMoveBps);
}

/** Refuses an amount that leaves less than 0.001 of the asset after the fees. */
export function tooSmall(asset: Token, smallest: bigint): PaymentError<"AMOUNT_TOO_SMALL"> {
  return new PaymentError("AMOUNT_TOO_SMALL", { minimum: formatAmount(smallest, asset.decimals) });
}
