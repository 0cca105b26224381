/** The network's charge for a transaction of an order. */
import { SOL_MINT } from "../../../core/address.ts";
import type { Evidence } from "../../../ledger/belief.ts";
import type { RoutingLedger, TransactionPlan } from "../../../ledger/routing.ts";
import { larger } from "./cost.ts";
import { seedOfChunk } from "./cut.ts";
import type { OrderTerms } from "./terms.ts";

/** Lamports that the network takes for the signatures of sponsor and address. */
const SIGNATURES = 10_000n;

/** The bid of a transaction with two signatures in this fee, in lamports. */
export function bidIn(fee: bigint): bigint {
  return larger(fee - SIGNATURES, 0n);
}

/** Lamports of a transaction like those of every order: the value of its parts changes no price. */
export function feeOf(
  ledger: Pick<RoutingLedger, "feeOf">,
  { sponsor, treasury, mint }: Pick<OrderTerms, "sponsor" | "treasury" | "mint">,
  bid: "estimate" | "floor",
): Promise<Evidence<bigint>> {
  const token = mint === SOL_MINT ? null : mint;
  const from = treasury;
  const plan: TransactionPlan = {
    feePayer: sponsor,
    moves: [
      { does: "buy", base: from, seed: seedOfChunk(0), length: 0, payer: sponsor, lamports: 1n },
      {
        does: "transfer",
        mint: token,
        decimals: token === null ? 9 : 6,
        from,
        to: sponsor,
        amount: 1n,
        accountPayer: token === null ? null : sponsor,
      },
    ],
  };
  return ledger.feeOf(plan, bid);
}
