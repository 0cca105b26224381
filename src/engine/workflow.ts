/** A workflow: a chart and everything the engine needs to act it out, in one unit of registration. */
import type {
  AnyStateMachine,
  EventFromLogic,
  InputFrom,
  ContextFrom,
  ParameterizedObject,
  StateMachine,
} from "xstate";
import type { Lane, Write } from "../../storage/storage.ts";
import { openChart } from "./chart.ts";
import type { Chart, PlannedEffect, StateMeta } from "./chart.ts";
import { chartHash, readChartShape } from "./chart-shape.ts";

/** What an effect handler is told besides its params. */
export interface EffectRun {
  /** The same for every run of this effect, also after a crash: hand it to whatever must not happen twice. */
  readonly key: string;
  readonly instance: string;
  /** Aborts when the lease is lost or the engine stops; whatever is still done then is done a second time. */
  readonly signal: AbortSignal;
  /** When it was due, in milliseconds; it was begun then or later. */
  readonly dueAt: number;
  /** How often a process vanished in the middle of this effect. */
  readonly crashes: number;
  /** How often this effect threw. */
  readonly failures: number;
}

/** A new instance to be started, made by `startOf`. */
export interface StartRequest {
  readonly workflow: AnyWorkflow;
  readonly id: string;
  readonly input: unknown;
}

/** What follows from an effect; it is committed together with the end of its task, or not at all. */
export interface EffectOutcome<Event, W> {
  readonly event?: Event;
  readonly starts?: readonly StartRequest[];
  readonly writes?: readonly Write<W>[];
}

/**
 * Carries out one effect, at least once. Throwing means *try again later*: the task is kept and comes back with a
 * growing pause. A business failure is an event, not an exception. When a start or a write it returns is refused,
 * because another commit came first, it runs again at once and can look anew.
 */
export type EffectHandler<Params, Event, W> = (
  params: Params,
  run: EffectRun,
) => Promise<EffectOutcome<Event, W> | undefined>;

/** An effect with a lane: at most `cap` effects of one lane run at a time, over all processes. */
export interface LanedEffect<Params, Event, W> {
  readonly run: EffectHandler<Params, Event, W>;
  readonly lane: (params: Params) => Lane;
}

/** The union of a machine's named actions with their params. */
export type ActionOf<M extends AnyStateMachine> =
  // The other type parameters of a machine are of no interest here, and only `any` fits all their bounds.
  /* eslint-disable-next-line @typescript-eslint/no-explicit-any */
  M extends StateMachine<any, any, any, any, infer A, any, any, any, any, any, any, any, any, any>
    ? A extends ParameterizedObject
      ? A
      : never
    : never;

/** Actions the engine itself carries out: messages to other instances. */
export type EngineAction = "start" | "tell";

/** One handler per effect of the chart, params and events typed from the machine. */
export type EffectsOf<M extends AnyStateMachine, W> = {
  readonly [A in ActionOf<M> as Exclude<A["type"], EngineAction>]:
    EffectHandler<A["params"], EventFromLogic<M>, W> | LanedEffect<A["params"], EventFromLogic<M>, W>;
};

/** One committed step as `project` sees it. */
export interface ProjectedStep<Context, Event> {
  readonly id: string;
  /** Null for the first step of an instance. */
  readonly before: { readonly value: unknown; readonly context: Context; readonly meta: StateMeta } | null;
  readonly after: { readonly value: unknown; readonly context: Context; readonly meta: StateMeta };
  /** Null for the first step of an instance. */
  readonly event: Event | null;
  readonly effects: readonly PlannedEffect[];
}

/** What `workflow(chart)` is given. */
export interface WorkflowOptions<M extends AnyStateMachine, W> {
  /** A whole number, raised whenever the chart changes in a way that stored instances would notice. */
  readonly version: number;
  readonly effects: EffectsOf<M, W>;
  /** For each watch kind named in a state's `meta.watches`: what to watch for this instance. */
  readonly watches?: Readonly<Record<string, (context: ContextFrom<M>) => string>>;
  /** The domain writes of a step's commit. Pure: no I/O, no clock, no chance. */
  readonly project?: (
    step: ProjectedStep<ContextFrom<M>, EventFromLogic<M>>,
    at: number,
  ) => readonly Write<W>[];
}

/** A registered workflow; `M` and `W` keep its types for `startOf` and `send`. */
export interface Workflow<M extends AnyStateMachine, W> extends AnyWorkflow {
  readonly machine: M;
  /** Exists in the type only: a workflow that writes no tables fits every engine. */
  readonly writesTo?: (tables: W) => void;
}

/** A workflow with its types laid aside, as the engine runs it. */
export interface AnyWorkflow {
  readonly machine: AnyStateMachine;
  readonly name: string;
  readonly version: number;
  /** `name@version`, as stored beside each instance and task. */
  readonly key: string;
  readonly hash: string;
  readonly chart: Chart;
  readonly effects: ReadonlyMap<
    string,
    LanedEffect<unknown, never, never> | EffectHandler<unknown, never, never>
  >;
  readonly watches: Readonly<Record<string, (context: never) => string>>;
  readonly project: (step: ProjectedStep<never, never>, at: number) => readonly Write<never>[];
}

/**
 * Registers a chart under its machine id and a version: `workflow(chart)({ version: 1, effects: { … } })`. The chart
 * stands in a call of its own so that handlers are typed from it, literal event types included. A workflow that
 * writes domain tables names them: `workflow(chart)<Tables>({ … })`.
 *
 * Throws one `TypeError` that lists every problem: a chart outside the durable shape (naming the state), an effect
 * without a handler, a handler without an effect, a watch nobody says the key of.
 */
export function workflow<M extends AnyStateMachine>(
  machine: M,
): <W = unknown>(options: WorkflowOptions<M, W>) => Workflow<M, W> {
  return ({ version, effects, watches = {}, project = () => [] }) => {
    const handlers = new Map(Object.entries(effects as Record<string, never>));
    const problems = registrationProblems(machine, version, handlers, watches);
    if (problems.length > 0) {
      throw new TypeError(`workflow "${machine.id}" cannot be registered:\n- ${problems.join("\n- ")}`);
    }
    return {
      machine,
      name: machine.id,
      version,
      key: `${machine.id}@${version}`,
      hash: chartHash(machine),
      chart: openChart(machine),
      effects: handlers,
      watches,
      project: project as unknown as AnyWorkflow["project"],
    };
  };
}

function registrationProblems(
  machine: AnyStateMachine,
  version: number,
  handlers: ReadonlyMap<string, unknown>,
  watches: Readonly<Record<string, unknown>>,
): string[] {
  const shape = readChartShape(machine);
  const needed = [...shape.effects].filter((name) => name !== "start" && name !== "tell");
  return [
    ...shape.faults,
    ...(Number.isSafeInteger(version) && version > 0 ? [] : ["version: expected a whole number above 0"]),
    ...needed
      .filter((name) => !handlers.has(name))
      .map((name) => `effects.${name}: the chart asks for it, no handler`),
    ...[...handlers.keys()]
      .filter((name) => !shape.effects.has(name))
      .map((name) => `effects.${name}: the chart never asks for it`),
    ...[...shape.watches]
      .filter((kind) => watches[kind] === undefined)
      .map((kind) => `watches.${kind}: a state arms it, no key given`),
  ];
}

/** A start of one more instance, with its input typed from the machine. */
export function startOf<M extends AnyStateMachine, W>(
  started: Workflow<M, W>,
  id: string,
  input: InputFrom<M>,
): StartRequest {
  return { workflow: started, id, input };
}
