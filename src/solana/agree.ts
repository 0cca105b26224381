/** Makes evidence of answers: the only file that may call answers of nodes agreed on. */
import { agreed } from "../ledger/agreed.ts";
import type { Evidence, SomeEvidence } from "../ledger/belief.ts";
import { EndpointsDifferError } from "../ledger/ledger.ts";
import { byPreference, firstAnswer, type NodeContext, type EndpointCall } from "./ask.ts";
import { withRole } from "./endpoint.ts";
import { tooFewWitnesses } from "./endpoint-failure.ts";

/** A fact that several endpoints are asked for. */
interface Matter<T> {
  /** The noun that a person is shown when endpoints differ, such as "the rent of an account". */
  readonly subject: string;
  readonly question: EndpointCall<T>;
  /** Equal texts for answers that are alike. */
  readonly textOf: (answer: T) => string;
}

/**
 * Asks every endpoint and returns the answer that `nodes.witnesses` of them give alike. Throws `LedgerUnavailable` where
 * fewer endpoints answer, and `EndpointsDifferError` where enough answer and no answer, or more than one, has enough of them:
 * then nothing is known, and the dispute is remembered until they agree.
 */
export async function agree<T>(nodes: NodeContext, matter: Matter<T>): Promise<Evidence<T>> {
  const { subject, textOf } = matter;
  const answers = await answersOf(nodes, matter.question);
  const texts = answers.map(({ answer }) => textOf(answer));
  const isEnough = (text: string): boolean =>
    texts.filter((other) => other === text).length >= nodes.witnesses;
  const [text, ...others] = new Set(texts.filter(isEnough));
  const alike = text === undefined || others.length > 0 ? undefined : answers[texts.indexOf(text)];
  if (alike !== undefined) {
    nodes.disputes.end(subject);
    return agreed(alike.answer);
  }
  throw differ(
    nodes,
    subject,
    answers.map(({ endpoint }) => endpoint),
  );
}

/**
 * Asks every endpoint and concludes from the answers of `nodes.witnesses` of them or more. Throws `LedgerUnavailable` where
 * fewer answer: too few witnesses are no evidence.
 */
export async function weigh<T, R>(
  nodes: NodeContext,
  question: EndpointCall<T>,
  conclude: (answers: readonly T[]) => R,
): Promise<Evidence<R>> {
  const answers = await answersOf(nodes, question);
  return agreed(conclude(answers.map(({ answer }) => answer)));
}

/** Asks every endpoint and concludes from all answers; without any answer, from an empty list. */
export async function gather<T, R>(
  nodes: NodeContext,
  question: EndpointCall<T>,
  conclude: (answers: readonly T[]) => R,
): Promise<Evidence<R>> {
  const { answers } = await hearAll(nodes, question);
  return agreed(conclude(answers.map(({ answer }) => answer)));
}

/** `gather`, which also throws `LedgerUnavailable` when no endpoint answers. */
export async function gatherAny<T, R>(
  nodes: NodeContext,
  question: EndpointCall<T>,
  conclude: (answers: readonly T[]) => R,
): Promise<Evidence<R>> {
  return await weigh({ ...nodes, witnesses: 1 }, question, conclude);
}

/** A run that endpoints are asked to try. */
interface Trial<T> extends Matter<T> {
  /** Whether the run succeeded. */
  readonly passes: (answer: T) => boolean;
  /** Whether the endpoint may only be too far behind to try it. */
  readonly mayLag: (answer: T) => boolean;
}

/**
 * Asks endpoints in turn and returns null at the first endpoint whose trial passes: one is enough, since the chain
 * decides. Otherwise returns the failure that `nodes.witnesses` endpoints report alike; answers of possibly lagging
 * endpoints are left out as long as a fresher endpoint answers. Throws as `agree` does.
 */
export async function failureOf<T>(nodes: NodeContext, trial: Trial<T>): Promise<Evidence<T> | null> {
  const told: Answer<T>[] = [];
  const errors: unknown[] = [];
  const now = nodes.clock.now();
  for (const endpoint of withRole(nodes.endpoints, "witness").toSorted(byPreference(now, "reads"))) {
    try {
      const answer = await firstAnswer({ ...nodes, endpoints: [endpoint] }, trial.question);
      if (trial.passes(answer)) return null;
      told.push({ endpoint: endpoint.name, answer });
    } catch (error) {
      errors.push(error);
    }
  }
  const known = told.filter(({ answer }) => !trial.mayLag(answer));
  const [lagging] = told;
  if (lagging !== undefined && known.length === 0) return agreed(lagging.answer);
  const texts = known.map(({ answer }) => trial.textOf(answer));
  const alike = known.find(
    (_, index) => texts.filter((text) => text === texts[index]).length >= nodes.witnesses,
  );
  if (alike !== undefined) return agreed(alike.answer);
  if (told.length < nodes.witnesses) throw tooFewWitnesses(nodes, told.length, errors);
  throw differ(
    nodes,
    trial.subject,
    told.map(({ endpoint }) => endpoint),
  );
}

/** Marks a value that is known without a node, such as the rent of no account. */
export function unasked<T>(value: T): Evidence<T> {
  return agreed(value);
}

/** Concludes from evidence, and from what needs no node: the conclusion is evidence, too. */
export function follows<const E extends SomeEvidence, R>(
  evidence: E,
  conclude: (evidence: E) => R,
): Evidence<R> {
  return agreed(conclude(evidence));
}

/** Remembers a dispute, and makes the error that tells of it. */
export function differ(
  nodes: NodeContext,
  subject: string,
  endpoints: readonly string[],
): EndpointsDifferError {
  noteDifference(nodes, subject, endpoints);
  return new EndpointsDifferError(subject, endpoints);
}

/** Remembers a dispute, and tells of a new one. */
export function noteDifference(nodes: NodeContext, subject: string, endpoints: readonly string[]): void {
  if (!nodes.disputes.note(subject, endpoints)) return;
  nodes.log.warn({ subject, endpoints }, "Solana endpoints differ, so nothing is concluded");
}

interface Answer<T> {
  readonly endpoint: string;
  readonly answer: T;
}

/** The answers of at least `nodes.witnesses` endpoints. */
async function answersOf<T>(nodes: NodeContext, question: EndpointCall<T>): Promise<readonly Answer<T>[]> {
  const { answers, errors } = await hearAll(nodes, question);
  if (answers.length >= nodes.witnesses) return answers;
  throw tooFewWitnesses(nodes, answers.length, errors);
}

/** The answers of all witnesses, and the errors of endpoints without an answer. */
async function hearAll<T>(
  nodes: NodeContext,
  question: EndpointCall<T>,
): Promise<{ readonly answers: readonly Answer<T>[]; readonly errors: readonly unknown[] }> {
  const asked = withRole(nodes.endpoints, "witness").map(async (endpoint): Promise<Answer<T>> => ({
    endpoint: endpoint.name,
    answer: await firstAnswer({ ...nodes, endpoints: [endpoint] }, question),
  }));
  const settled = await Promise.allSettled(asked);
  return {
    answers: settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : [])),
    errors: settled.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : [])),
  };
}
