/** HTML out of texts that strangers wrote: every text of a page is escaped here. */

const NAMED: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

// XML has no such characters, and a browser shows nothing for them.
// oxlint-disable eslint/no-control-regex -- these are the characters that are taken out
const UNSHOWABLE =
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;
// oxlint-enable eslint/no-control-regex

/** A text as it stands in HTML, in SVG, and between the quotes of an attribute. */
export function escaped(text: string): string {
  return text.replace(UNSHOWABLE, "\uFFFD").replace(/[&<>"']/g, (sign) => NAMED[sign] ?? sign);
}

/** A piece of HTML that needs no escaping any more. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A piece of HTML as plain text, in single spaces: for a terminal. */
export function textOf({ text }: Html): string {
  const signs = Object.entries(NAMED).toReversed();
  const plain = text
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return signs.reduce((left, [sign, name]) => left.replaceAll(name, sign), plain);
}

/** Values in a template: texts and numbers are escaped, lists are joined, null is nothing. */
export type Part = string | number | Html | null | readonly Part[];

/** HTML with every value escaped: `` html`<td>${name}</td>` ``. Attributes are written in double quotes. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((text, string, index) => text + shown(parts[index - 1] ?? null) + string));
}

function shown(part: Part): string {
  if (part === null) return "";
  if (part instanceof Html) return part.text;
  return typeof part === "object" ? part.map(shown).join("") : escaped(String(part));
}
