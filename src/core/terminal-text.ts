/** Text as a terminal may print it: a character that a terminal obeys, or that turns letters around, is printed as its code. */

const OBEYED = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;
const OBEYED_IN_LINES = /(?!\n)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/** Stored text that belongs on one line: a line feed in it would forge a line of the page. */
export function inOneLine(text: string): string {
  return text.replaceAll(OBEYED, codeOf);
}

/** A whole page, or a line of JSON, in which the code means the same character. */
export function inLines(text: string): string {
  return text.replaceAll(OBEYED_IN_LINES, codeOf);
}

function codeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
