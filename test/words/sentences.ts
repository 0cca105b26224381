/** Sentences of comments and of pages, with the line that each begins in. */

/** A sentence, and where it stands. */
export interface Sentence {
  readonly text: string;
  readonly line: number;
}

const CODE = "X";

/** A colon and a semicolon end a sentence, too: a reader rests there. */
const ENDS = /(?<=[.!?:;])\s+/;

const lineOf = (text: string, at: number): number => text.slice(0, at).split("\n").length;

function sentencesIn(prose: string, line: number): readonly Sentence[] {
  return prose
    .replaceAll(/\s+/g, " ")
    .trim()
    .split(ENDS)
    .filter((text) => /[A-Za-z]/.test(text))
    .map((text) => ({ text, line }));
}

/** The sentences of the comments of a TypeScript source, without the code of their examples. */
export function commentSentences(source: string): readonly Sentence[] {
  const comments = source.matchAll(/\/\*\*?[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n?)+/gm);
  return [...comments].flatMap(({ 0: comment, index }) => {
    const prose = comment
      .replaceAll(/```[\s\S]*?```/g, "")
      .replaceAll(/^\s*\/\/ ?/gm, "")
      .replaceAll(/\/\*\*?|[ \t]*\*\/|^\s*\* ?/gm, " ")
      .replaceAll(/@(?:param|typeParam) \S+|@\w+/g, ". ")
      .replaceAll(/\{@link (\w+)[^}]*\}/g, "$1")
      .replaceAll(/`[^`]*`/g, CODE);
    return sentencesIn(prose, lineOf(source, index));
  });
}

/** The prose of a line of Markdown: links by their text, code as one word. */
function plain(line: string): string {
  return line
    .replaceAll(/<!--.*?-->/g, "")
    .replaceAll(/`[^`]*`/g, CODE)
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/\*\*|(?<!\w)_|_(?!\w)/g, "")
    .replace(/^\s*(?:[-*>]|\d+\.|#+)\s+(?:\[.\] )?/, "");
}

/** The sentences of a page: of its paragraphs, its lists, and each cell of its tables; headings, code and diagrams are left out. */
export function pageSentences(page: string): readonly Sentence[] {
  let isCode = false;
  return page.split("\n").flatMap((line, index) => {
    if (line.startsWith("```")) isCode = !isCode;
    if (isCode || /^(?:```|#)/.test(line) || /^\|[ :|-]+\|$/.test(line)) return [];
    const cells = line.startsWith("|") ? plain(line).split("|") : [plain(line)];
    return cells.flatMap((cell) => sentencesIn(cell, index + 1));
  });
}
