/** Gives a finished file its name, without ever overwriting an existing file. */
import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "./explain.ts";

/** Errors of file systems without hard links (exFAT, some network shares). */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EINVAL"]);

/**
 * Names `finished`, which is in the same folder, `file`, and makes the name durable. Throws `EEXIST` when there is
 * something of this name. `finished` may keep its own name beside it.
 */
export function nameFile(finished: string, file: string, link: typeof linkSync = linkSync): void {
  try {
    // A link is refused where a rename would overwrite.
    link(finished, file);
  } catch (error) {
    if (!NO_LINKS.has(codeOf(error))) throw error;
    takeName(finished, file);
  }
  syncFolderOf(file);
}

/**
 * An empty file takes the name first, which is refused when it is taken: the rename then replaces our own file. A
 * process that dies between the two leaves the empty file.
 */
function takeName(finished: string, file: string): void {
  closeSync(openSync(file, "wx", 0o600));
  try {
    renameSync(finished, file);
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}

/** Otherwise the name might be lost with the power. */
function syncFolderOf(file: string): void {
  const folder = openSync(dirname(file), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
