/** Checks what an effect returned before it is committed: an unnoticed mistake would end the effect silently. */
import type { EventObject } from "xstate";
import { givenEvent } from "./given-events.ts";
import type { EffectOutcome, TransactionOutcome } from "../../workflow/workflow.ts";

/** The expected type of each part of an outcome, and the test of the type. */
const PARTS: Readonly<
  Record<keyof EffectOutcome<never, never>, readonly [string, (part: unknown) => boolean]>
> = {
  event: ["an event", (event) => hasText(event, "type")],
  starts: ["a list", Array.isArray],
  writes: ["a list", Array.isArray],
  expectedVersion: ["a whole number", Number.isSafeInteger],
  queries: ["a list", Array.isArray],
  refused: ["a function", (refused) => typeof refused === "function"],
};

/** Of a handler's transaction: its event is a message, which comes after it, and the database has refused before. */
export function checkedTransaction<W>(outcome: unknown): TransactionOutcome<EventObject, W> {
  const checked = checkedOutcome<W>(outcome);
  for (const name of ["expectedVersion", "queries", "refused"] as const) {
    if (checked[name] === undefined) continue;
    throw new TypeError(
      `outcome.${name}: a transaction has event, starts and writes: look and write with its own client`,
    );
  }
  return checked as TransactionOutcome<EventObject, W>;
}

/** The outcome, empty when the effect returned nothing. @throws TypeError naming the wrong part of the outcome. */
export function checkedOutcome<W>(outcome: unknown): EffectOutcome<EventObject, W> {
  if (outcome === undefined || outcome === null) return {};
  if (typeof outcome !== "object" || Array.isArray(outcome)) {
    const kind = Array.isArray(outcome) ? "list" : typeof outcome;
    throw new TypeError(`outcome: expected an object such as { event }, or undefined; it is a ${kind}`);
  }
  for (const [name, part] of Object.entries(outcome)) {
    if (!Object.hasOwn(PARTS, name)) {
      throw new TypeError(`outcome.${name}: not known; an outcome has ${Object.keys(PARTS).join(", ")}`);
    }
    const [expected, isSo] = PARTS[name as keyof typeof PARTS];
    if (part !== undefined && !isSo(part)) throw new TypeError(`outcome.${name}: expected ${expected}`);
  }
  const checked = outcome as EffectOutcome<EventObject, W>;
  checked.starts?.forEach((start, index) => {
    if (hasText(start, "id") && hasText(start.workflow, "key")) return;
    throw new TypeError(`outcome.starts.${index}: expected what startOf returns`);
  });
  return checked.event === undefined ? checked : { ...checked, event: givenEvent(checked.event) };
}

function hasText(value: unknown, field: string): boolean {
  return typeof (value as Readonly<Record<string, unknown>> | null | undefined)?.[field] === "string";
}
