/** A workflow: a chart with everything the engine needs to run it, in one unit of registration. */
import { createHash } from "node:crypto";
import type {
  AnyStateMachine,
  EventFromLogic,
  InputFrom,
  ParameterizedObject,
  StateFrom,
  StateMachine,
} from "xstate";
import { actorProblems, type ActorOf, type AnyActorOptions, type ActorsOf } from "./actor-options.ts";
import type {
  ActionBody,
  ChartSourceReader,
  ChartParts,
  ChartSource,
  PromiseCreator,
} from "./chart-interpreter.ts";
import type { ProjectedRow } from "./carried.ts";
import type { Chart, PlannedEffect, StateMeta } from "./chart.ts";
import type { StartRequest, WorkflowHandle } from "./effect-run.ts";
import type { GivenEffect } from "./effects.ts";
import { limitProblems, type OwnLimit } from "./own-limit.ts";
import { type RetryPolicy, retryPolicy, retryProblems } from "./retry.ts";
import { migrationProblems, type AnyMigration, type Migrations } from "./migrations.ts";
import {
  inheritedOptions,
  stepOptionProblems,
  type GivenStepOptions,
  type StepOptions,
} from "./step-options.ts";
import { workflowKey } from "./workflow-key.ts";
import { xstate5 } from "./xstate/open-chart.ts";

/** The union of a machine's named actions with their params. */
export type ActionOf<M extends AnyStateMachine> =
  /* eslint-disable-next-line @typescript-eslint/no-explicit-any -- only `any` fits the bounds of the other type parameters */
  M extends StateMachine<any, any, any, any, infer A, any, any, any, any, any, any, any, any, any>
    ? A extends ParameterizedObject
      ? A
      : never
    : never;

/** Handlers for all effects of the chart, with params and events typed from the machine. */
export type EffectsOf<M extends AnyStateMachine, W> = {
  // `start` and `tell` are messages to other instances, which the engine itself sends.
  readonly [A in ActionOf<M> as Exclude<A["type"], "start" | "tell">]:
    | GivenEffect<A["params"], EventFromLogic<M>, W>
    /** Runs the body that `setup({ actions })` gives it; what is named an `assign` or another part of the step there stays one. */
    | "setup";
};

/** A committed step, as `project` sees it. */
export interface ProjectedStep<Context, Event> {
  readonly id: string;
  /** The number of the step in the history of its instance: 1 for the first. */
  readonly version: number;
  /** Null for the first step of an instance. */
  readonly before: { readonly value: unknown; readonly context: Context; readonly meta: StateMeta } | null;
  readonly after: { readonly value: unknown; readonly context: Context; readonly meta: StateMeta };
  /** Null for the first step of an instance. */
  readonly event: Event | null;
  readonly effects: readonly PlannedEffect[];
}

/** Options of `workflow(chart)`. */
export interface WorkflowOptions<
  M extends AnyStateMachine,
  W,
  V extends number = number,
  S extends string = never,
> extends StepOptions<M, S> {
  /** A whole number, raised whenever the chart changes in a way that stored instances would notice. */
  readonly version: V;
  /**
   * How instances of older versions continue under this version: by version, a function that turns an instance into one
   * of the next version. The first process that works on an instance migrates it, in a commit of its own. Timers and
   * promises of states that are active before and after the migration continue; timers and promises of left states end,
   * and those of entered states begin.
   */
  readonly migrate?: Migrations<M, W, V>;
  /**
   * A handler for each named action. Without `effects`, actions run the bodies given to `setup({ actions })`. With
   * `effects`, every action must be named, so that no action is forgotten: a body in `setup` may exist for the types
   * alone.
   */
  readonly effects?: EffectsOf<M, W>;
  /** Rules for running actors: tries and limits of promises, migrations and actors of child machines. */
  readonly actors?: ActorsOf<M>;
  /**
   * False for instances of which your tables hold all that matters: one that reaches a final state goes with its history in the
   * commit of that step, and its id is free again. One that is stopped, or fails, stays. For charts without actors, whose
   * actions have handlers. Default true.
   */
  readonly keepEnded?: boolean;
  /**
   * The domain writes of a step's commit, and compiled queries of your own: where the database refuses one, the step is
   * refused. Pure: no I/O, no clock, no chance.
   */
  readonly project?: (
    step: ProjectedStep<StateFrom<M>["context"], EventFromLogic<M>>,
    at: number,
  ) => readonly ProjectedRow<W>[];
}

