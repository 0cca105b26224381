/** The rules of the game of costs that can be taken out, and the positions that it begins with. */

/** The rules that can be taken out. */
export type CostRule =
  | "K13: a bare leg bears its cost"
  | "K13: a bare leg is credited with no rent"
  | "K13: a bare leg takes all above the loan"
  | "K16: one asset that covers the cost bears all of it"
  | "K16: the sponsor pays for no account that was read as there"
  | "K16: what the sender cannot be given goes to the sponsor"
  | "K16: a closing account is credited with what it gives"
  | "K11: a SOL recipient gets at least rent(0)";

/** How a game begins. */
export interface Beginning {
  /** Lamports a byte when the order was taken, and how many times that it is now. */
  readonly rate: number;
  readonly rise: 1 | 2;
  readonly asset: "tokens" | "SOL";
  /** Whether the sender has an account for the tokens, and lamports in his wallet. */
  readonly hasAccount: boolean;
  readonly hasLamports: boolean;
  readonly order: Refused | Gone;
}

/** The order is refused; what was deposited is worth so many lamports. */
export interface Refused {
  readonly decision: "refused";
  readonly value: number;
}

/** The order was paid, and its marker has more bytes than were quoted; so much of the deposit was not paid out. */
export interface Gone {
  readonly decision: "go";
  readonly extraBytes: number;
  readonly left: number;
}

/** Payees left out of one chunk, and the longest marker of so many. */
export type LeftOut = readonly (readonly [leftOut: number, length: number])[];

/** None, one of 13, eleven of 13, and three of 7 to whom tokens go. */
export const LEFT_OUT: LeftOut = [
  [0, 0],
  [1, 15],
  [11, 106],
  [3, 128],
];

/** A deposit that is worth this much of tokens is dust: it never covers a cost. */
const TOKEN_DUST = 0.01;

/** Every beginning at a rate, with payees of SOL who get so much each. */
export function* beginningsOf(rate: number, leftOut: LeftOut, leastSol: number): Generator<Beginning> {
  for (const asset of ["tokens", "SOL"] as const) {
    for (const hasAccount of [true, false]) {
      for (const hasLamports of [true, false]) {
        const common = { rate, asset, hasAccount, hasLamports };
        for (const value of [500_000, 1_000_000, 5_000_000]) {
          yield { ...common, rise: 1, order: { decision: "refused", value } };
        }
        for (const value of [2_000_000, 5_000_000]) {
          yield { ...common, rise: 2, order: { decision: "refused", value } };
        }
        for (const [payees, length] of leftOut) {
          const each = asset === "tokens" ? TOKEN_DUST : payees * leastSol;
          const left = payees === 0 ? 0 : each;
          yield { ...common, rise: 1, order: { decision: "go", extraBytes: length, left } };
        }
      }
    }
  }
}
