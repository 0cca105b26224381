/** Breaks a source text on purpose. */
import type { Break } from "./break.ts";

/** The broken source; null where the text does not occur exactly once. */
export function applyBreak(source: string, { text, replacement }: Break): string | null {
  const at = source.indexOf(text);
  const isOnce = at >= 0 && !source.includes(text, at + 1);
  return isOnce ? source.slice(0, at) + replacement + source.slice(at + text.length) : null;
}
