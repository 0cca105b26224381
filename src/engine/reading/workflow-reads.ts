/** Reads with the types of a chart: an instance of another chart or version, and a state it does not have, are refused. */
import type { AnyStateMachine } from "xstate";
import type { InstanceRecord } from "../../../storage/storage.ts";
import { mixedUp } from "../kernel/step-handler.ts";
import { nameOf, versionOf } from "../../workflow/workflow-key.ts";
import { assertWorkflow, UnknownWorkflow } from "../../workflow/workflow-registry.ts";
import { isWorkflow, type AnyWorkflow, type Workflow } from "../../workflow/workflow.ts";
import type { FieldValues, GivenFilter } from "../../workflow/instance-finder.ts";
import type { InstanceReads, StoredReads } from "./reads.ts";
import { statesOf } from "../../workflow/state-matches.ts";
import type { InstanceList, InstanceQuery, InstanceView, SnapshotOf, WorkflowQuery } from "./views.ts";
import type { InstanceWaitList, WaitTarget } from "./waiting.ts";

/**
 * Reads by the handle of a workflow, typed by its chart. An instance of another chart, or of another version of it, is
 * refused with `UnknownWorkflow`; by its id alone any instance is read, without types.
 */
export interface WorkflowReads extends InstanceReads {
  /**
   * Reads an instance: value, context, status, output and error. Null when it does not exist.
   *
   * ```ts
   * const order = await engine.read(orders, "order-1");
   * if (order?.status === "done") console.log(order.output);
   * ```
   */
  read<M extends AnyStateMachine>(workflow: Workflow<M, never>, id: string): Promise<InstanceView<M> | null>;
  /** Reads an instance of any chart and version, without types. */
  read(id: string): Promise<InstanceView | null>;
  /**
   * A page of the instances of a chart and version. `InstanceReads.list` describes a page.
   *
   * ```ts
   * const paying = { state: "paying.card" } as const;
   * let page = await engine.list(orders, paying);
   * for (;;) {
   *   for (const { id, context } of page.instances) console.log(id, context.card);
   *   if (page.next === null) break;
   *   page = await engine.list(orders, { ...paying, after: page.next });
   * }
   * ```
   *
   * With `where` they are found by search fields, `{ where: { customer: "ada" } }`, and come by id.
   *
   * @throws TypeError when `limit` is none, `after` is not the `next` of such a page; or the chart has no such state, or the
   * workflow no such search field; also for a search field that not every instance of the version has.
   */
  list<M extends AnyStateMachine, S extends string = never>(
    workflow: Workflow<M, never, S>,
    query?: WorkflowQuery<M, S>,
  ): Promise<InstanceList<M>>;
  /** A page of instances of all charts, without types. */
  list(query?: InstanceQuery): Promise<InstanceList>;
  /**
   * Resolves with the instance once it is in a state, such as `{ state: "paying.card" }`, or has ended in any way
   * (`"final"`). One that is to be migrated to the version of the handle is waited for. States are seen however short they are: those that this process commits at once, those of other processes within
   * `pollMs`, from the history where another step has followed; then it resolves with the present instance.
   *
   * Rejects with `StateNotReached` when the instance has ended in another state, with a TypeError where a look finds no
   * instance of this id, unless `mustExist` is false, or where the chart has no such state, with `UnknownWorkflow` for an instance of another chart or version, with the signal's reason when it aborts, with `EngineStopped` at the end of
   * `stop()`, and when the storage fails.
   *
   * ```ts
   * const { output } = await engine.waitFor(orders, "order-1", "final", { signal: AbortSignal.timeout(30_000) });
   * ```
   */
  waitFor<M extends AnyStateMachine>(
    workflow: Workflow<M, never>,
    id: string,
    until: WaitTarget<M>,
    options?: WaitOptions,
  ): Promise<SnapshotOf<M>>;
}

/** How an instance is waited for; see `Engine.waitFor`. */
export interface WaitOptions {
  /** Ends the wait with its reason. */
  readonly signal?: AbortSignal;
  /** `false` waits for the start of an instance that is not there. Default true. */
  readonly mustExist?: boolean;
}

