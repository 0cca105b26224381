/**
 * Finds the transitions that a step of an instance took. The history keeps where a step began and ended, not its way.
 */
import type { ChartTransition } from "./read-chart.ts";

/** A step of an instance, as far as it shows on its chart. */
export interface TakenStep {
  /** The version that it made: its number in the history. */
  readonly number: number;
  /** The type of the event. */
  readonly event: string;
  /** The ids of the active states before and after it; none before the first. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/**
 * Finds the transition for the event, and the following transitions without an event up to the end of the step. A
 * transition may stay within its state, and only its followers lead away.
 */
export function takenWay(transitions: readonly ChartTransition[], step: TakenStep): ChartTransition[] {
  const { before, after } = step;
  const hasMoved = after.some((id) => !before.includes(id));
  const beginnings = transitions.filter(({ from }) => before.includes(from));
  for (const first of [
    ...beginnings.filter(({ event }) => event === step.event),
    ...beginnings.filter(({ event }) => event === "" && hasMoved),
  ]) {
    const way = onward([first], transitions, after);
    if (way !== null) return way;
  }
  return [];
}

function onward(
  way: readonly ChartTransition[],
  transitions: readonly ChartTransition[],
  after: readonly string[],
): ChartTransition[] | null {
  const last = way.at(-1);
  if (last === undefined) return null;
  if (after.includes(last.entered)) return [...way];
  for (const next of transitions) {
    if (next.event !== "" || next.from !== last.to || way.includes(next)) continue;
    const found = onward([...way, next], transitions, after);
    if (found !== null) return found;
  }
  return null;
}
