/** One chart of the corpus: how it is made, and what happens to it. */
import type { AnyActor, AnyStateMachine, EventObject, SimulatedClock } from "xstate";
import type { AnyWorkflow } from "paystate/engine";

/** The outside of a chart: its services are asked here, its actions leave notes here. */
export interface Outside {
  /** Answered by the script, in the order in which the calls of one name were begun. */
  call(name: string, input?: unknown, signal?: AbortSignal): Promise<never>;
  note(text: string): void;
}

/** The end of a call. */
type CallEnd =
  { readonly answer: string; readonly with?: unknown } | { readonly fail: string; readonly with: unknown };

/**
 * One thing that happens, after which everything comes to rest: an event, by its type alone or whole; so many
 * milliseconds that pass at once, at whose very end a timer fires; or the end of a call.
 */
export type Happening = string | number | (EventObject & Readonly<Record<string, unknown>>) | CallEnd;

/** A library that charts are written for. */
export interface ChartLibrary {
  /** The actor that XState itself makes of a chart, and the clock that it looks at. */
  begin(
    machine: AnyStateMachine,
    input: unknown,
  ): { readonly actor: AnyActor; readonly clock: Pick<SimulatedClock, "increment"> };
  register(machine: AnyStateMachine): AnyWorkflow;
}

export interface ChartCase {
  readonly name: string;
  /** XState 5, where it is left out. */
  readonly library?: ChartLibrary;
  readonly make: (outside: Outside) => AnyStateMachine;
  readonly input?: unknown;
  readonly script: readonly Happening[];
  /** The state in which it has to be at the end, so that a script that does nothing is noticed. */
  readonly ends: unknown;
}
