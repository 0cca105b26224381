/** Makes an XState chart of a random one. Loops run out of fuel, and no two timers take equally long. */
import {
  assign,
  cancel,
  createMachine,
  enqueueActions,
  fromPromise,
  not,
  raise,
  sendParent,
  sendTo,
  stateIn,
  type AnyStateMachine,
} from "xstate";
import type { Outside } from "../charts/chart-case.ts";
import type { ActionSpec, InvokeSpec, StateSpec, TransitionSpec } from "./chart-spec.ts";

const EVENTS = ["E.0", "E.1", "E.2", "F"];
const DESCRIPTORS = [...EVENTS, "E.*", "*"];

/** A state that is done at once, and is entered again for that reason, never rests. */
const MAX_MICROSTEPS = 60;

/** How often a chart may choose or raise by itself. */
const FUEL = 5;

/** The first name: that of the chart without a parent. */
const ROOT = "m1";

interface Scope {
  readonly context: { readonly fuel: number; readonly count: number };
  readonly event: { readonly type: string; readonly output?: unknown; readonly error?: unknown };
}

/** What a chart may do without an event from outside, as long as it has fuel. */
function burning(act: (enqueue: Enqueue) => void): unknown {
  return enqueueActions(({ context, enqueue }) => {
    const { fuel } = context as unknown as Scope["context"];
    if (fuel === 0) return;
    enqueue.assign({ fuel: fuel - 1 });
    act(enqueue as never);
  });
}

type Enqueue = Parameters<Parameters<typeof enqueueActions>[0]>[0]["enqueue"];

export const eventOf = (of: number): string => EVENTS[of % EVENTS.length] as string;

/** Whether anything can be in this state; the others only lead somewhere. */
const isProper = ({ type }: StateSpec): boolean => type !== "shallow" && type !== "deep";

/** Numbers what has to have a name of its own, over a chart and its children. */
export class Names {
  #last = 0;
  next(): number {
    return (this.#last += 1);
  }
}

/**
 * The same chart without what no chart can have, such as a final region or a history of nothing. A history right inside a
 * parallel state is left out too: entered from within, it brings XState into states that exclude each other.
 */
function tidied(spec: StateSpec, within: StateSpec["type"] | null): StateSpec {
  const isLeaf =
    !isProper(spec) || (spec.type === "final" && within === "plain") || !spec.states.some(isProper);
  const type =
    (spec.type === "final" && within !== "plain") || (isLeaf && spec.type === "parallel")
      ? "plain"
      : spec.type;
  return {
    ...spec,
    type,
    states: isLeaf
      ? []
      : spec.states
          .filter((inner) => type !== "parallel" || isProper(inner))
          .map((inner) => tidied(inner, type)),
  };
}

/** `begun` is called whenever a chart begins, and may throw to end a life that never rests. */
export interface RandomOutside extends Outside {
  readonly begun?: () => void;
}

export function buildChart(spec: StateSpec, outside: RandomOutside, names = new Names()): AnyStateMachine {
  return new Building(outside, names).machine(tidied(spec, null));
}

/** One chart; its children are buildings of their own. */
class Building {
  readonly #outside: RandomOutside;
  readonly #names: Names;
  readonly #prefix: string;
  readonly #ids = new Map<StateSpec, string>();
  /** States that a transition may lead to. */
  readonly #targets: string[] = [];
  /** States that something can be in. */
  readonly #proper: string[] = [];

  constructor(outside: RandomOutside, names: Names) {
    this.#outside = outside;
    this.#names = names;
    this.#prefix = `m${names.next()}`;
  }

