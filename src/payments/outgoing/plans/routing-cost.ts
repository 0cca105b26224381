/** The highest cost of routing an order for the sponsor, in lamports. */
import { ANY_SEED, TOKEN_ACCOUNT_BYTES, type RoutingLedger } from "../../../ledger/routing.ts";
import type { Address } from "../../../address.ts";
import { ledgerMint, type Token } from "../../assets/assets.ts";
import { payoutsFor } from "./plan-payouts.ts";
import { sweepsFor } from "./plan-settlement.ts";

/** Costs of routing: lamports that are gone, and deposits that the sweep brings back. */
export interface RoutingCost {
  readonly networkFees: bigint;
  /** How many transactions these are the fees of. */
  readonly transactions: number;
  /** The most that the transactions bid beyond that for their places in blocks. */
  readonly bids: bigint;
  /** The tips of a relay, one for each payout and plan. */
  readonly tips: bigint;
  /** Rent of the token accounts that the sponsor makes for recipients. */
  readonly accountRent: bigint;
  /** Rent of markers, loans, and the costs of refunds, which the refunded money pays. */
  readonly deposits: bigint;
}

/** One refund of excess money, and one of late money. */
const REFUNDS = 2;
const STABLECOINS = 2;
/** The number of times that a payout may be replaced by a payout without the failing recipient. */
const SPLITS = 1;
/** A replacement makes two markers: the marker of the replaced payment, which counts once, and its own marker. */
const MARKERS_PER_REPLACEMENT = 2;

/** The most markers that stand for an order at once: the worst tree of plans, payouts, splits and refunds. */
function markersFor(payouts: number, plans: number): number {
  return plans + payouts * (1 + SPLITS * MARKERS_PER_REPLACEMENT) + 1 + REFUNDS * MARKERS_PER_REPLACEMENT;
}

/** The payer of routing, and the receiver of fees. */
interface CostParties {
  readonly sponsor: Address;
  readonly treasury: Address;
}

/** Where the bids begin that the fees count: a customer pays for the estimate, and a reserve trusts no estimate. */
export type PricedBid = Parameters<RoutingLedger["feeOf"]>[1];

/** The routed asset, and the number of recipients. */
interface CostedOrder {
  readonly asset: Token;
  readonly recipients: number;
  readonly pricedAccounts: number;
  readonly bid: PricedBid;
}

/** Unit costs in lamports: the fee of a transaction, and the rent of accounts. */
interface UnitCosts {
  readonly fee: bigint;
  readonly bidCeiling: bigint;
  readonly tip: bigint;
  readonly emptyRent: bigint;
  readonly tokenRent: bigint;
}

/** `pricedAccounts` of the recipients have no token account yet. Computes the worst case. */
export async function routingCost(
  ledger: RoutingLedger,
  { sponsor, treasury }: CostParties,
  { asset, recipients, pricedAccounts, bid }: CostedOrder,
): Promise<RoutingCost> {
  const mint = ledgerMint(asset);
  const payouts = recipients === 0 ? 0 : payoutsFor(asset, recipients);
  const plans = payouts > 1 ? 1 : 0;
  const markers = markersFor(payouts, plans);
  const sweeps = sweepsFor(markers);
  const units = await unitCosts(ledger, { sponsor, treasury }, { asset, bid });
  const { fee, bidCeiling, tip, emptyRent, tokenRent } = units;
  return {
    networkFees: fee * BigInt(payouts + plans + sweeps),
    transactions: payouts + plans + sweeps,
    bids: bidCeiling * BigInt(payouts + plans),
    tips: tip * BigInt(payouts + plans),
    accountRent: tokenRent * BigInt(pricedAccounts),
    deposits:
      tokenRent * BigInt(markers - REFUNDS * MARKERS_PER_REPLACEMENT) +
      (mint === null ? emptyRent * BigInt(payouts * (1 + SPLITS)) : 0n) +
      costOfRefund(units, asset) * BigInt(REFUNDS) +
      // The treasury may have to be given its accounts when the address is swept.
      tokenRent * BigInt(STABLECOINS),
  };
}

/** The sponsor's money that an order still binds after its last payout. */
interface BoundCount {
  /** The asset that was deposited. */
  readonly asset: Token;
  /** Markers that stand, each with its rent. */
  readonly markers: number;
  /** Refunds that are still to be made. */
  readonly refunds: number;
}

/** The rent of markers that stand, the sweeps that bring it back, and what the refunds cost at their worst. */
export async function standingCost(
  ledger: RoutingLedger,
  parties: CostParties,
  { asset, markers, refunds }: BoundCount,
): Promise<bigint> {
  if (markers === 0 && refunds === 0) return 0n;
  const units = await unitCosts(ledger, parties, { asset, bid: "floor" });
  const { fee, tokenRent } = units;
  const sweeps = markers === 0 ? 0 : sweepsFor(markers);
  return tokenRent * BigInt(markers) + fee * BigInt(sweeps) + costOfRefund(units, asset) * BigInt(refunds);
}

/**
 * The cost of a refund: its markers, its transaction and share of the sweep, the receiver's account, and in SOL the
 * loan.
 */
function costOfRefund({ fee, bidCeiling, tip, emptyRent, tokenRent }: UnitCosts, asset: Token): bigint {
  const loan = ledgerMint(asset) === null ? emptyRent : 0n;
  return tokenRent * BigInt(MARKERS_PER_REPLACEMENT) + fee * 2n + bidCeiling + tip + tokenRent + loan;
}

async function unitCosts(
  ledger: RoutingLedger,
  { sponsor, treasury }: CostParties,
  { asset, bid }: Pick<CostedOrder, "asset" | "bid">,
): Promise<UnitCosts> {
  const mint = ledgerMint(asset);
  const [fee, emptyRent, tokenRent] = await Promise.all([
    ledger.feeOf(
      {
        feePayer: sponsor,
        moves: [
          { does: "mark", base: treasury, seed: ANY_SEED, payer: sponsor },
          {
            does: "transfer",
            mint,
            decimals: asset.decimals,
            from: treasury,
            to: sponsor,
            amount: 1n,
            accountPayer: mint === null ? null : sponsor,
          },
        ],
      },
      bid,
    ),
    ledger.rentMinimum(0),
    ledger.rentMinimum(TOKEN_ACCOUNT_BYTES),
  ]);
  return { fee, bidCeiling: ledger.bidCeiling, tip: ledger.tip ?? 0n, emptyRent, tokenRent };
}
