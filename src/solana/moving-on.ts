/** Leaves out what endpoints say that follow the chain no more: their answers are old, and contradict nobody. */
import type { NodeContext } from "./ask.ts";

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
