/** The tool that lists sentences which are hard to read: it finds them, and lets good ones alone. */
import { expect, test } from "vitest";
import { faultsOf, findingsIn } from "./findings.ts";
import { commentSentences, pageSentences } from "./sentences.ts";

const sentence = (text: string): { text: string; line: number } => ({ text, line: 1 });

test.each([
  ["What a mint says.", ["opening"]],
  ["Of two rows the later one counts.", ["opening"]],
  ["By then a lagging node has caught up.", ["opening"]],
  ["Tells one of those from another, and nothing of what it is.", ["pronouns"]],
  [`${"word ".repeat(26)}ends here.`, ["length"]],
  ["What if every node lies?", []],
  ["Mint metadata: decimals, authorities, extensions.", []],
])("%s", (text, faults) => {
  expect(faultsOf(sentence(text))).toEqual(faults);
});

test("comments are read without their examples and their tags, each sentence with its line", () => {
  const source = [
    "/**",
    " * Reads a row. Throws `Gone`",
    " * otherwise.",
    " * @param row What is read",
    " * @example",
    " * ```ts",
    " * // What is code is not read",
    " * ```",
    " */",
    "const a = 1; // beside code",
    "  // Of one line.",
  ].join("\n");
  expect(commentSentences(source)).toEqual([
    { text: "Reads a row.", line: 1 },
    { text: "Throws X otherwise.", line: 1 },
    { text: "What is read .", line: 1 },
    { text: "Of one line.", line: 11 },
  ]);
});

test("pages are read by paragraph and by cell, without code, with the text of their links", () => {
  const page = [
    "# Names",
    "",
    "| name | meaning |",
    "| ---- | ------- |",
    "| `a` | the [first](a.md) one |",
    "",
    "```ts",
    "// What is code",
    "```",
    "- **Bold.** Two sentences.",
  ].join("\n");
  expect(pageSentences(page).map(({ text }) => text)).toEqual([
    "name",
    "meaning",
    "X",
    "the first one",
    "Bold.",
    "Two sentences.",
  ]);
});

test("a finding tells where its sentence stands", () => {
  expect(findingsIn([{ text: "None is left.", line: 7 }])).toEqual([
    { text: "None is left.", line: 7, fault: "opening" },
  ]);
});
