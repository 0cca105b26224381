/**
 * The ports `ChartSourceReader` and `Chart` for XState 6, which proves that the engine knows no XState 5. It needs public
 * exports of version 6 only: pure transitions, effects as data, and children that are restored by their addresses.
 *
 * What 6.0.0-alpha.52 cannot do in that way: a pure transition knows no parent, so a child tells its parent by its output
 * alone; a function that is enqueued inline has no name that outlives the process, so actions stand in `setup({ actions })`;
 * logged lines are such functions; a promise does not differ from other logics, so all but machines run until they are done.
 * Not written yet: migrations, `timeout` of an invocation, input of states.
 */
import {
  createActor,
  getEffectDescriptor,
  initialTransition,
  StateMachine,
  toPromise,
  transition,
  type AnyActorLogic,
  type AnyStateMachine,
  type ExecutableActionObject,
  type StateNode,
} from "xstate6";
import type { EventObject } from "xstate";
import type {
  ActionBody,
  ActorSource,
  ChartSourceReader,
  ChartParts,
} from "../../../src/workflow/chart-interpreter.ts";
import {
  ArrivalError,
  STOP,
  type ArrivalStep,
  type Chart,
  type ChartAction,
  type ChartSnapshot,
  type ChartStep,
  type ChildEndEvent,
  type ChildLink,
  type EventAddress,
  type FirstStep,
  type ParentLink,
  type StateMeta,
} from "../../../src/workflow/chart.ts";

const MAX_MICROSTEPS = 100;

/** Version 6 gives a timer without an id one that counts from 0 in each of our steps. */
const UNNAMED_TIMER = "xstate.timer.auto.";

export const xstate6: ChartSourceReader<AnyStateMachine> = {
  read(machine) {
    machine.options = { ...machine.options, maxIterations: MAX_MICROSTEPS };
    const parts = readParts(machine);
    return { parts, text: () => textOf(machine), open: () => new XState6Chart(machine, parts) };
  },
};

function readParts(machine: AnyStateMachine): ChartParts<AnyStateMachine> {
  const { actions, actors: sources } = machine.sources;
  const faults: string[] = [];
  const actors = new Map<string, ActorSource<AnyStateMachine>>();
  for (const [name, logic] of Object.entries(sources)) {
    actors.set(name, actorSource(logic));
  }
  const visit = ({ id, invoke, states }: StateNode): void => {
    for (const { src } of invoke as readonly { readonly src: string }[]) {
      if (actors.has(src)) continue;
      faults.push(`state "${id}": name the actor ${src} in setup({ actors })`);
    }
    for (const inner of Object.values(states)) visit(inner as StateNode);
  };
  visit(machine.root);
  const bodies = Object.entries(actions).map(([name, act]): [string, ActionBody] => [
    name,
    (_scope, params) => (act as (params: unknown) => unknown)(params),
  ]);
  return {
    effects: new Set(),
    bodies: new Map(bodies),
    inline: new Map(),
    actors,
    metas: [],
    delaysEvents: true,
    faults,
  };
}

function actorSource(logic: AnyActorLogic): ActorSource<AnyStateMachine> {
  if (logic instanceof StateMachine) return { kind: "machine", machine: logic as unknown as AnyStateMachine };
  return {
    kind: "promise",
    create: ({ input, signal }) => {
      const actor = createActor(logic, { input });
      const end = toPromise(actor as never);
      signal.addEventListener("abort", () => void actor.stop());
      actor.start();
      return end;
    },
  };
}

const BY_NAME: ReadonlySet<string> = new Set(["actors", "actions", "schemas"]);

/** Everything but the logics and bodies, which are known by their names. */
function textOf({ config }: AnyStateMachine): string {
  const structure = Object.entries(config as Readonly<Record<string, unknown>>).filter(
    ([key]) => !BY_NAME.has(key),
  );
  return JSON.stringify(Object.fromEntries(structure), (_key, value: unknown) =>
    typeof value === "function" ? "function " : value,
  );
}

