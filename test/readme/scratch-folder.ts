/** Where the code of the pages is run: a folder below the project, so that its modules are found, and gone afterwards. */
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./page.ts";

// Ignored by git, prettier and the linter, like the tour that a reader makes there.
const PARENT = join(ROOT, ".paystate");

/** Makes a folder of its own; returns its path. */
export function makeScratchFolder(): string {
  mkdirSync(PARENT, { recursive: true });
  return mkdtempSync(join(PARENT, "readme-"));
}

/** Removes the folder with all that is in it. */
export function removeScratchFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  try {
    rmdirSync(PARENT);
  } catch {
    // Not empty: somebody's own tour or service is in it.
  }
}