  machine(spec: StateSpec): AnyStateMachine {
    spec.states.forEach((inner, index) => this.#name(inner, `${this.#prefix}.s${index}`));
    return createMachine({
      ...this.#state(spec),
      id: this.#prefix,
      options: { maxIterations: MAX_MICROSTEPS },
      context: () => {
        this.#outside.begun?.();
        return { fuel: FUEL, count: 0, last: null };
      },
      output: ({ context }: Scope) => ({ ...context, of: this.#prefix }),
    } as never);
  }

  #name(spec: StateSpec, id: string): void {
    this.#ids.set(spec, id);
    this.#targets.push(`#${id}`);
    if (isProper(spec)) this.#proper.push(`#${id}`);
    spec.states.forEach((inner, index) => this.#name(inner, `${id}.s${index}`));
  }

  #state(spec: StateSpec): object {
    const { type, states } = spec;
    const id = this.#ids.get(spec);
    const named = id === undefined ? {} : { id };
    if (!isProper(spec)) return { ...named, type: "history", history: type };
    const entry = this.#actions(spec.entry, null);
    if (type === "final") return { ...named, type, entry, output: id };
    const invoked = spec.invoke === null ? null : this.#invoked(spec.invoke);
    const inner = states.map((each, index) => [`s${index}`, each] as const);
    const proper = inner.filter(([, each]) => isProper(each));
    const first = proper[spec.initial % Math.max(1, proper.length)];
    const nested =
      first === undefined
        ? {}
        : {
            ...(type === "parallel" ? { type } : { initial: first[0] }),
            states: Object.fromEntries(inner.map(([key, each]) => [key, this.#state(each)])),
            ...(spec.onDone === null ? {} : { onDone: this.#transition(spec.onDone, null) }),
          };
    return {
      ...named,
      entry,
      exit: this.#actions(spec.exit, null),
      on: Object.fromEntries(
        spec.on.map((each): [string, object] => [
          DESCRIPTORS[each.event % DESCRIPTORS.length] as string,
          this.#transition(each, invoked?.child ?? null),
        ]),
      ),
      ...(spec.always === null ? {} : { always: this.#burning(spec.always) }),
      ...(spec.after === null ? {} : { after: { [this.#delay()]: this.#transition(spec.after, null) } }),
      ...(invoked === null ? {} : { invoke: invoked.config }),
      ...nested,
    };
  }

  #delay(): number {
    return 1_000 + this.#names.next() * 37;
  }

  #invoked(spec: InvokeSpec): { readonly config: object; readonly child: string | null } {
    const id = `c${this.#names.next()}`;
    const onDone = this.#transition(spec.onDone, null);
    if (spec.kind === "machine") {
      const src = buildChart(spec.chart, this.#outside, this.#names);
      return { config: { id, src, onDone }, child: id };
    }
    const { call } = this.#outside;
    const src = fromPromise(({ signal }) => call(id, undefined, signal));
    return { config: { id, src, onDone, onError: this.#transition(spec.onError, null) }, child: null };
  }

  /** `child` is the machine that runs as long as the transition can be taken. */
  #transition(spec: TransitionSpec, child: string | null): object {
    const target = spec.target === null ? undefined : this.#targets[spec.target % this.#targets.length];
    const guard = this.#guard(spec.guard);
    return {
      ...(target === undefined ? {} : { target, reenter: spec.reenter }),
      ...(guard === undefined ? {} : { guard }),
      actions: this.#actions(spec.actions, child),
    };
  }

  /** A transition that the chart takes by itself. */
  #burning(spec: TransitionSpec): object {
    const modulus = 2 + (spec.guard % 3);
    return {
      ...this.#transition(spec, null),
      guard: ({ context }: Scope) => context.fuel > 0 && (context.count + spec.guard) % modulus !== 0,
      actions: [
        assign({ fuel: ({ context }: never) => (context as Scope["context"]).fuel - 1 }),
        ...this.#actions(spec.actions, null),
      ],
    };
  }

  #guard(chosen: number): unknown {
    const modulus = 2 + (chosen % 3);
    const isCount = ({ context }: Scope) => context.count % modulus === chosen % modulus;
    const isThere = stateIn(this.#proper[chosen % Math.max(1, this.#proper.length)] ?? "");
    return [undefined, undefined, undefined, isCount, not(isCount as never), isThere, not(isThere as never)][
      chosen % 7
    ];
  }

  #actions(specs: readonly ActionSpec[], child: string | null): unknown[] {
    return specs.flatMap((spec) => this.#action(spec, child) ?? []);
  }

  #action({ kind, of }: ActionSpec, child: string | null): unknown {
    const type = eventOf(of);
    const { note } = this.#outside;
    const place = `${this.#prefix} ${this.#names.next()}`;
    const timer = `t${of % 3}`;
    switch (kind) {
      case "count":
        return assign({ count: ({ context }: never) => (context as Scope["context"]).count + 1 + (of % 3) });
      case "take":
        return assign({
          last: ({ event }: never) => {
            const { output, error, type: seen } = event as Scope["event"];
            return output ?? error ?? seen;
          },
        });
      case "note":
        return ({ context, event }: Scope) => note(`${place}: ${context.count} ${event.type}`);
      case "raise":
        return burning((enqueue) => enqueue.raise({ type }));
      case "later":
        // XState forgets, and does not cancel, the timer that had this id before.
        return [cancel(timer), raise({ type }, { delay: this.#delay(), id: timer })];
      case "cancel":
        return cancel(timer);
      case "sendSelf":
        return sendTo(({ self }) => self, { type }, { delay: this.#delay() });
      case "tellParent":
        return this.#prefix === ROOT ? undefined : burning((enqueue) => enqueue(sendParent({ type })));
      case "tellChild":
        return child === null ? undefined : burning((enqueue) => enqueue.sendTo(child, { type }));
      default:
        throw new TypeError(`unknown action ${String(kind satisfies never)}`);
    }
  }
}