/** A snapshot of version 6, as far as it is looked at here. */
interface Snapshot6 {
  readonly value: unknown;
  readonly context: Readonly<Record<string, unknown>>;
  readonly status: ChartSnapshot["status"];
  readonly output?: unknown;
  readonly error?: unknown;
  readonly historyValue: Readonly<Record<string, readonly { readonly id: string }[]>>;
  readonly children: Readonly<Record<string, unknown>>;
}

/** The method as it is; the type of any machine wants to know a scope, too. */
interface Restoring {
  restoreSnapshot(persisted: object): Snapshot6;
}

type Stepped6 = readonly [next: Snapshot6, effects: readonly ExecutableActionObject[]];

class XState6Chart implements Chart {
  readonly #machine: AnyStateMachine;
  readonly #parts: ChartParts<AnyStateMachine>;

  constructor(machine: AnyStateMachine, parts: ChartParts<AnyStateMachine>) {
    this.#machine = machine;
    this.#parts = parts;
  }

  start(input: unknown, { parent }: FirstStep = {}): ChartStep {
    const [next, effects] = initialTransition(this.#machine, input as never) as unknown as Stepped6;
    return this.#chartStep({ before: null, next, effects, parent });
  }

  step(before: ChartSnapshot, event: EventObject): ChartStep | null {
    if (before.status !== "active") return null;
    const { $run: run, ...seen } = event as ChildEndEvent;
    if (run !== undefined && before.children?.[seen.actorId]?.run !== run) return null;
    const restored = this.#restored(before);
    const given = event.type === STOP.type ? { type: "@xstate.stop" } : seen;
    const [next, effects] = transition(
      this.#machine,
      restored as never,
      given as never,
    ) as unknown as Stepped6;
    if (next === restored && effects.length === 0) return null;
    return this.#chartStep({ before, next, effects, event, parent: before.parent });
  }

  arrive(): ArrivalStep {
    throw new ArrivalError("value", "charts of version 6 do not migrate yet");
  }

  #restored({ value, context, history = {}, children = {} }: ChartSnapshot): Snapshot6 {
    const { id } = this.#machine;
    const byAddress = Object.entries(children).map(([child, { src }]): [string, object] => [
      child,
      { address: `${id}/${child}`, remote: true, src },
    ]);
    const byId = Object.entries(history).map(([state, ids]): [string, object] => [
      state,
      ids.map((each) => ({ id: each })),
    ]);
    const persisted = {
      status: "active" as const,
      value,
      context,
      timers: {},
      children: Object.fromEntries(byAddress),
      historyValue: Object.fromEntries(byId),
      output: undefined,
      error: undefined,
    };
    return (this.#machine as unknown as Restoring).restoreSnapshot(persisted);
  }

  #chartStep(stepped: Stepped): ChartStep {
    const { before, next, parent } = stepped;
    if (next.status === "error") throw next.error;
    const { actions, children, runs } = new StepEffects(this.#machine, this.#parts, stepped);
    const { value, context, status, output, historyValue } = next;
    const history = Object.entries(historyValue).map(([id, nodes]) => [
      id,
      nodes.map((node: { id: string }) => node.id),
    ]);
    const isActive = status === "active";
    return {
      after: {
        value,
        context,
        status,
        ...(output === undefined ? {} : { output }),
        ...(isActive ? { history: Object.fromEntries(history) as ChartSnapshot["history"] & {} } : {}),
        ...(isActive ? { children, runs } : {}),
        ...(parent === undefined ? {} : { parent }),
      },
      metasBefore: before === null ? null : NO_META,
      metasAfter: NO_META,
      actions,
    };
  }
}

/** Watches are not tried with version 6. */
const NO_META: readonly StateMeta[] = [];

interface Stepped {
  readonly before: ChartSnapshot | null;
  readonly next: Snapshot6;
  readonly effects: readonly ExecutableActionObject[];
  readonly event?: EventObject;
  readonly parent: ParentLink | undefined;
}

/** The effects of one step in the words of the port. */
class StepEffects {
  readonly actions: ChartAction[] = [];
  readonly children: Record<string, ChildLink> = {};
  readonly runs: Record<string, number>;
  readonly #parts: ChartParts<AnyStateMachine>;
  readonly #machine: AnyStateMachine;
  readonly #known: Record<string, ChildLink>;
  readonly #scope: { readonly context: unknown; readonly event: EventObject };

