/** Asks several nodes the same question, where the answer of one alone is not believed. */
import type { WitnessCount } from "../ledger/ledger.ts";
import { ask, askEach, type Nodes, type Question } from "./ask.ts";
import { MAX_SLOTS_BEHIND } from "./health.ts";
import { tooFewWitnesses } from "./unavailable.ts";

/**
 * What each endpoint that answered says, at least `nodes.witnesses` of them. Throws `LedgerUnavailable` where fewer
 * answer: too few witnesses are no evidence.
 */
export async function askWitnesses<T>(nodes: Nodes, question: Question<T>): Promise<readonly T[]> {
  const asked = nodes.endpoints.map((endpoint) => ask({ ...nodes, endpoints: [endpoint] }, question));
  const settled = await Promise.allSettled(asked);
  const answers = settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  if (answers.length >= nodes.witnesses) return answers;
  const errors = settled.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
  throw tooFewWitnesses(nodes, answers.length, errors);
}

/** See `Ledger.witnesses`. */
export async function witnessCount(nodes: Nodes): Promise<WitnessCount> {
  const answers = await askEach(nodes, ({ rpc }) => rpc.getSlot("finalized"));
  const slots = answers.filter((slot) => slot !== null).toSorted((one, other) => other - one);
  const newest = slots[0] ?? 0;
  const answering = slots.filter((slot) => newest - slot <= MAX_SLOTS_BEHIND).length;
  return { needed: nodes.witnesses, answering };
}
