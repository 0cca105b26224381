/**
 * Gives the types in `dist` back the names that the build shortens: an editor shows `import("…").Workflow`, not `.W`.
 * Run by `npm run build`.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/** A declared name and the name by which other files know it. */
type Pair = readonly [name: string, alias: string];

const EXPORTS = /^export( type)? \{ ([^}]*) \};$/m;
const FROM_CHUNK = /^(import|export)( type)? \{ ([^}]*) \} from '([^']+)\.js';$/gm;

const files = readdirSync("dist", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".d.ts"))
  .map((name) => join("dist", name));
/** The declared name of each shortened one, by the file's name, which holds a hash. */
const shortened = new Map(files.filter(isChunk).map((file) => [basename(file, ".d.ts"), namesIn(file)]));
for (const file of files) {
  const text = readFileSync(file, "utf8");
  writeFileSync(file, withNames(text, shortened.get(basename(file, ".d.ts"))));
}

/** A file that several entries share. */
function isChunk(file: string): boolean {
  return /-[\w-]{8}\.d\.ts$/.test(file);
}

function namesIn(file: string): ReadonlyMap<string, string> {
  const [, , list = ""] = EXPORTS.exec(readFileSync(file, "utf8")) ?? [];
  // A `$` marks a name that the file has twice: its short name tells no less.
  const pairs = pairsOf(list).filter(([name]) => !name.includes("$"));
  return new Map(pairs.map(([name, alias]) => [alias, name.replace(/^type /, "")]));
}

function withNames(text: string, own: ReadonlyMap<string, string> = new Map()): string {
  const renamed = text.replace(EXPORTS, (_whole, type = "", list: string) => {
    const pairs = pairsOf(list).map(([name, alias]): Pair => [name, own.get(alias) ?? alias]);
    return `export${type} { ${listOf(pairs)} };`;
  });
  return renamed.replaceAll(FROM_CHUNK, (whole, verb: string, type = "", list: string, path: string) => {
    const names = shortened.get(basename(path));
    if (names === undefined) return whole;
    const pairs = pairsOf(list).map(([name, alias]): Pair => [names.get(name) ?? name, alias]);
    return `${verb}${type} { ${listOf(pairs)} } from '${path}.js';`;
  });
}

function pairsOf(list: string): readonly Pair[] {
  return list.split(", ").map((each) => {
    const [name = "", alias = name.replace(/^type /, "")] = each.split(" as ");
    return [name, alias];
  });
}

function listOf(pairs: readonly Pair[]): string {
  return pairs
    .map(([name, alias]) => (name.replace(/^type /, "") === alias ? name : `${name} as ${alias}`))
    .join(", ");
}
