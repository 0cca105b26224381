/** Locks a data folder for one `paystate dev`: two of them would write two chains into one journal. */
import { openDatabase } from "../../storage/sqlite/open.ts";
import { codeOf } from "../../storage/sqlite/explain.ts";

/**
 * Holds the lock file until the returned function is called or the process ends, however it ends: it is SQLite's lock on
 * an empty database, which the operating system gives back. Throws a sentence when another process holds it.
 */
export async function holdFolder(folder: string, lockFile: string): Promise<() => void> {
  const leave = await tryToHoldFolder(lockFile);
  if (leave !== null) return leave;
  throw new Error(
    `another paystate dev runs on ${folder}: stop it first, or choose another folder with --data`,
  );
}

/** As `holdFolder`; null when another process holds it. */
export async function tryToHoldFolder(lockFile: string): Promise<(() => void) | null> {
  const { handle: lock } = await openDatabase(lockFile);
  try {
    lock.prepare("begin exclusive").run();
  } catch (cause) {
    lock.close();
    if (codeOf(cause).startsWith("SQLITE_BUSY")) return null;
    throw cause;
  }
  return () => void lock.close();
}
