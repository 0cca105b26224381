/** Which charts can be made durable, checked once when a workflow is registered. */
import { createHash } from "node:crypto";
import type { AnyStateMachine, StateNode } from "xstate";

type AnyStateNode = StateNode<never, never>;

interface ActionLike {
  readonly type?: string;
  readonly delay?: unknown;
  readonly resolve?: unknown;
}

// `assign` computes the next context and an undelayed `raise` is worked off inside the step: both are pure.
const PURE_BUILT_INS: ReadonlySet<string> = new Set(["xstate.assign", "xstate.raise"]);

/** The names of all effects a chart can ask for, with the faults that would keep it from being durable. */
export interface ChartShape {
  readonly effects: ReadonlySet<string>;
  readonly watches: ReadonlySet<string>;
  /** One sentence per fault, each naming the state. Empty for a chart that can be registered. */
  readonly faults: readonly string[];
}

/**
 * Reads the shape of a chart. Refused are: effect bodies written inline (they would run nowhere), `invoke`, spawned or
 * messaged actors and delayed `raise` (none of them would survive a restart), built-ins behind a name, history states
 * (not stored), and a context that is an object (instances would share it).
 */
export function readChartShape(machine: AnyStateMachine): ChartShape {
  const effects = new Set<string>();
  const watches = new Set<string>();
  const faults: string[] = [];

  // A built-in behind a name would run inside the step, unseen by the rules below and by the handler registered for it.
  const implementations = machine.implementations.actions as Readonly<Record<string, ActionLike | undefined>>;
  const readEffect = (state: string, name: string): void => {
    const builtIn = implementations[name]?.resolve !== undefined;
    if (builtIn) faults.push(`state "${state}": the action "${name}" is a built-in; write it inline`);
    else effects.add(name);
  };

  const readAction = (state: string, action: unknown): void => {
    if (typeof action === "string") return readEffect(state, action);
    const { type, delay, resolve } = action as ActionLike;
    if (typeof action !== "function" && resolve === undefined && type !== undefined) {
      return readEffect(state, type);
    }
    if (resolve === undefined) {
      faults.push(
        `state "${state}": an effect body is written inline; name the action in setup() and register a handler`,
      );
    } else if (type === undefined || !PURE_BUILT_INS.has(type)) {
      faults.push(
        `state "${state}": the action ${type ?? "?"} is not durable; use assign, raise, start, tell or an effect`,
      );
    } else if (type === "xstate.raise" && delay !== undefined) {
      faults.push(`state "${state}": a delayed raise is not durable; use "after"`);
    }
  };

  const readState = (node: AnyStateNode): void => {
    const state = node.id;
    if (node.type === "history") faults.push(`state "${state}": history states are not stored`);
    if (node.invoke.length > 0) faults.push(`state "${state}": invoke is not durable; use an effect`);
    for (const action of [...node.entry, ...node.exit]) {
      // Entering a state with `after` raises its timers, leaving it cancels them: XState puts both there itself.
      if (!isOwnTimer(action)) readAction(state, action);
    }
    for (const transition of [...node.transitions.values()].flat()) {
      for (const action of transition.actions) readAction(state, action);
    }
    for (const transition of node.always ?? []) {
      for (const action of transition.actions) readAction(state, action);
    }
    for (const action of (node.initial as { actions?: readonly unknown[] } | undefined)?.actions ?? []) {
      readAction(state, action);
    }
    const meta = node.meta as { watches?: readonly string[] } | undefined;
    for (const watch of meta?.watches ?? []) watches.add(watch);
    for (const child of Object.values(node.states)) readState(child);
  };
  readState(machine.root as unknown as AnyStateNode);

  const { context } = machine.config as { context?: unknown };
  if (context !== undefined && typeof context !== "function") {
    faults.push(
      `state "${machine.id}": the context is an object that all instances would share; make it a function`,
    );
  }
  return { effects, watches, faults };
}

function isOwnTimer(action: unknown): boolean {
  const { type, id, sendId, event } = action as {
    type?: string;
    id?: unknown;
    sendId?: unknown;
    event?: { type?: unknown };
  };
  const timer = type === "xstate.raise" ? (event?.type ?? id) : type === "xstate.cancel" ? sendId : undefined;
  return typeof timer === "string" && timer.startsWith("xstate.after.");
}

/**
 * A hash of everything in a chart that decides how a stored snapshot is read on: its states, events, targets, delays,
 * action names and watches. Functions count by presence only, so that reformatting one changes nothing.
 */
export function chartHash(machine: AnyStateMachine): string {
  const text = JSON.stringify(machine.config, (key, value: unknown) =>
    key === "description"
      ? undefined
      : typeof value === "function"
        ? `function ${(value as ActionLike).type ?? ""}`
        : value,
  );
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
