/** Makes evidence of answers: the only file that may call answers of nodes agreed on, by the table of reads. */
import { agreed } from "../ledger/agreed.ts";
import type { Evidence, SomeEvidence } from "../ledger/belief.ts";
import { EndpointsDifferError } from "../ledger/ledger.ts";
import { QUESTIONS, type ComparedQuestion, type EvidenceQuestion } from "../ledger/reads.ts";
import { byPreference, firstAnswer, type NodeContext, type EndpointCall } from "./ask.ts";
import { withRole } from "./endpoint.ts";
import { isBehind, tooFewWitnesses, troubleOf, unavailable } from "./endpoint-failure.ts";
import { untilKnown } from "./rpc/until-known.ts";

/** A question to all witnesses. */
interface Question<T> {
  /** Its line in the table of reads, which says how many have to answer. */
  readonly of: EvidenceQuestion;
  readonly question: EndpointCall<T>;
}

/** A fact that endpoints have to tell alike. */
interface Matter<T> extends Question<T> {
  readonly of: ComparedQuestion;
  /** The noun that a person is shown when endpoints differ, such as "the rent of an account". */
  readonly subject: string;
  /** Equal texts for answers that are alike. */
  readonly textOf: (answer: T) => string;
}

/**
 * Asks every endpoint and returns the answer that as many of them give alike as its line of the table says. Throws `LedgerUnavailable` where
 * fewer endpoints answer, and `EndpointsDifferError` where enough answer and no answer, or more than one, has enough of them:
 * then nothing is known, and the dispute is remembered until they agree.
 */
export async function agree<T>(nodes: NodeContext, matter: Matter<T>): Promise<Evidence<T>> {
  const { subject, textOf } = matter;
  const answers = await answersTo(nodes, matter);
  const alike = toldAlike(
    answers.map(({ answer }) => textOf(answer)),
    neededFor(nodes, matter.of),
  );
  if (alike === null) throw differ(nodes, subject, namesOf(answers));
  nodes.disputes.end(subject);
  return agreed((answers[alike] as Answer<T>).answer);
}

/** The place of the first answer that enough give alike; null where no answer, or more than one, has enough. */
export function toldAlike(told: readonly unknown[], needed: number): number | null {
  const enough = told.filter((one) => told.filter((other) => other === one).length >= needed);
  const [first] = enough;
  return enough.length === 0 || enough.some((one) => one !== first) ? null : told.indexOf(first);
}

/**
 * Asks every endpoint and concludes from their answers. Throws `LedgerUnavailable` where fewer answer than the question needs:
 * too few witnesses are no evidence.
 */
export async function weigh<T, R>(
  nodes: NodeContext,
  asked: Question<T>,
  conclude: (answers: readonly T[]) => R,
): Promise<Evidence<R>> {
  const answers = await answersTo(nodes, asked);
  return agreed(conclude(answers.map(({ answer }) => answer)));
}

interface Answer<T> {
  readonly endpoint: string;
  readonly answer: T;
}

/** The answers of all witnesses, as many at least as the line of the question says. */
async function answersTo<T>(
  nodes: NodeContext,
  { of, question }: Question<T>,
): Promise<readonly Answer<T>[]> {
  const needed = neededFor(nodes, of);
  const asked = withRole(nodes.endpoints, "witness").map(async (endpoint): Promise<Answer<T>> => ({
    endpoint: endpoint.name,
    answer: await firstAnswer({ ...nodes, endpoints: [endpoint] }, question),
  }));
  const settled = await Promise.allSettled(asked);
  const answers = settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  if (answers.length >= needed) return answers;
  const errors = settled.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
  throw tooFewWitnesses({ ...nodes, witnesses: needed }, answers.length, errors);
}

/** How many endpoints have to answer. */
function neededFor({ witnesses }: NodeContext, of: EvidenceQuestion): number {
  return { enough: witnesses, any: 1, none: 0 }[QUESTIONS[of].witnesses];
}

function namesOf(answers: readonly Answer<unknown>[]): readonly string[] {
  return answers.map(({ endpoint }) => endpoint);
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
 * decides. Otherwise returns the failure that as many endpoints report alike as must agree; answers of possibly lagging
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
  const needed = neededFor(nodes, trial.of);
  const alike = known.find((_, index) => texts.filter((text) => text === texts[index]).length >= needed);
  if (alike !== undefined) return agreed(alike.answer);
  if (told.length < needed) throw tooFewWitnesses(nodes, told.length, errors);
  throw differ(nodes, trial.subject, namesOf(told));
}

/**
 * Asks several endpoints again for what none of them may know yet, by the rule of `untilKnown`: the first conclusion of
 * `attempt` that is not undefined. Throws `LedgerUnavailable` where nothing is known in the end.
 */
export async function untilAgreed<T>(
  nodes: NodeContext,
  attempt: (hasCaughtUp: boolean) => Promise<T | undefined>,
): Promise<T> {
  try {
    return await untilKnown(nodes, attempt);
  } catch (error) {
    if (!isBehind(error)) throw error;
    const witnesses = withRole(nodes.endpoints, "witness");
    throw unavailable(
      nodes.closed,
      witnesses.map((endpoint) => troubleOf(endpoint, error)),
    );
  }
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
