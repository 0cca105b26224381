/** Marks an answer of one node as a hint. */
import type { Hint } from "./belief.ts";

/**
 * Marks what one endpoint has said. Call it in a ledger of your own, for a method that may answer a hint.
 *
 * @example
 * ```ts
 * import { heard, type Ledger } from "paystate/ledger";
 *
 * // In a ledger of your own, with what the first node that answered said.
 * const position: Ledger["position"] = async () => heard({ slot: 7, endpoint: "node.example" });
 * console.log((await position()).slot); // 7
 * ```
 */
export function heard<T>(value: T): Hint<T> {
  const marked: unknown = value;
  return marked as Hint<T>;
}
