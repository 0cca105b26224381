/** Reads a chart into plain data for drawing: states, their actions, and transitions in words. */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition as AnyTransition } from "xstate";
import { actionWords, delayWords, eventWords, guardWords } from "./words.ts";

/** The kind of a state. A history state restores the states that were left. */
type StateKind = "atomic" | "compound" | "parallel" | "final" | "history";

/** A state of a chart with the states in it. */
export interface ChartState {
  /** Unique in its chart: the names of the states around it and its own, joined by dots. */
  readonly id: string;
  readonly name: string;
  readonly kind: StateKind;
  /** Whether it is active together with the states beside it. */
  readonly isRegion: boolean;
  /** Actions, invocations and internal transitions of the state, a line for each, such as `invoke charge`. */
  readonly notes: readonly string[];
  /** Outside events that this state itself handles. */
  readonly answers: readonly string[];
  /** The id of the state that is entered first; null for states that are not compound. */
  readonly initial: string | null;
  /** The chart's words for outsiders about this state in `meta.status`, and why the state needs a person. */
  readonly status: string | null;
  readonly attention: string | null;
  readonly states: readonly ChartState[];
}

/** A way from one state to another. */
export interface ChartTransition {
  readonly from: string;
  readonly to: string;
  /** The state that is active once it was taken: `to` itself, or, if that is a history state, its parent state. */
  readonly entered: string;
  /** The event as it is stored in the history, such as `xstate.after.900000.order.open`. Empty for `always`. */
  readonly event: string;
  /** The event, its guard and its effects in words, such as `after 15 min [unpaid] / remind`. */
  readonly label: string;
}

/** A chart with everything that is drawn of it. */
export interface ReadChart {
  readonly name: string;
  readonly root: ChartState;
  readonly transitions: readonly ChartTransition[];
}

/** Reads a chart. Pure: nothing of it runs. */
export function readChart(machine: AnyStateMachine): ReadChart {
  const reader = new ChartReader(machine);
  const root = reader.read(machine.root as AnyStateNode);
  return { name: machine.id, root, transitions: reader.transitions };
}

/** All states of a chart, outer ones first. */
export function statesOf(state: ChartState): ChartState[] {
  return [state, ...state.states.flatMap(statesOf)];
}

/** The ids of the states that a stored state value stands for, outer ones first. Names that no state has are left out. */
export function activeStates({ root }: ReadChart, value: unknown): string[] {
  const known = new Set(statesOf(root).map(({ id }) => id));
  return [root.id, ...idsWithin(root.id, value)].filter((id) => known.has(id));
}

function idsWithin(parent: string, value: unknown): string[] {
  if (typeof value === "string") return [`${parent}.${value}`];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    `${parent}.${name}`,
    ...idsWithin(`${parent}.${name}`, inner),
  ]);
}

class ChartReader {
  readonly transitions: ChartTransition[] = [];
  readonly #machine: AnyStateMachine;

  constructor(machine: AnyStateMachine) {
    this.#machine = machine;
  }

  read(node: AnyStateNode): ChartState {
    const { initial } = node as {
      readonly initial: { readonly target?: readonly AnyStateNode[] } | undefined;
    };
    const first = initial?.target?.[0];
    return {
      id: idOf(node),
      name: node.key,
      kind: node.type,
      isRegion: node.parent?.type === "parallel" && node.type !== "history",
      notes: [...doings(node), ...this.#readTransitions(node)],
      initial: node.type === "compound" && first !== undefined ? idOf(first) : null,
      answers: [...node.transitions.keys()].filter((event) => event !== "" && !event.startsWith("xstate.")),
      ...told(node),
      states: Object.values(node.states as Record<string, AnyStateNode>).map((child) => this.read(child)),
    };
  }

  /** Collects the transitions that leave the state, and returns notes for transitions that stay within the state. */
  #readTransitions(node: AnyStateNode): string[] {
    const notes: string[] = [];
    for (const transition of [...[...node.transitions.values()].flat(), ...(node.always ?? [])]) {
      const label = this.#label(transition);
      const targets = transition.target ?? [];
      const inside = targets.filter((target) => isWithin(target, node));
      if (targets.length === 0) notes.push(`on ${label}`);
      // Drawn as a line it would begin and end in the same box.
      if (inside.length > 0) notes.push(`on ${label} → ${inside.map(({ key }) => key).join(", ")}`);
      for (const target of targets) {
        if (isWithin(target, node)) continue;
        this.transitions.push({
          from: idOf(node),
          to: idOf(target),
          entered: idOf(target.type === "history" ? (target.parent ?? target) : target),
          event: String(transition.eventType),
          label,
        });
      }
    }
    return notes;
  }

  #label({ eventType, guard, actions }: AnyTransition): string {
    const delays = this.#machine.implementations.delays as Readonly<Record<string, unknown>>;
    return [
      eventWords(String(eventType), (delay) => delayWords(delay, delays[delay])),
      ...guardWords(guard),
      ...actions.flatMap(actionWords).map((effect) => `/ ${effect}`),
    ].join(" ");
  }
}

function told({ meta }: AnyStateNode): Pick<ChartState, "status" | "attention"> {
  const { status, attention } = (meta ?? {}) as { readonly status?: unknown; readonly attention?: unknown };
  return {
    status: typeof status === "string" ? status : null,
    attention: typeof attention === "string" ? attention : null,
  };
}

/** Actions of a state on entry, on exit and while active. */
function doings(node: AnyStateNode): string[] {
  const { watches = [] } = (node.meta ?? {}) as { readonly watches?: readonly string[] };
  return [
    ...node.entry.flatMap(actionWords).map((effect) => `entry / ${effect}`),
    ...node.exit.flatMap(actionWords).map((effect) => `exit / ${effect}`),
    ...node.invoke.map(({ id, src }) => {
      // Logic that stands in the chart itself has a name that XState made up.
      const isNamed = typeof src === "string" && !src.startsWith("xstate.") && src !== id;
      return isNamed && !id.endsWith(`.${node.key}`)
        ? `invoke ${src} as ${id}`
        : `invoke ${isNamed ? src : id}`;
    }),
    ...watches.map((watch) => `watch ${watch}`),
    ...(node.type === "history" ? [node.history === "deep" ? "deep history" : "history"] : []),
  ];
}

function isWithin(target: AnyStateNode, node: AnyStateNode): boolean {
  return target === node || (target.parent !== undefined && isWithin(target.parent, node));
}

function idOf({ machine, path }: AnyStateNode): string {
  return [machine.id, ...path].join(".");
}
