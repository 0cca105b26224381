/** Jobs for many instances at once: a commit begins a job, and any running process carries it out. */
import type { AnyStateMachine, EventFromLogic, EventObject } from "xstate";
import type { EngineStorage } from "../../../../storage/storage.ts";
import { RETRY, STOP } from "../../../workflow/chart.ts";
import { throwRefusal } from "../../kernel/end-task.ts";
import { givenEvent } from "../../kernel/given-events.ts";
import type { InstanceWaitList } from "../../reading/waiting.ts";
import type { InstanceView, WorkflowQuery } from "../../reading/views.ts";
import { checkState, type FilterCheck } from "../../reading/workflow-reads.ts";
import type { FieldValues } from "../../../workflow/instance-finder.ts";
import { snapshotFromText } from "../../../workflow/snapshot-text.ts";
import type { StepHandler } from "../../kernel/step-handler.ts";
import { nameOf } from "../../../workflow/workflow-key.ts";
import type { AnyWorkflow, Workflow } from "../../../workflow/workflow.ts";
import type { WorkflowRegistry } from "../../../workflow/workflow-registry.ts";
import { eachChart, type EachOrder, type EachState } from "./each-chart.ts";
import { eachInput } from "./each-workflow.ts";

/** How far a job is. */
export interface EachProgress {
  /** The number of instances to which the job has addressed a message, delivered or not. */
  readonly touched: number;
  /** How many had the value of the first field of `where` at the beginning, before other filters and ends; null without `where`. */
  readonly total: number | null;
  /** Whether the last instance has its message. */
  readonly done: boolean;
}

/** A job for many instances, which is an instance itself: read it, list it, or end it early with `stopInstance(job.id)`. */
export interface EachJob {
  readonly id: string;
  /** Rejects where the job was removed. */
  progress(): Promise<EachProgress>;
  /**
   * Resolves when the last instance has its message; `settled()` of a test waits for the messages as well. Rejects with the
   * signal's reason, and with `EngineStopped` at the end of `stop()`: the job itself goes on.
   */
  done(options?: { readonly signal?: AbortSignal }): Promise<EachProgress>;
}

/** Options of a job. */
export interface EachOptions {
  /**
   * The id of the job. A call that is made again with the id of a job begins nothing new: so a caller that died may call
   * again. Default: an id of its own for each call.
   */
  readonly id?: string;
}

/** Acts on each of many instances. All resolve when the job is durable. */
export interface EachActs<Event> {
  /** Sends the event to each active one. */
  send(event: Event, options?: EachOptions): Promise<EachJob>;
  /** Stops each active one, as `stopInstance` does. */
  stop(options?: EachOptions): Promise<EachJob>;
  /** Retries the failing tasks and the dead letters of each, also of those that have ended, as `retry` does. */
  retry(options?: EachOptions): Promise<EachJob>;
}

/** Commands on many instances. */
export interface EachCommands {
  /**
   * The instances of a chart and version that `list` would list, for one durable job: page by page they get a message, up to
   * 256 in the commit that moves the job on. Killed at any moment it goes on, in any process that runs, and tells nobody
   * twice. Instances that begin later are left out; one that has left the filter when its message comes takes nothing.
   *
   * ```ts
   * const job = await engine.each(orders, { where: { customer: "ada" } }).send({ type: "CANCEL" });
   * console.log((await job.done()).touched);
   * ```
   *
   * The acts reject with a TypeError for a state or a search field that the workflow does not have; and for a search field
   * that not every instance of the version has.
   */
  each<M extends AnyStateMachine, S extends string = never>(
    workflow: Workflow<M, never, S>,
    filter?: Pick<WorkflowQuery<M, S>, "where" | "state">,
  ): EachActs<EventFromLogic<M>>;
}

interface EachParts<W> {
  readonly storage: Pick<EngineStorage, "list" | "tally" | "load">;
  readonly steps: Pick<StepHandler<W>, "commit" | "stamp">;
  readonly waiting: Pick<InstanceWaitList, "waitFor">;
  readonly workflows: Pick<WorkflowRegistry, "named">;
  readonly checkFilter: FilterCheck;
}

/** An order whose chart is here. */
export interface GivenOrder extends Omit<EachOrder, "workflow"> {
  readonly workflow: AnyWorkflow;
}

/** The calls of jobs that ask the storage. */
interface EachCalls {
  /** Returns the id of the job. */
  beginEach(order: GivenOrder, options: EachOptions): Promise<string>;
  eachProgress(id: string): Promise<EachProgress>;
  eachDone(id: string, signal: AbortSignal | undefined): Promise<EachProgress>;
}

export function eachCalls<W>(parts: EachParts<W>): EachCalls {
  const { storage, steps, waiting, workflows } = parts;
  return {
    async beginEach({ workflow, ...order }: GivenOrder, { id: given }: EachOptions): Promise<string> {
      checkState("each", workflow, order.state ?? undefined);
      const { where } = order;
      if (Object.keys(where).length > 0) await parts.checkFilter({ call: "each", workflow, where });
      const id = given ?? `each-${steps.stamp()}`;
      const input = await eachInput(storage, { ...order, workflow: workflow.key });
      const result = await steps.commit({ starts: [{ workflow: workflows.named(eachChart.id), id, input }] });
      if (!result.ok && result.conflict !== "exists") throwRefusal(result);
      if (!result.ok) await jobIn(storage, id);
      return id;
    },
    eachProgress: (id) => jobIn(storage, id),
    async eachDone(id, signal) {
      const checkAbsent = (): void => {
        throw new Error(`there is no job ${id}`);
      };
      await waiting.waitFor({ id, until: "final", signal, isMeant: () => true, checkAbsent });
      return jobIn(storage, id);
    },
  };
}

/** @throws Error where the id is of no job. */
async function jobIn(storage: Pick<EngineStorage, "load">, id: string): Promise<EachProgress> {
  const record = await storage.load(id);
  const isJob = record !== null && nameOf(record.workflow) === eachChart.id;
  if (isJob) return progressOf(snapshotFromText(record.snapshot));
  throw new Error(
    record === null ? `there is no job ${id}` : `${id} is an instance of ${record.workflow}, and no job`,
  );
}

/** The progress of a job, by its snapshot. */
export function progressOf({ status, context }: Pick<InstanceView, "status" | "context">): EachProgress {
  const { touched, total } = context as unknown as EachState;
  return { touched, total, done: status !== "active" };
}

/** Each instance would refuse what is no event, again and again: here the job is not begun. */
function checkedEvent(event: EventObject): EventObject {
  const { type } = (givenEvent(event) as Partial<EventObject> | null | undefined) ?? {};
  if (typeof type === "string" && type !== "") return givenEvent(event);
  throw new TypeError("each: event.type: expected the name of an event");
}

export function eachCommands(calls: EachCalls): EachCommands {
  const jobOf = (id: string): EachJob => ({
    id,
    progress: () => calls.eachProgress(id),
    done: ({ signal } = {}) => calls.eachDone(id, signal),
  });
  return {
    each(workflow, { where = {}, state = null } = {}) {
      const begin = async (event: EventObject, options: EachOptions = {}): Promise<EachJob> =>
        jobOf(await calls.beginEach({ workflow, where: where as FieldValues, state, event }, options));
      return {
        send: async (event, options) => begin(checkedEvent(event), options),
        stop: (options) => begin(STOP, options),
        retry: (options) => begin(RETRY, options),
      };
    },
  };
}
