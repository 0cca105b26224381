/** What a pure step of a chart asks for, in words that a table can hold, and snapshots as storage gives them back. */
import type { AnyStateMachine, SnapshotFrom } from "xstate";

interface BuiltInParams {
  readonly id?: string;
  readonly delay?: number;
  readonly sendId?: string;
}

/** An action as `transition()` lists it. */
export interface PureAction {
  readonly type: string;
  readonly params?: unknown;
}

/** Each action as one line: `arm <timer> <delay>`, `disarm <timer>`, or the effect with its params as JSON. */
export function effectsOf(actions: readonly PureAction[]): string[] {
  return actions.flatMap(({ type, params }) => {
    const { id, delay, sendId } = (params ?? {}) as BuiltInParams;
    if (type === "xstate.raise") return delay === undefined ? [] : [`arm ${id} ${delay}`];
    if (type === "xstate.cancel") return [`disarm ${sendId}`];
    return [`${type} ${JSON.stringify(params)}`];
  });
}

/** The snapshot after it was stored as `{ value, context, status }` and read again. */
export function restored<M extends AnyStateMachine>(machine: M, snapshot: SnapshotFrom<M>): SnapshotFrom<M> {
  const { value, context, status } = snapshot as { value: unknown; context: unknown; status: unknown };
  const stored = JSON.parse(JSON.stringify({ value, context, status })) as Parameters<M["resolveState"]>[0];
  return machine.resolveState(stored) as SnapshotFrom<M>;
}
