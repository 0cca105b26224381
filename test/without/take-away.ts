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
  const lines = left.split("\n").filter((line) => {
    const loaded = LOADED.exec(line)?.[1];
    const isGoneLine =
      (loaded !== undefined && isGone.file(loaded)) ||
      lineGoesWith(line).some(isGone.module) ||
      (names.size > 0 && line.split(/[^\w$]+/).some((word) => names.has(word)));
    if (isGoneLine) gone.push(line);
    return !isGoneLine;
  });
  return { text: lines.join("\n"), gone };
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