  constructor(machine: AnyStateMachine, parts: ChartParts<AnyStateMachine>, stepped: Stepped) {
    const { before, next, effects, event } = stepped;
    this.#machine = machine;
    this.#parts = parts;
    this.#known = { ...before?.children };
    this.runs = { ...before?.runs };
    this.#scope = { context: next.context, event: event ?? { type: "xstate.init" } };
    // It has told its end: there is nothing left to stop.
    if (event !== undefined && "actorId" in event) delete this.#known[String(event.actorId)];
    for (const effect of effects) this.#add(effect);
    for (const id of Object.keys(next.children)) {
      const link = this.#known[id];
      if (link !== undefined) this.children[id] = link;
    }
  }

  #add(effect: ExecutableActionObject): void {
    if (effect.kind === "action") return this.#act(effect);
    const told = getEffectDescriptor(effect);
    switch (told.type) {
      case "@xstate.raise":
        return this.#arm(told as Delayed, "self");
      case "@xstate.sendTo": {
        const { target } = told as { readonly target: string };
        const own = this.#machine.id;
        const to = target === own ? "self" : this.#childAt(target.slice(own.length + 1));
        if ((told as Delayed).delay !== undefined) return this.#arm(told as Delayed, to);
        this.actions.push({ kind: "send", to, event: (told as Delayed).event });
        return;
      }
      case "@xstate.cancel":
        this.actions.push({ kind: "disarm", timer: (told as { id: string }).id });
        return;
      case "@xstate.spawn":
        return this.#startChild(effect as unknown as Spawned);
      case "@xstate.stop":
        return this.#stopChild((told as { id: string }).id);
      case "@xstate.start":
      case "@xstate.terminate":
        return; // a child starts when it is spawned, and an end is told by the snapshot
      default:
        if (told.kind !== "emit") throw new TypeError(`unknown effect ${told.type}`);
        this.actions.push({ kind: "emit", event: told.event as EventObject });
    }
  }

  #childAt(child: string): EventAddress {
    const link = this.#known[child];
    return link === undefined ? { child } : { child, link };
  }

  #act(effect: ExecutableActionObject): void {
    const { action, args } = effect as unknown as {
      readonly action: unknown;
      readonly args: readonly unknown[];
    };
    const name = Object.entries(this.#machine.sources.actions).find(([, each]) => each === action)?.[0];
    if (name === undefined) {
      throw new TypeError(`the action ${effect.type} is written inline; name it in setup({ actions })`);
    }
    this.actions.push({ kind: "effect", effect: { name, params: args[0] }, scope: this.#scope });
  }

  #arm({ id, delay, event }: Delayed, to: EventAddress): void {
    if (delay === undefined) return;
    const timer = id === undefined || id.startsWith(UNNAMED_TIMER) ? null : id;
    this.actions.push({ kind: "arm", timer, delayMs: Math.max(0, Math.ceil(delay)), event, to });
  }

  #startChild({ id, src, input }: Spawned): void {
    const kind = this.#parts.actors.get(src)?.kind;
    if (kind === undefined) {
      throw new TypeError(`the actor "${src}" is not known; name it in setup({ actors })`);
    }
    if (kind === "promise") {
      this.#known[id] = { src };
      this.actions.push({ kind: "startChild", id, src, input });
      return;
    }
    const run = (this.runs[id] ?? 0) + 1;
    this.runs[id] = run;
    this.#known[id] = { src, run };
    this.actions.push({ kind: "startChild", id, src, input, run });
  }

  #stopChild(id: string): void {
    const link = this.#known[id];
    if (link === undefined) return;
    delete this.#known[id];
    const { src, run } = link;
    this.actions.push({ kind: "stopChild", id, src, ...(run === undefined ? {} : { run }) });
  }
}

interface Delayed {
  readonly id: string | undefined;
  readonly delay: number | undefined;
  readonly event: EventObject;
}

interface Spawned {
  readonly id: string;
  readonly src: string;
  readonly input: unknown;
}