/** The handle by which instances of this chart and version are started, sent to and read. `M`, `W` and `S` keep its types. */
export interface Workflow<M extends AnyStateMachine, W, S extends string = never> extends AnyWorkflow {
  readonly machine: M;
  /**
   * The handle of a child machine, by its name in `setup({ actors })`, for reads of its instances and events to them. An
   * instance has the id `parent/child`, as `engine.pending(parent).children` tells.
   *
   * ```ts
   * await engine.send(orders.child("approver"), "order-1/approver", { type: "APPROVE" });
   * ```
   *
   * @throws TypeError when the chart has no such machine.
   */
  child<Src extends Extract<ActorOf<M>, { readonly logic: AnyStateMachine }>["src"]>(
    src: Src,
  ): Workflow<Extract<ActorOf<M>, { readonly src: Src; readonly logic: AnyStateMachine }>["logic"], unknown>;
  /** Exists in the type only: a workflow that writes no tables fits every engine. */
  readonly writesTo?: (tables: W) => void;
  /** Exists in the type only: the names of its search fields. */
  readonly searchedBy?: (field: S) => void;
}

/** An actor as the engine runs it: a promise as a task, a machine as an instance of its own. */
export type WorkflowActor =
  | {
      readonly kind: "promise";
      readonly create: PromiseCreator;
      /** Undefined where nothing is said: a rejection is told at once. */
      readonly retry: RetryPolicy | undefined;
      readonly limit: OwnLimit<never> | undefined;
    }
  | { readonly kind: "machine"; readonly workflow: AnyWorkflow };

/** A handler with its types laid aside. */
export type AnyEffect = GivenEffect<unknown, never, never>;

/** A workflow with its types laid aside. The engine's own fields are not part of the published types. */
export interface AnyWorkflow extends WorkflowHandle {
  /** @internal Everything in the chart that decides how a stored snapshot is read on. */
  readonly chartText: string;
  /** @internal The hash of that text. */
  readonly hash: string;
  /** @internal The names that its tasks are stored under: the key, the keys of migrated versions, the name for waiting messages, the keys of child machines. */
  readonly claims: readonly string[];
  /** @internal By version: the migration to the next version; null when a child machine is kept unchanged. */
  readonly migrations: ReadonlyMap<number, AnyMigration | null>;
  /** @internal The engine steps this, and not `machine`. */
  readonly chart: Chart;
  /** @internal */
  readonly effects: ReadonlyMap<string, AnyEffect>;
  /** @internal Actions with a body of their own: by name, and by their place in the chart where they are written inline. */
  readonly bodies: ReadonlyMap<string, ActionBody>;
  /** @internal */
  readonly actors: ReadonlyMap<string, WorkflowActor>;
  /** @internal The chart of a child machine, which is registered with its parent's chart. @throws TypeError when there is none. */
  child(src: string): AnyWorkflow;
  /** @internal Whether a state of it takes the error of the child with this id. */
  readonly catches: (child: string) => boolean;
  /** @internal Whether an instance stays when it reaches a final state. */
  readonly keepsEnded: boolean;
  /** @internal Whether timers of an instance may outlast its end unless they are removed with it. */
  readonly delaysEvents: boolean;
  /** @internal Signs of faults in its functions: the step that has it is refused. */
  readonly warnings: readonly string[];
  /** @internal */
  readonly project: (step: ProjectedStep<never, never>, at: number) => readonly ProjectedRow<never>[];
  /** @internal Its options that modules of the engine read. */
  readonly given: GivenStepOptions;
}

