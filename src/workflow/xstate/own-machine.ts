/**
 * The author's machine, but each instance has a context of its own, and a child that an action begins costs the same however
 * many there are: XState builds its actor, first snapshot included, and copies the list of all children for it.
 */
import { assign, createMachine, spawnChild, type AnyMachineSnapshot, type AnyStateMachine } from "xstate";
import type { ActorAddress } from "../actor-address.ts";
import { fieldsFromJson, fieldsToJson } from "../values.ts";
import { followed, Spawner } from "./spawner.ts";
import type { StepFamily } from "./step-family.ts";

// A chart that raises or chooses `always` in a circle would never end its step; a chart that works stays far below this.
const MAX_MICROSTEPS = 10_000;

interface BuiltIn {
  readonly type?: string;
  readonly collect?: (scope: EnqueueScope, params: unknown) => void;
}

interface EnqueueScope {
  readonly enqueue: (action: unknown) => void;
}

interface SpawnAction {
  readonly id: unknown;
  readonly systemId: string | undefined;
  readonly src: string | object;
  readonly input: unknown;
  readonly syncSnapshot: boolean;
}

/** The scope of a step, as XState hands it to what it resolves. */
interface ActorScope {
  readonly self: ActorAddress;
  readonly family: StepFamily;
  readonly actionExecutor: (action: object) => void;
}

type Children = Record<string, unknown>;

interface Transition {
  actions: readonly unknown[];
}

interface Node {
  entry: readonly unknown[];
  exit: readonly unknown[];
  readonly transitions: ReadonlyMap<string, readonly Transition[]>;
  readonly always?: readonly Transition[];
  readonly initial?: Transition;
  readonly states: Readonly<Record<string, Node>>;
}

export function ownMachine({ config, implementations }: AnyStateMachine): AnyStateMachine {
  const actions = Object.entries(implementations.actions).map(
    ([name, action]) => [name, lean(action)] as const,
  );
  const spawning: Spawning = {};
  const machine = createMachine(
    withOwnContext(config, spawning) as never,
    { ...implementations, actions: Object.fromEntries<unknown>(actions) } as never,
  ) as unknown as AnyStateMachine;
  machine.options.maxIterations = MAX_MICROSTEPS;
  leanActions(machine.root);
  spawnLeanly(machine, spawning);
  return machine;
}

/** The spawner of the context that is being made. */
interface Spawning {
  spawner?: Spawner;
}

/** XState's method that makes the context. */
const BEGINNING = "_getPreInitialState";

interface Beginning {
  [BEGINNING](scope: ActorScope, event: unknown, queue: unknown): AnyMachineSnapshot;
}

/** The function of the context may spawn, too. */
function spawnLeanly(machine: AnyStateMachine, spawning: Spawning): void {
  const { context } = machine.config as { readonly context?: unknown };
  if (typeof context !== "function") return;
  const beginning = machine as unknown as Beginning;
  const made = beginning[BEGINNING].bind(machine);
  beginning[BEGINNING] = (scope, event, queue) => {
    const spawner = (spawning.spawner = new Spawner(scope, { context: {}, event }));
    const snapshot = made(scope, event, queue);
    if (spawner.children !== undefined) Object.assign(snapshot.children, spawner.children);
    return snapshot;
  };
}

/** All instances would share a context that is written as an object; each gets a copy. */
function withOwnContext(config: AnyStateMachine["config"], spawning: Spawning): object {
  const { context } = config as { readonly context?: unknown };
  if (typeof context === "function") {
    const made = context as (scope: object) => unknown;
    return {
      ...config,
      context: (scope: object) => made({ ...scope, spawn: spawning.spawner?.spawn }),
    };
  }
  if (typeof context !== "object" || context === null) return config;
  const text = JSON.stringify(fieldsToJson(context, "context"));
  return { ...config, context: () => fieldsFromJson(JSON.parse(text)) };
}

function leanActions(node: Node): void {
  node.entry = node.entry.map(lean);
  node.exit = node.exit.map(lean);
  const transitions = [...node.transitions.values(), node.always ?? [], node.initial ?? []].flat();
  for (const transition of transitions) transition.actions = transition.actions.map(lean);
  for (const child of Object.values(node.states)) leanActions(child);
}

/** The action itself, unless it begins children. */
function lean(action: unknown): unknown {
  if (typeof action !== "function") return action;
  const { type, collect } = action as BuiltIn;
  if (type === "xstate.spawnChild") return Object.assign(() => {}, action, { resolve: resolveSpawn });
  if (type === "xstate.assign") return Object.assign(() => {}, action, { resolve: resolveAssign });
  if (type !== "xstate.enqueueActions" || collect === undefined) return action;
  const leanly = ({ enqueue, ...scope }: EnqueueScope, params: unknown): void => {
    const enqueueLean = Object.assign((each: unknown) => enqueue(lean(each)), enqueue, {
      spawnChild: (...spawn: Parameters<typeof spawnChild>) => enqueue(lean(spawnChild(...spawn))),
      assign: (assignment: never) => enqueue(lean(assign(assignment))),
    });
    collect({ ...scope, enqueue: enqueueLean }, params);
  };
  return Object.assign(() => {}, action, { collect: leanly });
}

/** XState's handling of a spawn, with an address among the children. */
function resolveSpawn(
  { family }: ActorScope,
  snapshot: AnyMachineSnapshot,
  ...[args, , { id, systemId, src, input, syncSnapshot }]: readonly [
    { readonly event: unknown },
    unknown,
    SpawnAction,
  ]
): readonly [object, object, undefined] {
  const asked = (given: unknown, scope: object): unknown =>
    typeof given === "function" ? (given as (scope: object) => unknown)(scope) : given;
  if (syncSnapshot) throw followed("spawnChild");
  const booked = family.system.bookId();
  const childId = (asked(id, args) as string | undefined) ?? booked;
  const { self } = family;
  const given = asked(input, { context: snapshot.context as unknown, event: args.event, self });
  const actorRef = family.begun({ id: childId, src, systemId });
  (snapshot.children as Children)[childId] = actorRef;
  const isUnnamed = childId === booked;
  return [{ ...snapshot }, { id: childId, systemId, actorRef, src, input: given, isUnnamed }, undefined];
}

type Assigner = (scope: object, params: unknown) => unknown;

/** XState's handling of an assign, with addresses of what it spawns. */
function resolveAssign(
  scope: ActorScope,
  snapshot: AnyMachineSnapshot,
  ...[args, params, { assignment }]: readonly [
    { readonly event: unknown },
    unknown,
    { readonly assignment: Assigner | Readonly<Record<string, unknown>> },
  ]
): readonly [object, undefined, undefined] {
  const { event } = args;
  const context = snapshot.context as unknown as object;
  const spawner = new Spawner(scope, { context, event });
  const { self, family } = scope;
  const given = { context, event, spawn: spawner.spawn, self, system: family.system };
  let update: Record<string, unknown> = {};
  if (typeof assignment === "function") update = assignment(given, params) as typeof update;
  else {
    for (const [key, made] of Object.entries(assignment)) {
      update[key] = typeof made === "function" ? (made as Assigner)(given, params) : made;
    }
  }
  if (spawner.children !== undefined) Object.assign(snapshot.children, spawner.children);
  return [{ ...snapshot, context: { ...context, ...update } }, undefined, undefined];
}
