/** A chart as text: everything in it that decides how a stored snapshot is read on, so that two can be compared. */
import type { AnyStateMachine } from "xstate";

/** The mark of a function in the text: functions count by presence, and a built-in action by its type. */
export const FUNCTION = "function ";

/** The chart but for descriptions, as JSON. Functions count by presence only: reformatting one changes nothing. */
export function chartText(machine: AnyStateMachine): string {
  // A context written as an object decides only how new instances begin, and may hold values that JSON loses.
  const parts = Object.entries(machine.config).filter(
    ([key, part]) => key !== "context" || typeof part === "function",
  );
  return JSON.stringify(Object.fromEntries(parts), (key, value: unknown) => {
    if (key === "description") return undefined;
    if (typeof value === "function") return FUNCTION + ((value as { readonly type?: string }).type ?? "");
    return typeof value === "bigint" ? `${value}n` : value;
  });
}
