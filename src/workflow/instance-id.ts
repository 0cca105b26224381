/** The ids of instances, which every database can take: as a key, and within the ids of tasks. */
import { NOT_KEPT, UnstorableValue } from "./values.ts";

/** PostgreSQL indexes 2,600 bytes, of which the id of a task needs some besides. */
const MAX_ID_BYTES = 2_048;

/** @throws UnstorableValue for an id that a database would refuse, or give back as another one. */
export function checkId(id: unknown): void {
  checkText(id);
  if (Buffer.byteLength(id) <= MAX_ID_BYTES) return;
  throw new UnstorableValue("id", `expected ${MAX_ID_BYTES} bytes at most`);
}

/** @throws UnstorableValue for what cannot be the id of any instance. */
export function checkText(id: unknown): asserts id is string {
  if (typeof id === "string" && id !== "" && !NOT_KEPT.test(id)) return;
  throw new UnstorableValue("id", "expected text that is not empty, without NUL and halves of characters");
}
