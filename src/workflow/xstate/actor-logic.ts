/** Tells the kind of actor that a logic makes, and why some actors cannot be durable. */
import { StateMachine, type AnyStateMachine } from "xstate";
import type { ActorSource, PromiseCreator } from "../chart-interpreter.ts";

interface PromiseTransition {
  (snapshot: object, event: object, scope: object): { readonly status?: unknown; readonly output?: unknown };
}

/** The source that a logic is, or the reason why it cannot be durable, with the way out. */
export function actorSource(logic: unknown): ActorSource<AnyStateMachine> | string {
  if (logic instanceof StateMachine) return { kind: "machine", machine: logic as unknown as AnyStateMachine };
  if (typeof logic !== "object" || logic === null || !("transition" in logic)) {
    return "it has no logic; give it in setup({ actors }) or with machine.provide({ actors })";
  }
  const { config, transition, start } = logic as Readonly<Record<string, unknown>>;
  if (typeof config === "function" && isPromise(transition)) {
    return { kind: "promise", create: config as PromiseCreator };
  }
  if (start === undefined) return "fromTransition keeps its state in memory; write it as a machine";
  return "fromCallback, fromObservable and fromEventObservable listen in memory, and what comes while no process runs is lost; use a watcher, an event sent from outside, or `after`";
}

// Promise, callback and observable logics look alike. Only a promise's answers to this event with its output.
function isPromise(transition: unknown): boolean {
  if (typeof transition !== "function") return false;
  const probe = {};
  try {
    const next = (transition as PromiseTransition)(
      { status: "active" },
      { type: "xstate.promise.resolve", data: probe },
      {},
    );
    return next.status === "done" && next.output === probe;
  } catch {
    return false;
  }
}
