/** Checks names and reasons that people read: text without invisible characters, and names compared as people read them. */
import { z } from "zod";

const MAX_CHARACTERS = 200;

/**
 * Control characters, format characters such as the zero-width space, line separators, halves of a pair, and whatever
 * else fonts draw nothing for: two names that differ only by such a character look the same.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
const ALL_UNSEEN = new RegExp(UNSEEN, "gu");

/** Checks the name of a person or an account, or a reason. A text with an invisible character is refused, and the error names the character. */
export const shownWords = z
  .string()
  .trim()
  .min(1)
  .max(MAX_CHARACTERS)
  .superRefine((text, check) => {
    const [unseen] = UNSEEN.exec(text) ?? [];
    if (unseen === undefined) return;
    const message = `${codePointOf(unseen)} is a control character or invisible: leave it out`;
    check.addIssue({ code: "custom", message });
  });

/** Alphabets some of whose letters look the same, as `a` does in the first two. */
const ALPHABETS = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Coptic}/u,
  /\p{Script=Lisu}/u,
];

/**
 * Checks a person's name. Names that mix these alphabets are refused, since such a name may look like a different name.
 */
export const shownName = shownWords.refine(
  (name) => ALPHABETS.filter((alphabet) => alphabet.test(name)).length <= 1,
  "it mixes letters of alphabets that look alike: write it in one of them",
);

/**
 * Whether two names belong to one person: case, form and spacing do not matter. Names stored by older versions may
 * contain invisible characters, which do not matter either.
 */
export function isSamePerson(one: string, other: string): boolean {
  return asRead(one) === asRead(other);
}

function asRead(name: string): string {
  const seen = name.replaceAll(ALL_UNSEEN, "").normalize("NFKC");
  const folded = seen.toUpperCase().toLowerCase();
  return folded.replaceAll(/\s/g, "");
}

function codePointOf(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return `U+${hex.padStart(4, "0")}`;
}
