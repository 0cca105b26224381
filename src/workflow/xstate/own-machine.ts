/**
 * The author's machine, but each instance has a context of its own, and a child that an action begins costs the same however
 * many there are: XState builds its actor, first snapshot included, and copies the list of all children for it.
 */
import { createMachine, spawnChild, type AnyMachineSnapshot, type AnyStateMachine } from "xstate";
import { ChartFault } from "../chart-fault.ts";
import { fieldsFromJson, fieldsToJson } from "../values.ts";
import { InertActor } from "./inert-actors.ts";

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
  const machine = createMachine(
    withOwnContext(config) as never,
    { ...implementations, actions: Object.fromEntries<unknown>(actions) } as never,
  ) as unknown as AnyStateMachine;
  machine.options.maxIterations = MAX_MICROSTEPS;
  leanActions(machine.root);
  return machine;
}

/** All instances would share a context that is written as an object; each gets a copy. */
function withOwnContext(config: AnyStateMachine["config"]): object {
  const { context } = config as { readonly context?: unknown };
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
  if (type !== "xstate.enqueueActions" || collect === undefined) return action;
  const leanly = ({ enqueue, ...scope }: EnqueueScope, params: unknown): void => {
    const enqueueLean = Object.assign((each: unknown) => enqueue(lean(each)), enqueue, {
      spawnChild: (...spawn: Parameters<typeof spawnChild>) => enqueue(lean(spawnChild(...spawn))),
    });
    collect({ ...scope, enqueue: enqueueLean }, params);
  };
  return Object.assign(() => {}, action, { collect: leanly });
}

/** XState's handling of a spawn, with an inert actor among the children. */
function resolveSpawn(
  { self }: { readonly self: InertActor },
  snapshot: AnyMachineSnapshot,
  ...[args, , { id, systemId, src, input, syncSnapshot }]: readonly [
    { readonly event: unknown },
    unknown,
    SpawnAction,
  ]
): readonly [object, object, undefined] {
  const asked = (given: unknown, scope: object): unknown =>
    typeof given === "function" ? (given as (scope: object) => unknown)(scope) : given;
  if (syncSnapshot) {
    throw new ChartFault(
      "spawnChild: syncSnapshot would need every step of the child; let the child tell its parent with sendParent",
    );
  }
  const sessionId = self.system.bookId();
  const childId = (asked(id, args) as string | undefined) ?? sessionId;
  const given = asked(input, { context: snapshot.context as unknown, event: args.event, self });
  const name = typeof src === "string" ? src : undefined;
  const actorRef = new InertActor(childId, self.system, { sessionId, src: name, systemId, parent: self });
  (snapshot.children as Record<string, unknown>)[childId] = actorRef;
  return [{ ...snapshot }, { id, systemId, actorRef, src, input: given }, undefined];
}
