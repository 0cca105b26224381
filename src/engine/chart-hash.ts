/** The hash that stands beside stored snapshots, so that they are not read on by another chart than theirs. */
import { createHash } from "node:crypto";

/** Equal for charts of equal text. */
export function chartHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
