/** The README as data: its code blocks and its tables, for the tests that hold it to the truth. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of the project. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The whole page. */
export const PAGE = readFileSync(`${ROOT}README.md`, "utf8");

/** The one block of another page of the repository whose fence says this. */
export function blockOf(file: string, fence: string): string {
  const [only] = blocks(fence, readFileSync(`${ROOT}${file}`, "utf8"));
  if (only === undefined) throw new Error(`expected a block "${fence}" in ${file}`);
  return only;
}

/** The code blocks whose fence says exactly this, such as "sh tour", in the order of the page. */
export function blocks(fence: string, page = PAGE): readonly string[] {
  return [...page.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)]
    .filter(([, info]) => info === fence)
    .map(([, , code = ""]) => code);
}

/** The one block whose fence says this. Throws when there is none or another. */
export function block(fence: string): string {
  const [only, ...more] = blocks(fence);
  if (only === undefined || more.length > 0) throw new Error(`expected one block "${fence}" in the README`);
  return only;
}

/** The page about the HTTP API. */
export const HTTP_PAGE = readFileSync(`${ROOT}src/http/README.md`, "utf8");

/** The cells of the rows of the first table below a line that begins with `mark`, its header left out. */
export function tableBelow(mark: string, page = PAGE): readonly (readonly string[])[] {
  const lines = page.slice(page.indexOf(`\n${mark}`) + 1).split("\n");
  const first = lines.findIndex((line) => line.startsWith("|"));
  if (!page.includes(`\n${mark}`) || first < 0) throw new Error(`expected a table below "${mark}"`);
  const rows = lines.slice(first, first + lines.slice(first).findIndex((line) => !line.startsWith("|")));
  return rows.slice(2).map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The words of a cell that are set as code. */
export function codeIn(cell: string | undefined): readonly string[] {
  return [...(cell ?? "").matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);
}

/** The names of the fields of an interface, read from its source, nested ones left out. */
export function fieldsOf(file: string, name: string): readonly string[] {
  const source = readFileSync(`${ROOT}${file}`, "utf8");
  const body = new RegExp(`interface ${name}(?:<\\w+>)? \\{\\n([\\s\\S]*?)\\n\\}`).exec(source)?.[1];
  if (body === undefined) throw new Error(`expected an interface ${name} in ${file}`);
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??:/gm)].map(([, field = ""]) => field);
}
