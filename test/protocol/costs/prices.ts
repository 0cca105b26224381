/** The prices of the protocol as its page tells them, beside the formula that each follows from. */
import {
  networkOf,
  refundCostOf,
  rentOf,
  reservedOf,
  type RestToMake,
  TOKEN_ACCOUNT_BYTES,
} from "./costs.ts";

/** Lamports a byte that the prices are for: today's, and a cluster's that has lowered them. */
export const RATES = [6_960, 5_080] as const;

/** A name, its formula, and the lamports at each rate. */
export type Price = readonly [name: string, cost: (rate: number) => number, lamports: readonly number[]];

/** What is quoted for the network. */
export const QUOTED: readonly Price[] = [
  ["tokens", (rate) => networkOf({ rate, asset: "tokens", chunks: 1 }), [20_000, 20_000]],
  ["SOL", (rate) => networkOf({ rate, asset: "SOL", chunks: 1 }), [910_880, 670_240]],
  [
    "a swap of tokens",
    (rate) => networkOf({ rate, asset: "tokens", chunks: 1, isSwap: true }),
    [25_000, 25_000],
  ],
  ["a swap of SOL", (rate) => networkOf({ rate, asset: "SOL", chunks: 1, isSwap: true }), [915_880, 675_240]],
  ["tokens, 3 chunks", (rate) => networkOf({ rate, asset: "tokens", chunks: 3 }), [1_821_760, 1_340_480]],
  ["tokens, 72 chunks", (rate) => networkOf({ rate, asset: "tokens", chunks: 72 }), [63_982_480, 46_897_040]],
  ["SOL, 39 chunks", (rate) => networkOf({ rate, asset: "SOL", chunks: 39 }), [35_144_320, 25_759_360]],
];

/** What is withheld of a rest. */
export const WITHHELD: readonly Price[] = [
  ["SOL, refused", of({ asset: "SOL", decided: { decision: "refused" } }), [917_840, 675_320]],
  ["tokens, refused", closing({ decided: { decision: "refused" } }), [0, 0]],
  [
    "tokens, refused, the sender's account is missing",
    closing({ decided: { decision: "refused" }, makesSendersAccount: true }),
    [917_840, 675_320],
  ],
  [
    "tokens, refused, after dust",
    of({ asset: "tokens", decided: { decision: "refused" } }),
    [917_840, 675_320],
  ],
  [
    "tokens, refused, after dust, the sender's account is missing",
    of({ asset: "tokens", decided: { decision: "refused" }, makesSendersAccount: true }),
    [2_957_120, 2_163_760],
  ],
  ["SOL, what is left after a go", of({ asset: "SOL", decided: { decision: "go", lengths: [0] } }), [0, 0]],
  ["tokens, what is left after a go", closing({ decided: { decision: "go", lengths: [0] } }), [0, 0]],
  [
    "tokens, what is left after a go, the sender's account is missing",
    closing({ decided: { decision: "go", lengths: [0] }, makesSendersAccount: true }),
    [890_880, 650_240],
  ],
  [
    "tokens, refused, the sender's account is missing, rent has doubled",
    (rate) =>
      refundCostOf({
        rate: 2 * rate,
        orderRate: rate,
        asset: "tokens",
        decided: { decision: "refused" },
        makesSendersAccount: true,
        closes: rentOf(rate, TOKEN_ACCOUNT_BYTES),
      }),
    [3_854_960, 2_819_080],
  ],
  ["SOL, late", of({ asset: "SOL", decided: null }), [10_000, 10_000]],
  ["tokens, late", closing({ decided: null }), [0, 0]],
  [
    "tokens, late, the sender's account is missing",
    closing({ decided: null, makesSendersAccount: true }),
    [10_000, 10_000],
  ],
  [
    "SOL, one of 13 left out",
    of({ asset: "SOL", decided: { decision: "go", lengths: [15] } }),
    [104_400, 76_200],
  ],
  ["tokens, one chunk at its longest", closing({ decided: { decision: "go", lengths: [128] } }), [0, 0]],
];

/** What the sponsor keeps ready for an order. */
export const RESERVED: readonly Price[] = [
  ["SOL", (rate) => reservedOf({ rate, asset: "SOL", chunks: 1 }), [3_623_520, 2_660_960]],
  [
    "tokens, 500 payees",
    (rate) => reservedOf({ rate, asset: "tokens", chunks: 72 }),
    [132_516_000, 97_313_000],
  ],
  ["SOL, 500 payees", (rate) => reservedOf({ rate, asset: "SOL", chunks: 39 }), [72_470_400, 53_219_200]],
];

function of(rest: Omit<RestToMake, "rate">): Price[1] {
  return (rate) => refundCostOf({ ...rest, rate });
}

/** A rest of tokens that closes the order's account. */
function closing(rest: Omit<RestToMake, "rate" | "asset" | "closes">): Price[1] {
  return (rate) =>
    refundCostOf({ ...rest, rate, asset: "tokens", closes: rentOf(rate, TOKEN_ACCOUNT_BYTES) });
}
