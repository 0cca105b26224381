/** Stored plans: the moves of a payment's transaction, with words in place of the markers' seeds. */
import type { Movement } from "../../../../machines/private-messages.ts";
import type { Address } from "../../../address.ts";
import type { Move, TransactionPlan } from "../../../ledger/routing.ts";
import { readJson, writeJson } from "../../json-with-amounts.ts";

/** A move that names markers by their words: `words` for its own marker, `plan` for the marker of its replacement. */
export type StoredMove =
  | Exclude<Move, { does: "mark" | "replace" | "follow" | "unmark" }>
  | (Omit<Extract<Move, { does: "mark" }>, "seed"> & { readonly words: string })
  | (Omit<Extract<Move, { does: "replace" }>, "seed" | "plan"> & {
      readonly words: string;
      readonly planWords: string;
    })
  | (Omit<Extract<Move, { does: "follow" }>, "plan"> & { readonly planWords: string })
  | (Omit<Extract<Move, { does: "unmark" }>, "seed"> & { readonly words: string });

/**
 * A payment that a plan names: words of its marker, recipients, and recipients whose token account the sponsor makes.
 */
export interface LeafPayment {
  readonly words: string;
  readonly indexes: readonly number[];
  readonly sponsored: readonly number[];
}

/** What the attempts of a payment have bid for their place in a block. */
export interface BidHistory {
  /** The first bid, in lamports. */
  readonly first: string;
  /** How many attempts an endpoint took whose blockhash passed without them. */
  readonly passed: number;
  /** The last of them. */
  readonly last: string | null;
}

/** A payment out of a deposit address. */
export interface StoredPlan {
  readonly feePayer: Address;
  readonly moves: readonly StoredMove[];
  /** Entries that the landing adds to the ledger of the address. */
  readonly movements: readonly Movement[];
  /** Indexes of the recipients that the payment pays. */
  readonly indexes: readonly number[];
  /** The amount that a refund holds back for its own cost; the sweep takes it as a fee. */
  readonly withheld: string;
  /** The operator's word by which a refund goes to another address than the sender's. */
  readonly word?: string;
  /** The network fee of each attempt, in lamports, but for those that are proved dead. */
  readonly costs?: readonly string[];
  /** The most that an attempt pays for rent of others' accounts, in lamports: of the same words one attempt succeeds. */
  readonly rent?: string;
  /** Signatures of attempts that are presumed dead: they may still land, so their costs still count. */
  readonly presumed?: readonly string[];
  /** Left out before the first attempt. */
  readonly bids?: BidHistory;
  /** Signatures of all signed attempts, newest last: an attempt may have landed although a node denied it. */
  readonly signatures?: readonly string[];
  /** The payments that the plan makes possible, and the recipients whom the plan leaves out. For plans only. */
  readonly leaves?: readonly LeafPayment[];
  readonly leftOut?: readonly number[];
}

/** The proof on the chain that a payment landed: its marker, or the plan that replaced the marker. */
export interface Proof {
  readonly words: string;
  /** Null for a payment under the marker itself. */
  readonly planWords: string | null;
}

/** The first marker of a plan; null for sweeps and collections, which make no marker. */
export function proofOf({ moves }: Pick<StoredPlan, "moves">): Proof | null {
  for (const move of moves) {
    if (move.does === "mark") return { words: move.words, planWords: null };
    if (move.does === "replace") return { words: move.words, planWords: move.planWords };
  }
  return null;
}

/** The plan that a payment depends on; null without a plan. */
export function followedBy({ moves }: Pick<StoredPlan, "moves">): string | null {
  return moves.find((move) => move.does === "follow")?.planWords ?? null;
}

export function writePlan(plan: StoredPlan): string {
  return writeJson(plan);
}

export function readPlan(text: string): StoredPlan {
  return readJson(text) as StoredPlan;
}

/** The plan with the seeds of its markers, ready to be built. */
export function withSeeds(
  { feePayer, moves }: Pick<StoredPlan, "feePayer" | "moves">,
  seedOf: (words: string) => string,
): TransactionPlan {
  return { feePayer, moves: moves.map((move) => seeded(move, seedOf)) };
}

function seeded(move: StoredMove, seedOf: (words: string) => string): Move {
  switch (move.does) {
    case "mark":
      return { does: "mark", base: move.base, seed: seedOf(move.words), payer: move.payer };
    case "unmark":
      return { does: "unmark", base: move.base, seed: seedOf(move.words), to: move.to };
    case "replace": {
      const { base, payer, words, planWords } = move;
      return { does: "replace", base, seed: seedOf(words), plan: seedOf(planWords), payer };
    }
    case "follow":
      return { does: "follow", base: move.base, plan: seedOf(move.planWords) };
    default:
      return move;
  }
}
