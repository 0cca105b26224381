/** Where the code of the pages is run: a folder below the project, so that its modules are found, and gone afterwards. */
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "./page.ts";

// Ignored by git, prettier and the linter, like the tour that a reader makes there.
const NAME = ".paystate";

/** Makes a folder of its own, where the packages of a folder of the repository are found; returns its path. */
export function makeScratchFolder(beside = ""): string {
  const parent = join(ROOT, beside, NAME);
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, "readme-"));
}

/** Removes the folder with all that is in it. */
export function removeScratchFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  try {
    rmdirSync(dirname(folder));
  } catch {
    // Not empty: somebody's own tour or service is in it.
  }
}
