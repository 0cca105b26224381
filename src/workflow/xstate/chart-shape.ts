/** Reads the shape of a chart once: its effects, actors and watches, and features that cannot be durable. */
import type { AnyStateMachine, StateNode } from "xstate";
import { thrownText } from "../../core/thrown.ts";
import type { StateMeta } from "../chart.ts";
import type { ActionBody, ActorSource, ChartParts } from "../chart-interpreter.ts";
import { fieldsToJson } from "../values.ts";
import {
  askedOfSystem,
  enqueuedNames,
  enqueuesFunction,
  followsSnapshot,
  functionTexts,
  namedInSystem,
  readsSnapshot,
  spawns,
} from "./function-texts.ts";
import { actorSource } from "./actor-logic.ts";
import { MAX_DELAY_MS } from "./whole-delay.ts";

type AnyStateNode = StateNode<never, never>;

interface ActionLike {
  readonly type?: string;
  readonly resolve?: unknown;
  readonly src?: unknown;
  readonly assignment?: unknown;
  readonly delay?: unknown;
  readonly systemId?: unknown;
  readonly syncSnapshot?: unknown;
  readonly event?: { readonly type?: unknown };
}

interface InvokeLike {
  readonly id: string;
  readonly src: string;
  readonly systemId?: string;
  readonly onSnapshot?: unknown;
}

/** The parts of a chart of XState, and what its steps have to know of them. */
export interface StepChartParts extends ChartParts<AnyStateMachine> {
  readonly inlineNames: ReadonlyMap<object, string>;
  /** The names of logics, of those too that stand in the chart themselves instead of behind a name. */
  readonly actorNames: ReadonlyMap<object, string>;
  readonly invocations: ReadonlySet<string>;
  readonly spawns: boolean;
  /** Names for its children in its system. */
  readonly systemIds: ReadonlySet<string>;
}

export function readChartShape(machine: AnyStateMachine): StepChartParts {
  const reader = new ShapeReader(machine);
  reader.readState(machine.root as unknown as AnyStateNode);
  reader.readContext();
  reader.checkTexts();
  return reader;
}

const CHILD_ERROR = "xstate.error.actor.";

const followsChild = (state: string, option: string): string =>
  `state "${state}": ${option} would need every step of the child; let the child tell its parent with sendParent`;

class ShapeReader implements StepChartParts {
  readonly effects = new Set<string>();
  readonly bodies = new Map<string, ActionBody>();
  readonly builtIns = new Set<string>();
  readonly inline = new Map<string, ActionBody>();
  readonly inlineNames = new Map<object, string>();
  readonly actors = new Map<string, ActorSource<AnyStateMachine>>();
  readonly actorNames = new Map<object, string>();
  readonly invocations = new Set<string>();
  readonly metas: StateMeta[] = [];
  readonly faults: string[] = [];
  readonly warnings: string[] = [];
  enqueued?: Set<string>;
  readonly systemIds = new Set<string>();
  delaysEvents = false;
  spawns = false;
  readonly #descriptors = new Set<string>();
  readonly #askedOfSystem: { readonly state: string; readonly name: string }[] = [];
  readonly #machine: AnyStateMachine;

  constructor(machine: AnyStateMachine) {
    this.#machine = machine;
    for (const [name, logic] of Object.entries(machine.implementations.actors)) {
      const source = actorSource(logic);
      // A logic that is provided and never used does no harm; what cannot be durable is refused where it is used.
      if (typeof source === "string") continue;
      this.actors.set(name, source);
      this.actorNames.set(logic, name);
    }
    // Actions that only enqueueActions asks for are known by their bodies.
    for (const [name, action] of Object.entries(machine.implementations.actions)) {
      const isBuiltIn = (action as ActionLike).resolve !== undefined;
      if (isBuiltIn) this.builtIns.add(name);
      else this.bodies.set(name, action as unknown as ActionBody);
    }
  }

  /** As XState matches: the name itself, the beginning of it before `.*`, or any by `*`. */
  readonly catches = (child: string): boolean => {
    const type = `${CHILD_ERROR}${child}`;
    return [...this.#descriptors].some(
      (event) =>
        event === type ||
        event === "*" ||
        (event.endsWith(".*") && `${type}.`.startsWith(event.slice(0, -1))),
    );
  };

  readState(node: AnyStateNode): void {
    const state = node.id;
    node.invoke.forEach((invoke, index) => this.#readInvoke(node, invoke as unknown as InvokeLike, index));
    this.#readActions(state, `${state}.entry`, node.entry);
    this.#readActions(state, `${state}.exit`, node.exit);
    for (const [event, transitions] of node.transitions) {
      this.#descriptors.add(event);
      for (const [index, { actions }] of transitions.entries()) {
        this.#readActions(state, `${state}.on.${event}.${index}`, actions);
      }
    }
    for (const [index, { actions }] of (node.always ?? []).entries()) {
      this.#readActions(state, `${state}.always.${index}`, actions);
    }
    const { actions = [] } = (node.initial as { actions?: readonly unknown[] } | undefined) ?? {};
    this.#readActions(state, `${state}.initial`, actions);
    for (const { delay } of node.after) this.#readDelay(state, delay);
    if (node.meta !== undefined) this.metas.push(node.meta);
    for (const child of Object.values(node.states)) this.readState(child);
  }

  /** Instances share no system: each one finds its own children there. */
  checkTexts(): void {
    for (const { state, name } of this.#askedOfSystem) {
      if (this.systemIds.has(name)) continue;
      this.#warn(
        state,
        `system.get("${name}") finds children of this chart alone, and none has this systemId`,
      );
    }
  }

