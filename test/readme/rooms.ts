/**
 * The rooms and who imports whom, drawn by dependency-cruiser for ARCHITECTURE.md: `npm run rooms` writes it there, and
 * with `--way` prints which files a payment runs.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { blockOf, ROOT, textOf } from "./page.ts";

const PAGE = "ARCHITECTURE.md";

const ROOMS = "^(machines|storage|src/[a-z-]+)";

/** The drawing, as Mermaid. The few files that lie in `src` itself are no room. */
export function drawnRooms(): string {
  const only = ["--include-only", `${ROOMS}/`, "--collapse", ROOMS, "--output-type", "mermaid"];
  const depcruise = `${ROOT}node_modules/dependency-cruiser/bin/dependency-cruise.mjs`;
  const args = [depcruise, "machines", "storage", "src", ...only];
  return execFileSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
}

/** The drawing on the page. */
export const roomsOnPage = (): string => blockOf(PAGE, "mermaid");

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { way } = parseArgs({ options: { way: { type: "string" } } }).values;
  if (way === undefined) writeFileSync(`${ROOT}${PAGE}`, textOf(PAGE).replace(roomsOnPage(), drawnRooms));
  else await (await import("./ways.ts")).printWay(way);
}
