/** The life that a random chart leads under `createActor`, on a clock that goes from one timer to the next. */
import { createActor, type AnyActor, type AnyStateMachine } from "xstate";
import { turns } from "../../kit/engine-world.ts";
import type { ChartCase, Happening } from "../charts/chart-case.ts";
import { happen, sightOf, type Sight } from "../charts/lives.ts";
import { ScriptedOutside } from "../charts/scripted-outside.ts";
import { buildChart, eventOf } from "./build-chart.ts";
import type { HappeningSpec, StateSpec } from "./chart-spec.ts";

interface Timer {
  readonly dueAt: number;
  readonly fire: () => void;
}

class NextTimerClock {
  #now = 0;
  readonly #timers = new Map<number, Timer>();
  #last = 0;

  setTimeout(fire: () => void, delayMs: number): number {
    this.#timers.set((this.#last += 1), { dueAt: this.#now + delayMs, fire });
    return this.#last;
  }

  clearTimeout(timer: number): void {
    this.#timers.delete(timer);
  }

  /** How long it is to the next timer, null where there is none. */
  get untilNextMs(): number | null {
    const due = [...this.#timers.values()].map(({ dueAt }) => dueAt);
    return due.length === 0 ? null : Math.min(...due) - this.#now;
  }

  /** Whether several timers are due next: which of them comes first is nobody's promise. */
  get isTied(): boolean {
    const next = this.#now + (this.untilNextMs ?? 0);
    return [...this.#timers.values()].filter(({ dueAt }) => dueAt === next).length > 1;
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const [timer, { dueAt, fire }] of this.#timers) {
      if (dueAt > this.#now) continue;
      this.#timers.delete(timer);
      fire();
    }
  }
}

interface SnapshotInside {
  readonly machine?: AnyStateMachine;
  readonly value: never;
  readonly context: unknown;
  readonly children?: Readonly<Record<string, { getSnapshot(): SnapshotInside } | undefined>>;
  readonly _nodes: readonly { readonly id: string }[];
}

/**
 * Whether XState is in the states that its value names. A history that is entered from inside its own parallel state can
 * leave it in two states at once that exclude each other.
 */
function isLegal({ machine, value, context, children = {}, _nodes: nodes }: SnapshotInside): boolean {
  if (machine === undefined) return true; // a promise
  const { _nodes: named } = machine.resolveState({ value, context }) as unknown as SnapshotInside;
  const ids = new Set(nodes.map(({ id }) => id));
  const isAsNamed = named.length === nodes.length && named.every(({ id }) => ids.has(id));
  return (
    isAsNamed && Object.values(children).every((child) => child === undefined || isLegal(child.getSnapshot()))
  );
}

/** A life with what has happened in it, as another life of the same chart can be told. */
export interface ReferenceLife {
  readonly chart: ChartCase;
  readonly sights: readonly Sight[];
  readonly notes: readonly string[];
}

/** A chart whose child ends at once, and begins it again for that reason, never rests. */
const MAX_BEGUN = 40;

/** Null where children begin without end, where XState is in no legal state, or where two timers were due at one moment. */
export async function referenceLife(
  spec: StateSpec,
  happenings: readonly HappeningSpec[],
): Promise<ReferenceLife | null> {
  let calls = 0;
  const outside = new ScriptedOutside(() => String((calls += 1)));
  const clock = new NextTimerClock();
  let begun = 0;
  const counted = {
    call: outside.call,
    note: outside.note,
    begun: () => {
      if ((begun += 1) > MAX_BEGUN) throw new RangeError("children begin without end");
    },
  };
  const actor: AnyActor = createActor(buildChart(spec, counted), { clock });
  const errors: unknown[] = [];
  actor.subscribe({ error: (error) => errors.push(error) });
  const script: Happening[] = [];
  const sights: Sight[] = [];
  const look = async (): Promise<void> => {
    await turns(3);
    sights.push(sightOf(actor.getSnapshot() as Partial<Sight>));
  };
  actor.start();
  await look();
  if (!isLegal(actor.getSnapshot() as SnapshotInside)) return null;
  for (const each of happenings) {
    if ((actor.getSnapshot() as Partial<Sight>).status !== "active") break;
    const happening = resolved(each, clock, outside);
    if (happening === null) continue;
    if (clock.isTied) return null;
    script.push(happening);
    happen(happening, { send: (event) => actor.send(event), wait: (ms) => clock.advance(ms), outside });
    await look();
    if (!isLegal(actor.getSnapshot() as SnapshotInside)) return null;
  }
  if (begun > MAX_BEGUN || errors.some((error) => /infinite loop/i.test(String(error)))) return null;
  if (errors.length > 0) throw new Error("the random chart is no chart", { cause: errors[0] });
  actor.stop();
  const chart: ChartCase = { name: "random", make: (other) => buildChart(spec, other), script, ends: null };
  return { chart, sights, notes: outside.notes };
}

function resolved(spec: HappeningSpec, clock: NextTimerClock, outside: ScriptedOutside): Happening | null {
  if (spec.kind === "send") return eventOf(spec.event);
  if (spec.kind === "settle") {
    const { open } = outside;
    const name = open[spec.which % Math.max(1, open.length)];
    if (name === undefined) return null;
    return spec.isGood
      ? { answer: name, with: `ok ${spec.which}` }
      : { fail: name, with: `no ${spec.which}` };
  }
  const ms = clock.untilNextMs;
  if (ms === null) return null;
  return spec.kind === "time" ? ms : Math.floor(ms / 2);
}
