/** What goes from a file when modules are taken away: text in, text out. */

/** `// modules: schedules, jobs` in the head of a file: it goes with each of them. */
const HEAD = /^\/\/ modules: ([\w/, -]+)$/m;
const HEAD_LINES = 10;

/** The modules that a file says in its head that it goes with. */
export function goesWith(text: string): readonly string[] {
  const head = text.split("\n", HEAD_LINES).join("\n");
  return (HEAD.exec(head)?.[1] ?? "").split(/, ?/).filter((name) => name !== "");
}

/** Behind a line: the line goes with these modules. */
const LINE = /^\/\/ modules: ([\w/, -]+)$/;

/** The modules that a line says it goes with. Found from its end: a bundle may be one line of a megabyte. */
function lineGoesWith(line: string): readonly string[] {
  const at = line.lastIndexOf("// modules: ");
  return at < 1 ? [] : (LINE.exec(line.slice(at))?.[1] ?? "").split(/, ?/);
}

/** Alone in a line below the head: what begins in the next line goes with these modules, a test or a member of a list, to its end. */
const ABOVE = /^ *\/\/ modules: ([\w/, -]+)$/;

/** Where the part ends that begins in a line, its docstring and comments before it: the first line behind it. Lines are as prettier sets them. */
function endOfPart(lines: readonly string[], from: number): number {
  const indent = indentOf(lines[from] ?? "");
  const textAt = (line: number): string => (lines[line] ?? "").trim();
  let at = from;
  if (textAt(at).startsWith("/**")) {
    while (at < lines.length && !textAt(at).endsWith("*/")) at++;
    at++;
  }
  while (textAt(at).startsWith("//")) at++;
  let end = at + 1;
  for (at = end; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (line === "") continue;
    const isInside = indentOf(line) > indent || (indentOf(line) === indent && /^[\])}]/.test(line.trim()));
    if (!isInside) break;
    end = at + 1;
  }
  return end;
}

const indentOf = (line: string): number => line.length - line.trimStart().length;

/** The lines that stand in parts whose mark above says that they go. */
function linesOfParts(lines: readonly string[], isGone: (module: string) => boolean): ReadonlySet<number> {
  const gone = new Set<number>();
  lines.forEach((line, at) => {
    const names = ABOVE.exec(line)?.[1]?.split(/, ?/) ?? [];
    if (names.some(isGone)) for (let each = at; each < endOfPart(lines, at + 1); each++) gone.add(each);
  });
  return gone;
}

/** A statement that takes names from another file. Ours stand at the beginning of a line and end with a semicolon. */
const STATEMENT = /^(?:import|export)\b([^;"'`]*?)\bfrom "([^"]+)";\n/gm;
/** A file that is loaded when it is needed. */
const LOADED = /\bimport\("([^"]+)"\)/;
const MEMBER = /(?:type\s+)?([\w$]+)(?:\s+as\s+([\w$]+))?/;

export interface Left {
  readonly text: string;
  /** The lines that were taken away. */
  readonly gone: readonly string[];
}

interface Gone {
  readonly file: (specifier: string) => boolean;
  readonly module: (name: string) => boolean;
}

/** The text without what it takes from files that are gone, and without each line that names that, or says that it goes. */
export function sourceWithout(text: string, isGone: Gone): Left {
  const gone: string[] = [];
  const names = new Set<string>();
  const left = text.replaceAll(STATEMENT, (statement: string, members: string, specifier: string) => {
    if (!isGone.file(specifier)) return statement;
    gone.push(statement.trimEnd());
    if (statement.startsWith("import")) for (const name of namesIn(members)) names.add(name);
    return "";
  });
  const all = left.split("\n");
  const inParts = linesOfParts(all, isGone.module);
  const lines = all.filter((line, at) => {
    const loaded = LOADED.exec(line)?.[1];
    const isGoneLine =
      inParts.has(at) ||
      (loaded !== undefined && isGone.file(loaded)) ||
      lineGoesWith(line).some(isGone.module) ||
      (names.size > 0 && line.split(/[^\w$]+/).some((word) => names.has(word)));
    if (isGoneLine) gone.push(line);
    return !isGoneLine;
  });
  const rest = lines.join("\n");
  return { text: gone.length === 0 ? rest : withoutIdleImports(rest), gone };
}

/** An import of what a file or a package is as a whole. */
const WHOLE = /^\s*(?:type\s+)?([\w$]+)\s*$/;
const COMMENT = /^ *\/\*\*[^]*?\*\/|(?:^| )\/\/ .*$/gm;
/** A text in a line; a template may name something. */
const TEXT = /"(?:[^"\\\n]|\\.)*"/g;

/** The text without the names it imports and names nowhere else: those that named them are gone. */
function withoutIdleImports(text: string): string {
  const words = new Set(
    text
      .replaceAll(STATEMENT, "")
      .replaceAll(COMMENT, "")
      .replaceAll(TEXT, "")
      .split(/[^\w$]+/),
  );
  return text.replaceAll(STATEMENT, (statement: string, members: string) => {
    if (!statement.startsWith("import")) return statement;
    const whole = WHOLE.exec(members)?.[1];
    if (whole !== undefined) return words.has(whole) ? statement : "";
    const list = /\{([^}]*)\}/.exec(members)?.[1];
    if (list === undefined) return statement;
    const all = list.split(",").filter((member) => member.trim() !== "");
    const used = all.filter((member) => namesIn(`{${member}}`).some((name) => words.has(name)));
    if (used.length === all.length) return statement;
    return used.length > 0
      ? statement.replace(list, ` ${used.map((member) => member.trim()).join(", ")} `)
      : "";
  });
}

function namesIn(members: string): readonly string[] {
  const inner = /\{([^}]*)\}/.exec(members)?.[1] ?? "";
  return inner.split(",").flatMap((member) => {
    const [, name, as] = MEMBER.exec(member.trim()) ?? [];
    return as ?? name ?? [];
  });
}

/** A mark of a page: alone in a line it goes with the section that it stands in, behind a line with the line. */
const MARK = /<!-- modules: ([^>]+?) -->/;
const HEADING = /^(#+) /;

/** A page without the sections and lines that go with one of these modules. */
export function pageWithout(page: string, isGone: (module: string) => boolean): Left {
  const kept: string[] = [];
  const gone: string[] = [];
  const marked = (line: string): boolean => (MARK.exec(line)?.[1] ?? "").split(/, ?/).some(isGone);
  let level = Infinity;
  let isCode = false;
  const lines = page.split("\n");
  lines.forEach((line, at) => {
    if (line.startsWith("```")) isCode = !isCode;
    const depth = isCode ? undefined : HEADING.exec(line)?.[1]?.length;
    if (depth !== undefined && depth <= level) {
      level = isMarkedSection(lines.slice(at + 1), marked) ? depth : Infinity;
    }
    (level < Infinity || marked(line) ? gone : kept).push(line);
  });
  return { text: kept.join("\n"), gone };
}

/** Whether the first line below a heading is a mark of one that is gone. */
function isMarkedSection(below: readonly string[], marked: (line: string) => boolean): boolean {
  const first = below.find((line) => line.trim() !== "") ?? "";
  return first.startsWith("<!--") && marked(first);
}