export const isWorkflow = (value: unknown): value is AnyWorkflow =>
  typeof (value as Partial<AnyWorkflow> | null | undefined)?.chart?.step === "function";

/**
 * Registers a chart under its machine id and a version: `workflow(chart)({ version: 1 })`. The chart stands in a call of
 * its own so that handlers are typed from it, literal event types included. A workflow that writes domain tables names
 * them: `workflow(chart)<Tables>({ … })`.
 *
 * Throws one `TypeError` that lists every problem: a chart that has no id, or cannot be durable (naming the state and
 * the way out); an effect without a handler; a handler without an effect; options of an actor that the chart does not have, a
 * watch without a key.
 *
 * @example
 * ```ts
 * import { workflow } from "paystate/engine";
 * import { setup } from "xstate";
 *
 * const invoice = setup({
 *   types: { context: {} as { email: string }, input: {} as { email: string } },
 *   // A name and params; what it does is given below.
 *   actions: { sendReceipt: (_, _params: { email: string }) => {} },
 * }).createMachine({
 *   id: "invoice",
 *   context: ({ input }) => input,
 *   initial: "open",
 *   states: {
 *     open: { on: { PAY: "paid" } },
 *     paid: { entry: { type: "sendReceipt", params: ({ context }) => context }, type: "final" },
 *   },
 * });
 * const invoices = workflow(invoice)({
 *   version: 1,
 *   effects: {
 *     sendReceipt: async ({ email }, { key }) => {
 *       console.log(`send it to ${email} under the idempotency key ${key}`);
 *       return undefined;
 *     },
 *   },
 * });
 * console.log(invoices.key); // invoice@1
 * ```
 */
export function workflow<M extends AnyStateMachine>(
  machine: M,
): <W = unknown, const V extends number = number, S extends string = never>(
  options: WorkflowOptions<M, W, V, S>,
) => Workflow<M, W, S> {
  return (options) => {
    const { version, migrate = {}, actors = {}, project = () => [] } = options;
    const effects = options.effects as WorkflowParts["effects"];
    const parts = {
      name: machine.id,
      version,
      migrate,
      effects,
      actors,
      given: options as unknown as GivenStepOptions,
      keepsEnded: options.keepEnded ?? true,
    };
    const registered = register(machine, parts, { interpreter: xstate5, within: [] });
    const child = ((src: string) => registered.child(src)) as Workflow<M, never>["child"];
    return { ...registered, machine, child, project: project as unknown as AnyWorkflow["project"] };
  };
}

/** The options that registering reads, with their types laid aside. */
interface WorkflowParts {
  readonly name: string;
  readonly version: number;
  readonly migrate: Readonly<Record<string, AnyMigration | null>>;
  readonly effects: Readonly<Record<string, AnyEffect | "setup">> | undefined;
  readonly actors: Readonly<Record<string, AnyActorOptions>>;
  readonly given: AnyWorkflow["given"];
  readonly keepsEnded: boolean;
}

/** Registers a chart of another library, or of another XState, with the bodies and actors in it. Throws as `workflow` does. */
export function workflowOf<Source extends ChartSource>(
  interpreter: ChartSourceReader<Source>,
  source: Source,
  { version }: Pick<WorkflowParts, "version">,
): AnyWorkflow {
  return register(source, { ...BARE, name: source.id, version }, { interpreter, within: [] });
}

/** XState's own name for a chart without an id: two of them on one database would take each other's instances. */
const WITHOUT_ID = "(machine)";
const NO_ID =
  'id: the chart has none, and its instances are stored under it: add `id: "order",` to createMachine({ … })';

/** A chart without options. */
const BARE = { migrate: {}, effects: undefined, actors: {}, given: {}, keepsEnded: true };

interface Reading<Source extends ChartSource> {
  readonly interpreter: ChartSourceReader<Source>;
  /** The charts around this one, outermost first: a chart that holds itself would never end. */
  readonly within: readonly Source[];
}

