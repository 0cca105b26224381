/** Makes evidence of answers: an answer counts when enough endpoints give it alike. */
import { EndpointsDiffer } from "../ledger/ledger.ts";
import { ask, type Nodes, type Question } from "./ask.ts";
import { tooFewWitnesses } from "./unavailable.ts";

/** A fact that several endpoints are asked for. */
export interface Matter<T> {
  /** The noun that a person is shown when endpoints differ, such as "the rent of an account". */
  readonly subject: string;
  readonly question: Question<T>;
  /** Equal texts for answers that are alike. */
  readonly textOf: (answer: T) => string;
}

/**
 * Asks every endpoint and returns the answer that `nodes.witnesses` of them give alike. Throws `LedgerUnavailable` where
 * fewer endpoints answer, and `EndpointsDiffer` where enough answer and no answer, or more than one, has enough of them:
 * then nothing is known, and the dispute is remembered until they agree.
 */
export async function agree<T>(nodes: Nodes, matter: Matter<T>): Promise<T> {
  const { subject, textOf } = matter;
  const answers = await answersOf(nodes, matter.question);
  const texts = answers.map(({ answer }) => textOf(answer));
  const isEnough = (text: string): boolean =>
    texts.filter((other) => other === text).length >= nodes.witnesses;
  const [text, ...others] = new Set(texts.filter(isEnough));
  const agreed = text === undefined || others.length > 0 ? undefined : answers[texts.indexOf(text)];
  if (agreed !== undefined) {
    nodes.disputes.end(subject);
    return agreed.answer;
  }
  throw differ(
    nodes,
    subject,
    answers.map(({ endpoint }) => endpoint),
  );
}

/** Remembers a dispute, and makes the error that tells of it. */
export function differ(nodes: Nodes, subject: string, endpoints: readonly string[]): EndpointsDiffer {
  if (nodes.disputes.note(subject, endpoints)) {
    nodes.log.warn({ subject, endpoints }, "Solana endpoints differ, so nothing is concluded");
  }
  return new EndpointsDiffer(subject, endpoints);
}

interface Answer<T> {
  readonly endpoint: string;
  readonly answer: T;
}

/** The answers of at least `nodes.witnesses` endpoints. */
async function answersOf<T>(nodes: Nodes, question: Question<T>): Promise<readonly Answer<T>[]> {
  const asked = nodes.endpoints.map(async (endpoint): Promise<Answer<T>> => ({
    endpoint: endpoint.name,
    answer: await ask({ ...nodes, endpoints: [endpoint] }, question),
  }));
  const settled = await Promise.allSettled(asked);
  const answers = settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  if (answers.length >= nodes.witnesses) return answers;
  const errors = settled.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
  throw tooFewWitnesses(nodes, answers.length, errors);
}
