/** Checks what an effect returned before it is committed: an unnoticed mistake would end the effect silently. */
import type { EventObject } from "xstate";
import { givenEvent } from "./given-events.ts";
import { commitCarrier, type ExpectedPart, type OutcomeOptions } from "../../workflow/carried.ts";
import type { EffectOutcome } from "../../workflow/effects.ts";

const PARTS: Readonly<
  Record<Exclude<keyof EffectOutcome<never, never>, keyof OutcomeOptions>, ExpectedPart>
> = {
  event: ["an event", (event) => hasText(event, "type")],
  starts: ["a list", Array.isArray],
  writes: ["a list", Array.isArray],
  expectedVersion: ["a whole number", Number.isSafeInteger],
  ...commitCarrier.fields,
  refused: ["a function", (refused) => typeof refused === "function"],
};

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
  if (checked.expectedVersion !== undefined && checked.event === undefined) {
    throw new TypeError(
      "outcome.expectedVersion: expected an event beside it: only a step is refused after another one",
    );
  }
  checked.starts?.forEach((start, index) => {
    if (hasText(start, "id") && hasText(start.workflow, "key")) return;
    throw new TypeError(`outcome.starts.${index}: expected what startOf returns`);
  });
  return checked.event === undefined ? checked : { ...checked, event: givenEvent(checked.event) };
}

function hasText(value: unknown, field: string): boolean {
  return typeof (value as Readonly<Record<string, unknown>> | null | undefined)?.[field] === "string";
}
