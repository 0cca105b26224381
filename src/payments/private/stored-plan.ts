/** What a payment does, as it is stored: the plan of its transaction with words in place of the markers' seeds. */
import type { Movement } from "../../../machines/index.ts";
import type { Address } from "../../address.ts";
import type { Move, TransactionPlan } from "../../ledger/routing.ts";
import { readJson, writeJson } from "../json-with-amounts.ts";

/** A move whose marker is still named by its words. */
export type StoredMove =
  | Exclude<Move, { does: "mark" | "unmark" }>
  | (Omit<Extract<Move, { does: "mark" }>, "seed"> & { readonly mark: string })
  | (Omit<Extract<Move, { does: "unmark" }>, "seed"> & { readonly mark: string });

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
  /** What each attempt costs the sponsor for good, in lamports, but for those that are proved dead. */
  readonly costs?: readonly string[];
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
  { feePayer, moves }: StoredPlan,
  seedOf: (mark: string) => string,
): TransactionPlan {
  return {
    feePayer,
    moves: moves.map((move): Move => {
      if (!("mark" in move)) return move;
      const { mark, ...rest } = move;
      return { ...rest, seed: seedOf(mark) };
    }),
  };
}
