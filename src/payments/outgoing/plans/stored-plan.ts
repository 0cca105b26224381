/** What a payment does, as it is stored: the plan of its transaction with words in place of the markers' seeds. */
import type { Movement } from "../../../../machines/index.ts";
import type { Address } from "../../../address.ts";
import type { Move, TransactionPlan } from "../../../ledger/routing.ts";
import { readJson, writeJson } from "../../json-with-amounts.ts";

/** A move in which markers are named by their words: `words` of its own, `plan` of what replaces it. */
export type StoredMove =
  | Exclude<Move, { does: "mark" | "replace" | "follow" | "unmark" }>
  | (Omit<Extract<Move, { does: "mark" }>, "seed"> & { readonly words: string })
  | (Omit<Extract<Move, { does: "replace" }>, "seed" | "plan"> & {
      readonly words: string;
      readonly planWords: string;
    })
  | (Omit<Extract<Move, { does: "follow" }>, "plan"> & { readonly planWords: string })
  | (Omit<Extract<Move, { does: "unmark" }>, "seed"> & { readonly words: string });

/** One of the payments that a plan names: what marker it makes, whom it pays, and for whom the sponsor makes an account. */
export interface LeafPayment {
  readonly words: string;
  readonly indexes: readonly number[];
  readonly sponsored: readonly number[];
}

/** One payment out of a deposit address. */
export interface StoredPlan {
  readonly feePayer: Address;
  readonly moves: readonly StoredMove[];
  /** What landing does to the address's ledger. */
  readonly movements: readonly Movement[];
  /** Which recipients of the order it pays. */
  readonly indexes: readonly number[];
  /** What a refund holds back for its own cost, which the sweep takes along as a fee. */
  readonly withheld: string;
  /** The operator's word by which a refund goes to another address than the sender's. */
  readonly word?: string;
  /** The network fee of each attempt, in lamports, but for those that are proved dead. */
  readonly costs?: readonly string[];
  /** The most that an attempt pays for rent of others' accounts, in lamports: of the same words one attempt succeeds. */
  readonly rent?: string;
  /** The attempts that are presumed dead, by their signatures: they may land all the same, so their costs stand. */
  readonly presumed?: readonly string[];
  /** Every attempt that was signed, the newest last: a node may have denied one that landed all the same. */
  readonly signatures?: readonly string[];
  /** The payments that it makes possible, and the recipients that none of them pays. For plans only. */
  readonly leaves?: readonly LeafPayment[];
  readonly leftOut?: readonly number[];
}

/** What on the chain shows that a payment landed: the marker that it makes, or the plan that takes its place. */
export interface Proof {
  readonly words: string;
  /** Null for a payment under the marker itself. */
  readonly planWords: string | null;
}

/** The first marker of a plan; null for what makes none: sweeps and collections. */
export function proofOf({ moves }: Pick<StoredPlan, "moves">): Proof | null {
  for (const move of moves) {
    if (move.does === "mark") return { words: move.words, planWords: null };
    if (move.does === "replace") return { words: move.words, planWords: move.planWords };
  }
  return null;
}

/** The plan that a payment depends on, null for one that depends on none. */
export function followedBy({ moves }: Pick<StoredPlan, "moves">): string | null {
  return moves.find((move) => move.does === "follow")?.planWords ?? null;
}

/** The plan as JSON text. */
export function writePlan(plan: StoredPlan): string {
  return writeJson(plan);
}

/** The plan that was written. */
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
