/** Every snapshot that the events of a chart can lead to, and what a step from it asks for. */
import {
  initialTransition,
  transition,
  type AnyStateMachine,
  type EventFromLogic,
  type InputFrom,
  type SnapshotFrom,
} from "xstate";
import { effectsOf } from "./pure-steps.ts";

/** A snapshot with the events of a shortest way to it. */
export interface Reached<M extends AnyStateMachine> {
  readonly at: SnapshotFrom<M>;
  readonly way: readonly EventFromLogic<M>[];
}

/** A chart and what it may be told. */
export interface Reach<M extends AnyStateMachine> {
  readonly machine: M;
  readonly input: InputFrom<M>;
  readonly events: readonly EventFromLogic<M>[];
  /** Two snapshots of which it says the same are one. */
  readonly as: (at: SnapshotFrom<M>) => readonly unknown[];
  /** Nothing goes on from where it says no; without it all does. */
  readonly isNear?: (at: SnapshotFrom<M>) => boolean;
}

/** Every snapshot once, nearest first. */
export function reachable<M extends AnyStateMachine>({
  machine,
  input,
  events,
  as,
  isNear = () => true,
}: Reach<M>): readonly Reached<M>[] {
  const [start] = initialTransition(machine, input) as readonly [SnapshotFrom<M>, unknown];
  const seen = new Set([JSON.stringify(as(start))]);
  const all: Reached<M>[] = [{ at: start, way: [] }];
  for (const { at, way } of all) {
    if ((at as { readonly status: string }).status === "done" || !isNear(at)) continue;
    for (const event of events) {
      const [next] = stepOf(machine, at, event);
      const key = JSON.stringify(as(next));
      if (seen.has(key)) continue;
      seen.add(key);
      all.push({ at: next, way: [...way, event] });
    }
  }
  return all;
}

/** The snapshot after an event, and what is asked for besides timers. */
export function stepOf<M extends AnyStateMachine>(
  machine: M,
  at: SnapshotFrom<M>,
  event: EventFromLogic<M>,
): readonly [SnapshotFrom<M>, readonly string[]] {
  const [next, actions] = transition(machine, at, event);
  return [next, effectsOf(actions).filter((asked) => !/^(dis)?arm /.test(asked))];
}

/** What the state is watched for. */
export function watchesOf(at: { readonly getMeta: () => object }): readonly string[] {
  const metas = Object.values(at.getMeta()) as ({ readonly watches?: readonly string[] } | undefined)[];
  return metas.flatMap((meta) => meta?.watches ?? []);
}
