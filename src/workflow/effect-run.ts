/** Facts about a run of an effect, and the starts of instances that may come of it. */
import type { AnyStateMachine } from "xstate";

/** Which chart and version a workflow is. */
export interface WorkflowHandle {
  readonly machine: AnyStateMachine;
  readonly name: string;
  readonly version: number;
  /** `name@version`, as stored beside each instance and task. */
  readonly key: string;
}

/** Facts about a run that an effect handler gets besides its params. */
export interface EffectRun {
  /** An idempotency key, equal for every run of this effect, also after a crash: for a service that must not act twice. */
  readonly key: string;
  readonly instance: string;
  /** Aborts when the lease is lost or the engine stops; work that goes on after that is done a second time. */
  readonly signal: AbortSignal;
  /** The due time of the effect, in milliseconds; the effect begins at this time or later. */
  readonly dueAt: number;
  /** Processes in a row that vanished with this effect in hand; a failure, or an hour in hand, begins a new row. */
  readonly crashes: number;
  /** The number of times that this effect threw. */
  readonly failures: number;
}

/** A new instance to be started, made by `startOf`. */
export interface StartRequest {
  readonly workflow: WorkflowHandle;
  readonly id: string;
  readonly input: unknown;
}

/** An instance that was to be started is there already, or is started twice. */
export interface StartRefusal {
  readonly kind: "exists";
  readonly id: string;
}
