/** A step of an instance, with all facts that its consequences depend on. */
import type { EventObject } from "xstate";
import type { InstanceRecord, TaskRecord } from "../../storage/storage.ts";
import type { ChartSnapshot, ChartStep } from "./chart.ts";
import type { WorkflowRegistry } from "./workflow-registry.ts";
import type { AnyWorkflow } from "./workflow.ts";

/** The fields of a stored instance that a step depends on. */
export type KnownInstance = Pick<
  InstanceRecord,
  "id" | "workflow" | "hash" | "version" | "stamp" | "life" | "status" | "snapshot"
>;

export interface StepContext {
  readonly workflow: AnyWorkflow;
  readonly id: string;
  readonly version: number;
  readonly life: string;
  readonly stamp: string;
  /** Null for the first step of an instance, like `event`. */
  readonly before: ChartSnapshot | null;
  readonly step: ChartStep;
  readonly event: EventObject | null;
  /** In milliseconds since the Unix epoch. */
  readonly at: number;
  /** The workflows in which targets of `start` and `tell` are found. */
  readonly workflows: WorkflowRegistry;
}

/** Where and when a task is armed. */
type ArmedPlace = Pick<TaskRecord, "id" | "instance" | "workflow" | "dueAt" | "delayMs">;

/** Fields of each task that a step arms; `place` is that of the action which asks for it, or a name. */
export function taskOfStep(
  { id, stamp, at, workflow }: StepContext,
  place: number | string,
  delayMs = 0,
): Required<ArmedPlace> {
  return {
    id: `${id}:${stamp}:${place}`,
    instance: id,
    workflow: workflow.key,
    dueAt: at + delayMs,
    delayMs,
  };
}

/** The task of an effect or of a promise, under its limits. */
export function limitedTask(
  { id, instance, workflow, dueAt, delayMs }: Required<ArmedPlace>,
  { kind, name, payload }: Pick<TaskRecord, "kind" | "name" | "payload">,
  { limits, priority }: Pick<TaskRecord, "limits" | "priority">,
): TaskRecord {
  const task = { id, instance, workflow, kind, name, payload, dueAt, delayMs, limits };
  return priority === undefined ? task : { ...task, priority };
}
