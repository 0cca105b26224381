/** Measures text without a browser: the charts' small text has letters of equal width. */

/** The width of a letter of the small text, and the height of its lines, in pixels. */
export const CHARACTER = 6.65;
export const LINE = 15;

/** The widest letter in the name of a state, whose letters have different widths. */
export const NAME_CHARACTER = 8.2;
export const NAME_LINE = 19;

/** Between the edge of a box and the text in it. */
export const PADDING = 9;

/** The text in lines of at most `length` letters, broken at spaces, and inside a word only where it is longer than that. */
export function wrapped(text: string, length: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const next = line === "" ? word : `${line} ${word}`;
    if (next.length <= length) {
      line = next;
      continue;
    }
    if (line !== "") lines.push(line);
    line = word;
    while (line.length > length) {
      const head = longHead(line, length);
      lines.push(head);
      line = line.slice(head.length);
    }
  }
  return line === "" ? lines : [...lines, line];
}

/** The beginning of a word that is too long for a line: up to a sign or a capital letter, if there is one far enough in. */
function longHead(word: string, length: number): string {
  const parts = word.slice(0, length + 1).split(/(?<=[._(,:-])|(?<=[a-z])(?=[A-Z])/);
  const head = parts.slice(0, -1).join("");
  return head.length > length / 3 && head.length <= length ? head : word.slice(0, length);
}
