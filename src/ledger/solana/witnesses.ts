/** Asking several nodes the same thing, for answers that one node alone is not believed. */
import { ask, type Nodes, type Question } from "./ask.ts";
import { allUnavailable } from "./unavailable.ts";

/**
 * What each endpoint that answered says, at least `nodes.witnesses` of them. Throws `LedgerUnavailable` where fewer
 * answer: too few witnesses are no evidence.
 */
export async function askWitnesses<T>(nodes: Nodes, question: Question<T>): Promise<readonly T[]> {
  const asked = nodes.endpoints.map((endpoint) => ask({ ...nodes, endpoints: [endpoint] }, question));
  const settled = await Promise.allSettled(asked);
  const answers = settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  if (answers.length >= nodes.witnesses) return answers;
  throw allUnavailable(
    nodes.closed,
    settled.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : [])),
  );
}
