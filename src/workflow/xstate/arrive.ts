/** Takes an instance into a new version of its chart: begins the work of its states, and ends what they do not ask for. */
import type { AnyMachineSnapshot, AnyStateMachine, EventObject } from "xstate";
import {
  ArrivalError,
  MIGRATED,
  type Arrival,
  type ChartAction,
  type ChildLink,
  type FormerChild,
} from "../chart.ts";
import type { StepChartParts } from "./chart-shape.ts";
import { runAfter, type StepFamily } from "./step-family.ts";
import { wholeDelay } from "./whole-delay.ts";

/** Prefix of timers that `after` arms, which end with their state. */
const AFTER = "xstate.after.";

/** The event that functions of the chart get during a migration. */
const EVENT: EventObject = { type: MIGRATED };

export interface Node {
  readonly id: string;
  readonly key: string;
  readonly type: string;
  readonly states: Readonly<Record<string, Node>>;
  readonly after: readonly { readonly delay: unknown; readonly eventType: string }[];
  readonly invoke: readonly {
    readonly id: string;
    readonly src: string;
    readonly systemId?: string;
    readonly input?: unknown;
  }[];
}

/** @throws ArrivalError naming the path of a state that the chart lacks. */
export function checkValue(node: Node, value: unknown, path = "value"): void {
  if (typeof value === "string") {
    stateOf(node, value, `${path}.${value}`);
    return;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ArrivalError(path, "expected the name of a state, or an object of such names");
  }
  const entries = Object.entries(value);
  // A chart or a region without states of its own has an empty value.
  if (entries.length === 0 && Object.keys(node.states).length === 0) return;
  if (node.type !== "parallel" && entries.length !== 1) {
    throw new ArrivalError(path, `expected one state of "${node.id}", found ${entries.length}`);
  }
  for (const [key, inner] of entries) {
    checkValue(stateOf(node, key, `${path}.${key}`), inner, `${path}.${key}`);
  }
}

function stateOf(node: Node, key: string, path: string): Node {
  const state = Object.hasOwn(node.states, key) ? node.states[key] : undefined;
  if (state !== undefined && state.type !== "history") return state;
  const known = Object.values(node.states)
    .filter(({ type }) => type !== "history")
    .map((each) => each.key);
  throw new ArrivalError(
    path,
    `the chart has no state "${key}" in "${node.id}"${known.length === 0 ? "" : `, only ${known.join(", ")}`}`,
  );
}

export class ArrivalActionList {
  readonly actions: ChartAction[] = [];
  readonly kept: Record<string, ChildLink> = {};
  readonly children: Record<string, ChildLink> = {};
  readonly former: readonly FormerChild[];
  readonly runs: Record<string, number>;
  readonly #machine: AnyStateMachine;
  readonly #shape: StepChartParts;
  readonly #context: Arrival["context"];
  readonly #family: StepFamily;
  readonly #before: Readonly<Record<string, ChildLink>>;

  constructor(
    chart: { readonly machine: AnyStateMachine; readonly shape: StepChartParts },
    { snapshot, family }: { readonly snapshot: AnyMachineSnapshot; readonly family: StepFamily },
    { before, context, timers }: Arrival,
  ) {
    this.#machine = chart.machine;
    this.#shape = chart.shape;
    this.#context = context;
    this.#family = family;
    this.#before = before.children ?? {};
    this.runs = { ...before.runs };
    this.former = before.former ?? [];
    for (const { id, src, hasEnded } of this.former) if (hasEnded !== true) this.#checkKnown(id, src);
    const { _nodes: nodes } = snapshot as unknown as { readonly _nodes: readonly Node[] };
    this.#end(nodes, timers);
    for (const node of nodes) this.#begin(node, timers);
  }

  #end(nodes: readonly Node[], timers: readonly string[]): void {
    const wanted = new Set(nodes.flatMap(({ after }) => after.map(({ eventType }) => eventType)));
    for (const timer of timers) {
      if (timer.startsWith(AFTER) && !wanted.has(timer)) this.actions.push({ kind: "disarm", timer });
    }
    const invoked = new Map(nodes.flatMap(({ invoke }) => invoke).map((each) => [each.id, each]));
    for (const [id, link] of Object.entries(this.#before)) {
      const src = link.isSpawned === true ? link.src : invoked.get(id)?.src;
      if (src !== undefined && this.#goesOn(id, link, src)) this.kept[id] = { ...link, src };
      else this.#stop(id, link);
    }
    Object.assign(this.children, this.kept);
  }

  #goesOn(id: string, { src, run, isSpawned }: ChildLink, wanted: string): boolean {
    const kind = this.#shape.actors.get(wanted)?.kind;
    if (kind !== (run === undefined ? "promise" : "machine")) {
      if (isSpawned !== true) return false;
      throw new ArrivalError(
        `children.${id}`,
        `"${src}" runs, and the chart has no such actor: keep it among the actors until the last one has ended`,
      );
    }
    if (kind === "machine" && src !== wanted) {
      throw new ArrivalError(
        `children.${id}`,
        `the machine "${src}" runs, and the chart invokes "${wanted}" under this id: keep its name, or give the new one another id`,
      );
    }
    return true;
  }

  /** A machine is stopped by the name of its chart, which this version has to know. */
  #stop(id: string, { src, run, hasEnded }: ChildLink): void {
    if (hasEnded === true) return;
    if (run !== undefined) this.#checkKnown(id, src);
    this.actions.push({ kind: "stopChild", id, src, ...(run !== undefined && { run }) });
  }

  #checkKnown(id: string, src: string): void {
    if (this.#shape.actors.get(src)?.kind === "machine") return;
    throw new ArrivalError(
      `children.${id}`,
      `the machine "${src}" runs, and the chart has none: keep it among the actors until the last one has ended`,
    );
  }

  #begin({ after, invoke }: Node, timers: readonly string[]): void {
    for (const { delay, eventType: timer } of after) {
      if (timers.includes(timer)) continue;
      // Several transitions may wait for one timer.
      if (this.actions.some((action) => action.kind === "arm" && action.timer === timer)) continue;
      const event = { type: timer };
      const delayMs = wholeDelay(this.#delay(delay), event);
      this.actions.push({ kind: "arm", timer, delayMs, event, to: "self" });
    }
    for (const { id, src, systemId, input } of invoke) {
      if (Object.hasOwn(this.children, id)) continue;
      const isMachine = this.#shape.actors.get(src)?.kind === "machine";
      const run = isMachine ? { run: runAfter(this.runs, id) } : {};
      if (run.run !== undefined) this.runs[id] = run.run;
      this.children[id] = { src, ...run, ...(systemId === undefined ? {} : { systemId }) };
      this.actions.push({ kind: "startChild", id, src, input: this.#asked(input), ...run });
    }
  }

  #delay(delay: unknown): number {
    const { delays } = this.#machine.implementations;
    const given = typeof delay === "string" ? (delays as Readonly<Record<string, unknown>>)[delay] : delay;
    return Number(this.#asked(given));
  }

  /** The value, or what a function of the chart makes of the context. */
  #asked(given: unknown): unknown {
    if (typeof given !== "function") return given;
    const { self, system } = this.#family;
    const scope = { context: this.#context, event: EVENT, self, system };
    return (given as (scope: object) => unknown)(scope);
  }
}
