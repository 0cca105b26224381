/** Decides whether enough endpoints agree on a landing, and leaves out those that follow the chain no more. */
import type { NodeContext } from "./ask.ts";

/** A finalized transaction, as one endpoint shows it. */
export interface FoundLanding {
  readonly signature: string;
  readonly slot: number;
  /** The chain's error as JSON text, null when it succeeded. */
  readonly error: string | null;
}

export interface AttemptReport {
  /** Null where it does not know it as finalized. */
  readonly landing: FoundLanding | null;
  /** The endpoint does not know the attempt, and cannot: its ledger begins later. */
  readonly hasNoHistory: boolean;
  /** The operator vouches for it. */
  readonly isArchive: boolean;
}

/**
 * The landing that at least `needed` endpoints show, in the same block with the same outcome; null where no landing or
 * more than one is shown by so many. An archive node alone is enough where none of the others can know better.
 */
export function agreedLanding(words: readonly AttemptReport[], needed: number): FoundLanding | null {
  const shown = words.flatMap(({ landing }) => (landing === null ? [] : [landing]));
  const supported = shown.filter((landing) => shown.filter(isSameAs(landing)).length >= needed);
  const [agreed] = supported;
  if (agreed !== undefined) return supported.every(isSameAs(agreed)) ? agreed : null;
  return words.length >= needed ? landingOfArchives(words) : null;
}

/** Two that differ are a contradiction, and so is one that has the history and does not know the transaction. */
function landingOfArchives(words: readonly AttemptReport[]): FoundLanding | null {
  const told = words.find(({ landing, isArchive }) => landing !== null && isArchive)?.landing ?? null;
  if (told === null) return null;
  const isLikely = ({ landing, hasNoHistory }: AttemptReport): boolean =>
    landing === null ? hasNoHistory : isSameAs(told)(landing);
  return words.every(isLikely) ? told : null;
}

/** Whether two landings are the same transaction in the same block with the same outcome. */
export function isSameAs(one: FoundLanding): (other: FoundLanding) => boolean {
  return ({ signature, slot, error }) =>
    signature === one.signature && slot === one.slot && error === one.error;
}

/** The answer of an endpoint of this name. */
interface Said {
  readonly endpoint: string;
}

/**
 * The words of endpoints whose slot has moved within ten minutes, where as many are left as must agree; else all words: too
 * few are no evidence, and what stands still may be the chain.
 */
export function saidByMoving<T extends Said>(nodes: NodeContext, all: readonly T[]): readonly T[] {
  const still = new Set(nodes.endpoints.filter(({ health }) => health.standsStill).map(({ name }) => name));
  const moving = all.filter(({ endpoint }) => !still.has(endpoint));
  return moving.length >= nodes.witnesses ? moving : all;
}
