/** The port to a statechart library: what is read of a chart when it is registered. From then on it is a `Chart`. */
import type { Chart, StateMeta } from "./chart.ts";

export interface ChartSource {
  readonly id: string;
}

/** The argument of a promise creator. */
export interface PromiseScope {
  readonly input: unknown;
  readonly signal: AbortSignal;
  readonly self: unknown;
  readonly system: unknown;
  readonly emit: (event: unknown) => void;
}

/** Begins the work of a promise actor. */
export type PromiseCreator = (scope: PromiseScope) => unknown;

/** An actor that a chart may invoke or spawn. */
export type ActorSource<Source extends ChartSource> =
  | { readonly kind: "promise"; readonly create: PromiseCreator }
  | { readonly kind: "machine"; readonly machine: Source };

/** An action with a body of its own, as `setup({ actions })` and inline functions are. */
export type ActionBody = (scope: never, params: never) => unknown;

/** The parts of a chart, by the names that are stored. */
export interface ChartParts<Source extends ChartSource> {
  /** Named actions that are effects, whether the chart gives them a body or not. */
  readonly effects: ReadonlySet<string>;
  readonly bodies: ReadonlyMap<string, ActionBody>;
  /** Named actions that are part of the step, such as an `assign` of `setup`. */
  readonly builtIns?: ReadonlySet<string>;
  /** The bodies written inline, each named by its place in the chart. */
  readonly inline: ReadonlyMap<string, ActionBody>;
  readonly actors: ReadonlyMap<string, ActorSource<Source>>;
  /** The metas of its states. */
  readonly metas: readonly StateMeta[];
  /** Whether a state of it takes the error of the child with this id. */
  readonly catches?: (child: string) => boolean;
  /** Whether timers of an instance may outlast the states that have armed them. */
  readonly delaysEvents: boolean;
  /** Why the chart cannot be durable: a sentence for each fault, with the state. */
  readonly faults: readonly string[];
  /** Signs of a fault in the text of a function; only a step can prove one. */
  readonly warnings?: readonly string[];
  /** Names of actions that its functions seem to ask for. Absent where no function can. */
  readonly enqueued?: ReadonlySet<string>;
}

interface ReadChart<Source extends ChartSource> {
  readonly parts: ChartParts<Source>;
  /** Everything that decides how a stored snapshot is read on. */
  text(): string;
  /** To be called for a chart without faults. */
  open(): Chart;
}

/** An interpreter for the charts of one library. */
export interface ChartSourceReader<Source extends ChartSource> {
  read(source: Source): ReadChart<Source>;
}
