/**
 * A transfer with the evidence on which it is concluded: A transfer with the evidence for its conclusion: row, attempts, and
 * one look at its order.
 */
import { type Address, SOL_MINT } from "../../core/address.ts";
import type { AttemptRecord } from "../frame/tables/attempts.ts";
import type { ChunkRecord, TransferRecord } from "./tables.ts";
import { isDead } from "./attempt-death.ts";
import { lookAtOrder, storedOrder, type LookParts, type OrderLook } from "./look.ts";
import { placesOf, shapeOf } from "./protocol/cut.ts";
import { outcomeOf } from "./protocol/outcome.ts";
import type { Outcome } from "./protocol/terms.ts";

export interface TransferInHand {
  readonly row: TransferRecord;
  /** The version of its instance: what is concluded from here is committed at this version only. */
  readonly version: number;
  /** Oldest first. */
  readonly attempts: readonly AttemptRecord[];
  readonly look: OrderLook;
  /** A finalized height that as many endpoints as must agree have reached; 0 while nothing was signed. */
  readonly height: number;
}

/**
 * Loads the transfer if its chart is in this state; null after a step that an effect of before does not know. Rows before the
 * chain: an attempt that is stored by then is under way in this reading at most. Throws `LedgerUnavailable`, and an `Error`
 * for a transfer that is not stored.
 */
export async function takeInHand(
  deps: LookParts,
  id: string,
  state: "planned.signing" | "out.concluding",
): Promise<TransferInHand | null> {
  const { storage, ledger } = deps;
  const instance = await storage.load(id);
  const [row, attempts] = await Promise.all([storage.transfer(id), storage.attemptsOf(id)]);
  if (row === null || instance === null) throw new Error(`transfer ${id} is not stored`);
  const { value } = JSON.parse(instance.snapshot) as { readonly value: object };
  if (Object.entries(value).every((names) => names.join(".") !== state)) return null;
  const [look, { agreed: height }] = await Promise.all([
    othersOf(deps, row).then((more) => lookAtOrder(deps, row.order, { more })),
    attempts.length === 0 ? { agreed: 0 } : ledger.heights("finalized"),
  ]);
  return { row, version: instance.version, attempts, look, height };
}

/** The row of a chunk. Throws an `Error` for one that is not stored. */
export function chunkOf({ look }: Pick<TransferInHand, "look">, k: number): ChunkRecord {
  const chunk = look.view.chunks.find((each) => each.k === k);
  if (chunk === undefined) throw new Error(`chunk ${k} of order ${look.terms.id} is not stored`);
  return chunk;
}

/** The outcome that is wanted of a chunk's transfer. Throws an `Error` for a length that says nothing. */
export function wantedOutcome(inHand: Pick<TransferInHand, "look" | "row">): Outcome {
  const { row, look } = inHand;
  const { wanted } = chunkOf(inHand, row.n);
  const outcome = outcomeOf(shapeOf(look.terms, row.n), wanted);
  if (outcome === null) throw new Error(`length ${wanted} says nothing of chunk ${row.n} of ${row.order}`);
  return outcome;
}

/** Attempts that may still land: neither finalized with an error nor past their last height. */
export function aliveAmong(attempts: readonly AttemptRecord[], height: number): readonly AttemptRecord[] {
  return attempts.filter((each) => each.error === null && !isDead(each, height));
}

/** Further addresses whose accounts decide: payees of tokens, and whom a person has approved. */
async function othersOf(
  deps: LookParts,
  { order, kind, n, to }: TransferRecord,
): Promise<readonly Address[]> {
  if (kind === "redirect" || kind === "foreign") return to === null ? [] : [to];
  if (kind !== "chunk") return [];
  const { terms } = await storedOrder(deps, order);
  if (terms.payMint === SOL_MINT) return [];
  return placesOf(terms, n).flatMap(({ member }) => (member === null ? [] : [member.address]));
}
