/** A chart's table of states and events, checked whole: what is not in it changes nothing. */
import { getShortestPaths } from "xstate/graph";
import {
  initialTransition,
  transition,
  type AnyStateMachine,
  type EventFromLogic,
  type InputFrom,
  type SnapshotFrom,
} from "xstate";
import { expect, test } from "vitest";
import { effectsOf, restored } from "./pure-steps.ts";

/** What a table is checked against. */
export interface ChartTable<M extends AnyStateMachine, Name extends string> {
  readonly machine: M;
  readonly input: InputFrom<M>;
  /** Every event the chart knows, with the variants that make a difference. */
  readonly events: Readonly<Record<Name, EventFromLogic<M>>>;
  /** A way to each place: a state in a certain context. */
  readonly ways: Readonly<Record<string, readonly NoInfer<Name>[]>>;
  /** Where each event leads from each place, and what it asks for on the way. */
  readonly table: Readonly<
    Record<string, Partial<Record<NoInfer<Name>, readonly [to: string, ...effects: string[]]>>>
  >;
  /** States that are left in the step that enters them: nobody is ever there. */
  readonly passed?: readonly string[];
}

/** The state as one word. */
export function placeOf(snapshot: { readonly value: unknown }): string {
  return typeof snapshot.value === "string" ? snapshot.value : JSON.stringify(snapshot.value);
}

function outermost({ value }: { readonly value: unknown }): string {
  return typeof value === "string" ? value : (Object.keys(value as object)[0] ?? "");
}

/** Makes the tests, and gives the way to a place. */
export function checkTable<M extends AnyStateMachine, Name extends string>({
  machine,
  input,
  events,
  ways,
  table,
  passed = [],
}: ChartTable<M, Name>): { readonly reach: (place: string) => SnapshotFrom<M> } {
  const step = (at: SnapshotFrom<M>, name: Name): readonly [SnapshotFrom<M>, string[]] => {
    const [next, actions] = transition(machine, at, events[name]);
    return [next, effectsOf(actions)];
  };
  const reach = (place: string): SnapshotFrom<M> => {
    let [at] = initialTransition(machine, input) as readonly [SnapshotFrom<M>, unknown];
    for (const name of ways[place] ?? []) [at] = step(at, name);
    return at;
  };
  const names = Object.keys(events) as Name[];
  const pairs = Object.keys(ways).flatMap((place) =>
    names.map((event) => ({ place, event, row: table[place]?.[event] })),
  );

  test.each(pairs.filter(({ row }) => row !== undefined))("$place takes $event", ({ place, event, row }) => {
    const [next, asked] = step(reach(place), event);
    expect([placeOf(next as never), ...asked]).toEqual(row);
  });

  test("whatever is not in the table changes no state and asks for nothing", () => {
    for (const { place, event } of pairs.filter(({ row }) => row === undefined)) {
      const before = reach(place);
      // Nothing is sent to what has ended, though XState would still take events of the root.
      if ((before as { readonly status: string }).status === "done") continue;
      const [next, asked] = step(before, event);
      expect([place, event, placeOf(next as never), asked]).toEqual([
        place,
        event,
        placeOf(before as never),
        [],
      ]);
    }
  });

  test("every state of the chart is in the table", () => {
    const visited = Object.keys(ways).map((place) => outermost(reach(place) as never));
    expect([...new Set([...visited, ...passed])].toSorted()).toEqual(Object.keys(machine.states).toSorted());
  });

  test("every snapshot that can be reached survives JSON and goes on as if nothing had been", () => {
    for (const place of Object.keys(ways)) {
      const state = reach(place);
      for (const event of Object.values<EventFromLogic<M>>(events)) {
        const [expected, asked] = transition(machine, state, event);
        const [next, actions] = transition(machine, restored(machine, state), event);
        expect((next as { toJSON(): unknown }).toJSON()).toEqual(
          (expected as { toJSON(): unknown }).toJSON(),
        );
        expect(effectsOf(actions)).toEqual(effectsOf(asked));
      }
    }
  });
  return { reach };
}

/** Shortest paths to every state by these events, states told apart by `as`; nothing is looked for beyond `stopWhen`. */
export function shortestPaths<M extends AnyStateMachine>(
  machine: M,
  input: InputFrom<M>,
  events: readonly EventFromLogic<M>[],
  as: (snapshot: SnapshotFrom<M>) => string,
  stopWhen: (snapshot: SnapshotFrom<M>) => boolean = () => false,
): ReturnType<typeof getShortestPaths<M>> {
  return getShortestPaths(machine, {
    input,
    events: events as never,
    serializeState: as as never,
    stopWhen: stopWhen as never,
    limit: 50_000,
  } as never);
}
