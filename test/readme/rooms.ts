/** The rooms and who imports whom, drawn by dependency-cruiser for ARCHITECTURE.md. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ROOT } from "./page.ts";

const ROOMS = "^(machines|storage|src/[a-z-]+)";

/** The drawing, as Mermaid. The few files that lie in `src` itself are no room. */
export async function drawnRooms(): Promise<string> {
  const only = ["--include-only", `${ROOMS}/`, "--collapse", ROOMS, "--output-type", "mermaid"];
  const depcruise = `${ROOT}test/foreign/node_modules/dependency-cruiser/bin/dependency-cruise.mjs`;
  const args = [depcruise, "machines", "storage", "src", ...only];
  return (await promisify(execFile)(process.execPath, args, { cwd: ROOT })).stdout;
}
