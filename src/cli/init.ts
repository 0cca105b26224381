/** `paystate init`: writes a project that runs, from templates that a clone has among its examples. */
import {
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join, resolve, sep } from "node:path";
import { type Print, UsageError } from "./command.ts";
import { ownFolder } from "./manifest.ts";
import { packageSource } from "./package-source.ts";

/** The build has put the templates beside the command. */
const PLACES = ["templates", "../../examples/init/templates"];

/** Ends the names of template files that tools would otherwise take for settings of their own. */
const SUFFIX = ".template";

const MANIFEST = "package.json";
/** The driver of SQLite that this Node can load: 13 speaks Node-API 10 and comes compiled, 12 runs on Node 20. */
const IS_COMPILED = Number(process.versions["napi"]) >= 10;
const DRIVER = IS_COMPILED ? "^13" : "^12.11";
const TO_COMPILE =
  "On Node 20, npm install fetches a native build of better-sqlite3, or makes one, which takes a C++ toolchain and about two minutes. From Node 22 on it comes compiled.";
/** npm takes no longer name. */
const MAX_NAME = 214;
/** npm refuses these. */
const NO_NAMES = new Set(["node_modules", "favicon.ico"]);

/** `paystate init [engine|payments] [FOLDER]`. */
export async function init(
  { kind, folder = `paystate-${kind}` }: { readonly kind: string; readonly folder: string | undefined },
  print: Print,
): Promise<void> {
  if (!canBeFilled(folder)) throw new UsageError(`${folder}: expected a new folder, or an empty one`);
  mkdirSync(folder, { recursive: true });
  for (const part of ["both", kind]) copyTemplate(part, folder);
  // Last and whole: where this command is killed, npm finds no project.
  const text = readFileSync(join(templateOf(kind), `${MANIFEST}${SUFFIX}`), "utf8").replace("DRIVER", DRIVER);
  const named = text
    .replace('"NAME"', () => JSON.stringify(nameOf(folder)))
    .replace('"SOURCE"', () => JSON.stringify(packageSource(ownFolder())));
  writeFileSync(join(folder, MANIFEST), named, { flag: "wx" });
  if (!IS_COMPILED) print(TO_COMPILE);
  print(`A project is in ${folder}. Next:\n\n  cd ${asArgument(folder)}\n  npm install\n  npm start`);
}

function canBeFilled(folder: string): boolean {
  // A link that leads nowhere is there, too.
  if (lstatSync(resolve(folder), { throwIfNoEntry: false }) === undefined) return folder !== "";
  return (
    statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true && readdirSync(folder).length === 0
  );
}

/** As a shell takes the folder, and obeys nothing in it; Windows knows no single quotes, and no such names. */
function asArgument(folder: string): string {
  if (/^[\w./-]+$/.test(folder)) return folder;
  return sep === "/" ? `'${folder.replaceAll("'", "'\\''")}'` : `"${folder}"`;
}

function copyTemplate(part: string, folder: string): void {
  const place = templateOf(part);
  for (const file of readdirSync(place)) {
    const name = file.endsWith(SUFFIX) ? file.slice(0, -SUFFIX.length) : file;
    if (name !== MANIFEST) copyFileSync(join(place, file), join(folder, name), constants.COPYFILE_EXCL);
  }
}

function templateOf(part: string): string {
  const place = PLACES.map((path) => join(import.meta.dirname, path, part)).find((path) => existsSync(path));
  if (place === undefined) throw new Error("the package is damaged, it has no templates: install it again");
  return place;
}

/** A name that npm takes, made of the folder's. */
function nameOf(folder: string): string {
  const name = basename(resolve(folder))
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replaceAll(/^[._-]+|[._-]+$/g, "");
  return NO_NAMES.has(name) ? `${name}-project` : name.slice(0, MAX_NAME) || "paystate-project";
}
