/**
 * Many chunks of 7 in tokens of no worth, each with the longest marker that so many payees make who are left out. A stranger
 * is the sender and all payees: he loses the quote, the order's account, a signature for each account that he closes, and one
 * to deposit. (In SOL a payee who is left out leaves rent(0), which is more than the bytes that he costs.)
 */
import {
  FEE,
  networkOf,
  refundCostOf,
  rentOf,
  SIGNATURE,
  TOKEN_ACCOUNT_BYTES,
  toSponsorOf,
} from "./costs.ts";

/** What a play costs both sides, in lamports. */
export interface Play {
  readonly chunks: number;
  readonly leftOut: number;
  readonly sponsorLoses: number;
  readonly othersLose: number;
  /** What its rest is charged with, which nothing bears here. */
  readonly refundCost: number;
}

/** How many of 7 are left out, and the longest marker of so many. */
const LONGEST: readonly (readonly [leftOut: number, length: number])[] = [
  [1, 9],
  [2, 37],
  [3, 93],
  [4, 128],
];

/** Every play of up to 72 chunks, quoted at a rate of lamports a byte, and bought at another. */
export function playsOf(rate: number, boughtAt = rate): Play[] {
  return Array.from({ length: 72 }, (_, place) => place + 1).flatMap((chunks) =>
    LONGEST.map(([leftOut, length]) => {
      const account = rentOf(rate, TOKEN_ACCOUNT_BYTES);
      const network = networkOf({ rate, asset: "tokens", chunks });
      const paid = chunks * rentOf(boughtAt, length) + (chunks + 1) * FEE;
      const decided = { decision: "go", lengths: Array.from({ length: chunks }, () => length) } as const;
      return {
        chunks,
        leftOut,
        sponsorLoses: paid - network - toSponsorOf(rate, account),
        othersLose: network + account + SIGNATURE * (1 + chunks * leftOut),
        refundCost: refundCostOf({ rate, asset: "tokens", decided, closes: account }),
      };
    }),
  );
}