  #warn(state: string, sentence: string): void {
    this.warnings.push(`state "${state}": ${sentence}`);
  }

  readContext(): void {
    const { context } = this.#machine.config as { readonly context?: unknown };
    if (typeof context === "function") return this.#readSpawn(context);
    if (typeof context !== "object" || context === null) return;
    try {
      fieldsToJson(context, "context");
    } catch (error) {
      this.faults.push(`state "${this.#machine.id}": ${thrownText(error)}`);
    }
  }

  #readActions(state: string, place: string, actions: readonly unknown[]): void {
    actions.forEach((action, index) => {
      const { type, resolve } = action as ActionLike;
      if (typeof action === "string") return this.#readNamed(state, action);
      if (resolve !== undefined) return this.#readBuiltIn(state, `${place}.${index}`, action as ActionLike);
      if (typeof action !== "function") return type === undefined ? undefined : this.#readNamed(state, type);
      const name = this.inlineNames.get(action) ?? `${place}.${index}`;
      this.inlineNames.set(action, name);
      this.inline.set(name, action as ActionBody);
    });
  }

  #readNamed(state: string, name: string): void {
    const action = this.#machine.implementations.actions[name] as ActionLike | undefined;
    if (action?.resolve !== undefined) this.#readBuiltIn(state, name, action);
    else this.effects.add(name);
  }

  #readBuiltIn(state: string, place: string, action: ActionLike): void {
    const { type, src, assignment, delay, event } = action;
    this.#readFunctions(state, action);
    const isAfter = String(event?.type).startsWith("xstate.after.");
    if (type === "xstate.enqueueActions" || (delay !== undefined && !isAfter)) this.delaysEvents = true;
    this.#readDelay(state, delay);
    if (type === "xstate.enqueueActions" || type === "xstate.spawnChild") this.spawns = true;
    if (type === "xstate.assign") this.#readSpawn(assignment);
    if (type === "xstate.spawnChild") this.#readSource(state, src, `spawn.${place}`);
  }

  #readFunctions(state: string, action: ActionLike): void {
    if (typeof action.systemId === "string") this.systemIds.add(action.systemId);
    if (action.syncSnapshot === true) this.faults.push(followsChild(state, "syncSnapshot"));
    for (const text of functionTexts(action)) {
      if (followsSnapshot(text)) {
        this.#warn(state, "syncSnapshot of a child is refused; let it use sendParent");
      }
      if (readsSnapshot(text)) {
        this.#warn(state, "getSnapshot() of another actor is refused; let it tell by sendParent or sendTo");
      }
      for (const name of namedInSystem(text)) this.systemIds.add(name);
      this.#askedOfSystem.push(...askedOfSystem(text).map((name) => ({ state, name })));
      if (action.type === "xstate.enqueueActions") this.#readEnqueued(state, text);
    }
  }

  #readEnqueued(state: string, text: string): void {
    this.enqueued ??= new Set();
    for (const name of enqueuedNames(text)) {
      const action = this.#machine.implementations.actions[name] as ActionLike | undefined;
      if (action?.resolve === undefined) this.enqueued.add(name);
      else this.#readNamed(state, name);
    }
    if (enqueuesFunction(text)) {
      this.#warn(
        state,
        "enqueueActions may be given a function, which is refused; name it in setup({ actions })",
      );
    }
  }

  /** A computed delay is known only in a step. */
  #readDelay(state: string, delay: unknown): void {
    const { delays } = this.#machine.implementations;
    const ms = typeof delay === "string" ? (delays as Readonly<Record<string, unknown>>)[delay] : delay;
    if (typeof ms !== "number" || !(ms > MAX_DELAY_MS)) return;
    this.faults.push(
      `state "${state}": the delay of ${ms} ms is too long: at most ${MAX_DELAY_MS} can be waited for`,
    );
  }

  #readInvoke(node: AnyStateNode, { id, src, systemId, onSnapshot }: InvokeLike, index: number): void {
    this.invocations.add(id);
    if (systemId !== undefined) this.systemIds.add(systemId);
    if (onSnapshot !== undefined) {
      this.faults.push(followsChild(node.id, "onSnapshot"));
    }
    const { invoke } = node.config as { readonly invoke?: unknown };
    const written = ((Array.isArray(invoke) ? invoke[index] : invoke) as { readonly src: unknown }).src;
    this.#readSource(node.id, typeof written === "string" ? src : written, src);
  }

  /** `name` is what a logic is called that stands in the chart itself. */
  #readSource(state: string, src: unknown, name: string): void {
    if (typeof src !== "string") {
      const source = actorSource(src);
      if (typeof source === "string") this.faults.push(`state "${state}": the actor ${name}: ${source}`);
      else {
        this.actors.set(name, source);
        this.actorNames.set(src as object, name);
      }
      return;
    }
    if (this.actors.has(src)) return;
    const reason = actorSource(this.#machine.implementations.actors[src]);
    if (typeof reason === "string") this.faults.push(`state "${state}": the actor "${src}": ${reason}`);
  }

  /** A child that a function has begun may have ended when the chart sends to its id. */
  #readSpawn(assignment: unknown): void {
    const functions = typeof assignment === "function" ? [assignment] : Object.values(assignment as object);
    if (functions.some((each) => typeof each === "function" && spawns(String(each)))) this.spawns = true;
  }
}