function register<Source extends ChartSource>(
  source: Source,
  parts: WorkflowParts,
  { interpreter, within }: Reading<Source>,
): AnyWorkflow {
  const { name, version, migrate, effects = {}, given, keepsEnded } = parts;
  const read = interpreter.read(source);
  const { parts: shape } = read;
  const problems = registrationProblems(shape, parts);
  if (name === WITHOUT_ID) problems.unshift(NO_ID);
  if (within.includes(source)) problems.push("it has itself among its actors");
  if (problems.length > 0) {
    throw new TypeError(`workflow "${name}" cannot be registered:\n- ${problems.join("\n- ")}`);
  }
  const actors = registeredActors(shape, parts, { interpreter, within: [...within, source] });
  // Where handlers are given, a body stands in `setup()` for the types alone, unless it is named as "setup"; `start` and
  // `tell` are the engine's own then.
  const bodies = [...shape.bodies].filter(
    ([body]) => parts.effects === undefined || effects[body] === "setup",
  );
  const key = workflowKey(name, version);
  const text = read.text();
  const migrations = new Map(Object.entries(migrate).map(([from, migration]) => [Number(from), migration]));
  const older = [...migrations.keys()].map((from) => workflowKey(name, from));
  const inner = [...actors.values()].flatMap((actor) =>
    actor.kind === "machine" ? actor.workflow.claims : [],
  );
  return {
    machine: source as unknown as AnyStateMachine,
    name,
    version,
    key,
    chartText: text,
    hash: createHash("sha256").update(text).digest("hex").slice(0, 16),
    claims: [key, name, ...older, ...inner],
    migrations,
    chart: read.open(),
    effects: new Map(
      Object.entries(effects).filter((entry): entry is [string, AnyEffect] => entry[1] !== "setup"),
    ),
    bodies: new Map([...bodies, ...shape.inline]),
    actors,
    child: (src) => childOf(actors, key, src),
    catches: shape.catches ?? (() => false),
    keepsEnded,
    delaysEvents: shape.delaysEvents,
    warnings: [...(shape.warnings ?? []), ...effectWarnings(shape, parts.effects)],
    given,
    project: () => [],
  };
}

/** The actors of a chart by their names in it, those of its child machines included. */
function registeredActors<Source extends ChartSource>(
  shape: ChartParts<Source>,
  { name, version, migrate, actors: options, given }: WorkflowParts,
  inside: Reading<Source>,
): Map<string, WorkflowActor> {
  const actors = new Map<string, WorkflowActor>();
  for (const [src, actor] of shape.actors) {
    const { retry, limit, migrate: ofChild, actors: inChild = {} } = options[src] ?? {};
    if (actor.kind === "promise") {
      actors.set(src, { kind: "promise", create: actor.create, retry: retry && retryPolicy(retry), limit });
      continue;
    }
    // A child has its parent's version, so a child is migrated from every version that its parent is migrated from.
    const kept = Object.fromEntries(Object.keys(migrate).map((from) => [from, null]));
    const inherited = { ...BARE, name: `${name}/${src}`, version, given: inheritedOptions(given) };
    const child = { ...inherited, migrate: { ...kept, ...ofChild }, actors: inChild };
    actors.set(src, { kind: "machine", workflow: register(actor.machine, child, inside) });
  }
  return actors;
}

function childOf(actors: AnyWorkflow["actors"], key: string, src: string): AnyWorkflow {
  const actor = actors.get(src);
  if (actor?.kind === "machine") return actor.workflow;
  const machines = [...actors].filter(([, { kind }]) => kind === "machine").map(([name]) => name);
  const there = machines.length === 0 ? "it has none" : `it has ${machines.join(", ")}`;
  throw new TypeError(`${key} has no machine "${src}" among its actors: ${there}`);
}

