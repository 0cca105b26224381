/** Large contexts: the task of an effect names the step that left the context, and holds no copy of it. */
import { fieldsToJson } from "./values.ts";

/** Contexts up to so many characters are copied into each task. */
export const MAX_COPIED = 16_384;

const sizes = new WeakMap<object, boolean>();

/** Whether a context is too large to be copied; looked at once for all effects of a step. */
export function isLarge(context: object): boolean {
  const known = sizes.get(context);
  if (known !== undefined) return known;
  const found = JSON.stringify(fieldsToJson(context, "context")).length > MAX_COPIED;
  sizes.set(context, found);
  return found;
}

/** Replaces the context in the task of an effect: the stamp of the step that left the context. */
export interface LentContext {
  readonly contextOf: string;
}
