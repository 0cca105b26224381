/** Tells how a storage refused to work. */
import { StorageUnusable } from "../../storage/sqlite.ts";

/** The code and sentence with which a promise was rejected. */
export async function refusal(promise: Promise<unknown>): Promise<Pick<StorageUnusable, "code" | "message">> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof StorageUnusable)) throw new Error(`expected StorageUnusable, got ${String(error)}`);
  return { code: error.code, message: error.message };
}