function registrationProblems(
  shape: ChartParts<ChartSource>,
  { version, migrate, effects, actors, given, keepsEnded }: WorkflowParts,
): string[] {
  const named = [...shape.effects].filter((name) => !OWN_ACTIONS.has(name));
  const isBuiltIn = (name: string): boolean => shape.builtIns?.has(name) === true;
  const isDone = (name: string): boolean => isDoneBy(name, shape, effects);
  const problems = [
    ...shape.faults,
    ...(Number.isSafeInteger(version) && version > 0 ? [] : ["version: expected a whole number above 0"]),
    ...named
      .filter((name) => !isDone(name))
      .map((name) => `effects.${name}: the chart asks for it, no handler`),
    ...Object.keys(effects ?? {})
      .filter((name) => !isAsked(name, shape) && shape.enqueued === undefined)
      .map((name) => `effects.${name}: the chart never asks for it`),
    ...Object.entries(effects ?? {})
      .filter(([name, effect]) => isBuiltIn(name) && effect !== "setup")
      .map(([name]) => `effects.${name}: setup makes it a part of the step, so it is "setup"`),
  ];
  if (!keepsEnded && (shape.actors.size > 0 || effects === undefined)) {
    problems.push("keepEnded: only a chart without actors, whose actions have handlers, can go with its end");
  }
  problems.push(...stepOptionProblems(given, shape.metas), ...migrationProblems(migrate, version));
  for (const [name, effect] of Object.entries(effects ?? {})) {
    if (typeof effect !== "object") continue;
    const found = [...limitProblems(effect.limit), ...retryProblems(effect.retry)];
    problems.push(...found.map((problem) => `effects.${name}.${problem}`));
  }
  for (const [src, options] of Object.entries(actors)) {
    const found = actorProblems(shape.actors.get(src)?.kind, options, Object.keys(migrate));
    problems.push(...found.map((problem) => `actors.${src}${problem}`));
  }
  return problems;
}

/** Actions that the engine itself carries out. */
const OWN_ACTIONS: ReadonlySet<string> = new Set(["start", "tell"]);

type Effects = WorkflowParts["effects"];

const isDoneBy = (name: string, { bodies }: ChartParts<ChartSource>, effects: Effects): boolean =>
  effects === undefined || effects[name] === "setup" ? bodies.has(name) : name in effects;

const isAsked = (name: string, { effects, bodies, builtIns, enqueued }: ChartParts<ChartSource>): boolean =>
  [effects, bodies, builtIns, enqueued].some((names) => names?.has(name) === true);

/** Functions of the chart may ask for more actions than can be seen, and for fewer than it seems. */
function effectWarnings(shape: ChartParts<ChartSource>, effects: Effects): readonly string[] {
  const { enqueued } = shape;
  if (enqueued === undefined) return [];
  const missing = [...enqueued].filter((name) => !OWN_ACTIONS.has(name) && !isDoneBy(name, shape, effects));
  const idle = Object.keys(effects ?? {}).filter((name) => !isAsked(name, shape));
  return [
    ...missing.map((name) => `effects.${name}: enqueueActions seems to ask for it, no handler`),
    ...idle.map((name) => `effects.${name}: it seems that the chart never asks for it`),
  ];
}

/** The workflow with those of the machines among its actors, and of theirs. */
export function withChildren(parent: AnyWorkflow): AnyWorkflow[] {
  const children = [...parent.actors.values()].flatMap((actor) =>
    actor.kind === "machine" ? withChildren(actor.workflow) : [],
  );
  return [parent, ...children];
}

/**
 * A start of one more instance, with its input typed from the machine.
 *
 * @example
 * ```ts
 * import { createEngine, startOf, workflow } from "paystate/engine";
 * import { sqliteStorage } from "paystate/storage/sqlite";
 * import { createMachine } from "xstate";
 *
 * const lights = workflow(createMachine({ id: "light", initial: "off", states: { off: {} } }))({ version: 1 });
 * const engine = createEngine({ storage: await sqliteStorage(":memory:"), workflows: [lights] });
 * // Both begin, or neither.
 * const starts = [startOf(lights, "kitchen", undefined), startOf(lights, "hall", undefined)];
 * console.log((await engine.commit({ starts })).ok); // true
 * ```
 */
export function startOf<M extends AnyStateMachine, W>(
  started: Workflow<M, W>,
  id: string,
  input: InputFrom<M>,
): StartRequest {
  return { workflow: started, id, input };
}