export type FilterCheck = (filter: GivenFilter) => Promise<void>;

export function workflowReads(
  { reads, checkFilter }: { readonly reads: StoredReads; readonly checkFilter: FilterCheck },
  waiting: Pick<InstanceWaitList, "waitFor">,
): WorkflowReads {
  const read = async (first: AnyWorkflow | string, id = ""): Promise<InstanceView | null> => {
    if (typeof first === "string") return reads.read(first);
    assertWorkflow(first);
    const view = await reads.read(id);
    if (view !== null) checkMeant(first, view);
    return view;
  };
  const list = async (
    first: AnyWorkflow | InstanceQuery = {},
    { where = {}, ...query }: InstanceQuery & { readonly where?: FieldValues } = {},
  ): Promise<InstanceList> => {
    if (!isWorkflow(first)) return reads.list(first);
    checkState("list", first, query.state);
    const isSearch = Object.keys(where).length > 0;
    if (isSearch) await checkFilter({ call: "list", workflow: first, where });
    return reads.list({ ...query, workflow: first.key, ...(isSearch && { where }) });
  };
  const waitFor = async (
    workflow: AnyWorkflow,
    ...[id, until, { signal, mustExist = true } = {}]: [string, WaitTarget, WaitOptions?]
  ): Promise<SnapshotOf> => {
    checkTarget("waitFor", workflow, until);
    const checkAbsent = (): void => {
      if (mustExist) throw noInstance("waitFor", id, "wait for its start with { mustExist: false }");
    };
    const isMeant = (instance: Instance): boolean => isOfVersion(workflow, instance);
    return waiting.waitFor({ id, until, signal, isMeant, checkAbsent });
  };
  // Gives a stored instance the types of its chart.
  return { ...reads, ...({ read, list, waitFor } as Pick<WorkflowReads, "read" | "list" | "waitFor">) };
}

export const noInstance = (call: string, id: string, instead: string): TypeError =>
  new TypeError(`${call}: there is no instance ${id}: start it first, or ${instead}`);

type Instance = Pick<InstanceRecord, "id" | "workflow" | "status">;

/** False for an instance that is still to be migrated to this version. @throws UnknownWorkflow for one that never will be. */
export function isOfVersion(workflow: AnyWorkflow, instance: Instance): boolean {
  if (willArrive(workflow, instance)) return false;
  checkMeant(workflow, instance);
  return true;
}

/** Whether the next step of the instance makes it one of this version. */
function willArrive({ name, migrations }: AnyWorkflow, { workflow, status }: Instance): boolean {
  return status === "active" && nameOf(workflow) === name && migrations.has(versionOf(workflow));
}

function checkMeant(workflow: AnyWorkflow, instance: Pick<InstanceRecord, "id" | "workflow">): void {
  const { id, workflow: key } = instance;
  if (key === workflow.key) return;
  if (nameOf(key) !== workflow.name) throw mixedUp(instance, workflow);
  throw new UnknownWorkflow(
    instance,
    `instance ${id} is one of ${key}, and not of ${workflow.key}: read it with the handle of that version, or by its id alone`,
  );
}

/** @throws TypeError for what is neither the end nor a state of the chart. */
export function checkTarget(read: string, workflow: AnyWorkflow, until: unknown): void {
  assertWorkflow(workflow);
  if (until === "final") return;
  const state = typeof until === "object" && until !== null && "state" in until ? until.state : null;
  if (typeof state === "string") return checkState(read, workflow, state);
  throw new TypeError(
    `${read}: until: expected "final", or a state such as { state: "${statesOf(workflow.machine.root)[0]}" }`,
  );
}

export function checkState(read: string, workflow: AnyWorkflow, state: string | undefined): void {
  assertWorkflow(workflow);
  if (state === undefined) return;
  const { key, machine } = workflow;
  const states = statesOf(machine.root);
  if (states.includes(state)) return;
  throw new TypeError(`${read}: ${key} has no state "${state}": expected one of ${states.join(", ")}`);
}
