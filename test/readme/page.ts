/** The pages of the repository as data: their code blocks and tables, for the tests that compare them with the code. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runtimeOptions } from "../../src/core/options.ts";

/** The folder of the project. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const FOLDERS = ["machines", "storage", "src", "examples", "test"];

/** Every page of the repository, as paths from its root. */
export const PAGES: readonly string[] = [
  ...readdirSync(ROOT),
  ...FOLDERS.flatMap((folder) => filesBelow(folder).map((path) => `${folder}/${path}`)),
]
  .filter((path) => path.endsWith(".md"))
  .toSorted();

/** The files below a folder of the repository, as paths from there, without those that were installed or built. */
export function filesBelow(folder: string): readonly string[] {
  return readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !path.includes("node_modules/") && !path.startsWith("site/dist/"));
}

/** The text of a page. */
export function textOf(file: string): string {
  return readFileSync(`${ROOT}${file}`, "utf8");
}

/** A page without its code, where brackets are no links and hashes no headings. */
export function proseOf(page: string): string {
  return textOf(page)
    .replaceAll(/^```[\s\S]*?^```$/gm, "")
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ""));
}

/** The relative links of a page, pictures included. */
export function linksOf(page: string): readonly string[] {
  const prose = proseOf(page);
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g), ...prose.matchAll(/<img src="([^"]+)"/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** The code blocks of a page whose fence is exactly this, such as "sh tour", in the order of the page. */
export function blocksOf(file: string, fence: string): readonly string[] {
  return [...textOf(file).matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)]
    .filter(([, info]) => info === fence)
    .map(([, , code = ""]) => code);
}

/** The one block of a page with this fence. Throws when there is none, and when there are two. */
export function blockOf(file: string, fence: string): string {
  const [only, ...more] = blocksOf(file, fence);
  if (only === undefined || more.length > 0) throw new Error(`expected one block "${fence}" in ${file}`);
  return only;
}

/** A table of a page: its rows without the header, and the text before and behind them. */
interface FoundTable {
  readonly rows: readonly (readonly string[])[];
  readonly before: string;
  readonly behind: string;
}

/** The first table below the line of a page that begins with `mark`. Throws when there is none. */
export function tableIn(page: string, mark: string): FoundTable {
  const from = page.indexOf(`\n${mark}`);
  const [table, header = "", body = ""] = /^(\|.*\n\|[ :|-]+\|\n)((?:\|.*\n)*)/m.exec(page.slice(from)) ?? [];
  if (from < 0 || table === undefined) throw new Error(`expected a table below "${mark}"`);
  const start = page.indexOf(table, from) + header.length;
  const rows = body.split("\n").slice(0, -1);
  return {
    rows: rows.map((row) =>
      row
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    ),
    before: page.slice(0, start),
    behind: page.slice(start + body.length),
  };
}

/** The cells of the rows of the first table below the line of a page that begins with `mark`, without the header. */
export function tableOf(file: string, mark: string): readonly (readonly string[])[] {
  return tableIn(textOf(file), mark).rows;
}

/** The words of a cell that are set as code. */
export function codeIn(cell: string | undefined): readonly string[] {
  return [...(cell ?? "").matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);
}

/** The names of the fields of an interface or of a schema, read from its source, nested ones left out. */
export function fieldsOf(file: string, name: string): readonly string[] {
  const source = readFileSync(`${ROOT}${file}`, "utf8");
  const schema = new RegExp(`type ${name} = z.input<typeof (\\w+)>`).exec(source)?.[1];
  const opening =
    schema === undefined
      ? `interface ${name}(?:<\\w+>)?(?: extends \\w+)?`
      : `const ${schema} = optionsWith\\(`;
  const body = new RegExp(`${opening} ?\\{\\n([\\s\\S]*?)\\n\\}`).exec(source)?.[1];
  if (body === undefined) throw new Error(`expected an interface or a schema ${name} in ${file}`);
  const shared = body.includes("...runtimeOptions") ? Object.keys(runtimeOptions) : [];
  const own = [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??:/gm)].map(([, field = ""]) => field);
  return [...own, ...shared];
}
