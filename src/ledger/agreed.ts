/** The door from answers to evidence. The layer rules name the files that may import it. */
import type { Evidence } from "./belief.ts";

/**
 * Marks what enough endpoints have said. Only a ledger may know that: call it only in a ledger of your own, about equal
 * answers of its nodes.
 *
 * @example
 * ```ts
 * import { agreed, type Ledger } from "paystate/ledger";
 *
 * // In a ledger of your own, once as many nodes as must agree told the same.
 * const rentMinimum: Ledger["rentMinimum"] = async () => agreed(890_880n);
 * console.log(await rentMinimum(0)); // 890880n
 * ```
 */
export function agreed<T>(value: T): Evidence<T> {
  const marked: unknown = value;
  return marked as Evidence<T>;
}
