/** Faults that make a tired reader, whose first language is another, stumble: openings, riddles of pronouns, long sentences. */
import type { Sentence } from "./sentences.ts";

/** Why a sentence is hard to read. */
export type Fault = "opening" | "pronouns" | "length";

/** A sentence that is hard to read. */
export interface Finding extends Sentence {
  readonly fault: Fault;
}

/** A sentence begins with the noun of the field, or with a verb. */
const OPENINGS =
  /^(?:What|Whatever|Of|By then|So many|So much|None|Who|Whom|Whose|Whoever|Those|That which)\b/;

/** Words that stand for another word. */
const PRONOUNS = new Set(
  [
    "it its that what those these each one they them which such so there then who whom whose this",
    "other others another none all any some whatever whoever",
  ]
    .join(" ")
    .split(" "),
);

const MOST_PRONOUNS = 0.3;
const MOST_WORDS = 25;
/** A shorter sentence is no riddle, however many pronouns it has. */
const LEAST_WORDS = 8;

/** The list of sentences that stay, each by its beginning. */
const KEPT: readonly string[] = [
  // The label of a part that every page has.
  "What goes wrong:",
];

const wordsOf = (text: string): readonly string[] => text.match(/[A-Za-z']+/g) ?? [];

/** The faults of a sentence. A question may open with its question word. */
export function faultsOf({ text }: Sentence): readonly Fault[] {
  const words = wordsOf(text);
  const pronouns = words.filter((word) => PRONOUNS.has(word.toLowerCase())).length;
  const isQuestion = text.endsWith("?");
  const isKept = KEPT.some((begin) => text.startsWith(begin));
  return [
    ...(OPENINGS.test(text) && !isQuestion && !isKept ? (["opening"] as const) : []),
    ...(words.length >= LEAST_WORDS && pronouns / words.length > MOST_PRONOUNS
      ? (["pronouns"] as const)
      : []),
    ...(words.length > MOST_WORDS ? (["length"] as const) : []),
  ];
}

/** Each fault of each sentence. */
export function findingsIn(sentences: readonly Sentence[]): readonly Finding[] {
  return sentences.flatMap((sentence) => faultsOf(sentence).map((fault) => ({ ...sentence, fault })));
}
