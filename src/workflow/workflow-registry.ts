/** The workflows of one engine, by key and by name, and the workflows whose tasks it takes. */
import type { InstanceRecord, TaskRecord } from "../../storage/storage.ts";
import { workflowKey } from "./workflow-key.ts";
import type { WorkflowHandle } from "./effect-run.ts";
import { isWorkflow, withChildren, type AnyWorkflow } from "./workflow.ts";

/** An instance is one of a chart that this process does not have, or that the caller does not mean. Nothing of it is touched. */
export class UnknownWorkflow extends Error {
  override readonly name = "UnknownWorkflow";
  /** The id of the instance. */
  readonly instance: string;
  /** The chart and version of the instance, as `name@version`. */
  readonly workflow: string;

  constructor({ id, workflow }: Pick<InstanceRecord, "id" | "workflow">, message: string) {
    super(message);
    this.instance = id;
    this.workflow = workflow;
  }
}

const MAX_DIFFERENCES = 10;

/** A chart was edited under an unchanged version while instances are open: none is started, and the open ones rest. */
export class ChangedChart extends Error {
  override readonly name = "ChangedChart";
  /** The chart and its version, as `name@version`. */
  readonly workflow: string;
  /** A sentence for each difference. The message has the first ten. */
  readonly differences: readonly string[];

  constructor(workflow: string, differences: readonly string[], open: string) {
    const more = differences.length - MAX_DIFFERENCES;
    const shown = [
      ...differences.slice(0, MAX_DIFFERENCES),
      ...(more > 0 ? [`and ${more} more difference${more === 1 ? "" : "s"}`] : []),
    ];
    super(
      `the chart of ${workflow} has changed under an unchanged version, and instances of it are open (${open}):\n` +
        `- ${shown.join("\n- ")}\n` +
        "Raise the version and give `migrate`, or take the change back.",
    );
    this.workflow = workflow;
    this.differences = differences;
  }
}

export class WorkflowRegistry {
  readonly #byKey: ReadonlyMap<string, AnyWorkflow>;
  readonly #newest: ReadonlyMap<string, AnyWorkflow>;
  /** By the key of an older version: the workflow that continues its instances. */
  readonly #successors = new Map<string, AnyWorkflow>();
  /** The workflows as registered: a workflow includes its child machines. */
  readonly units: readonly AnyWorkflow[];
  /** Refused workflows by key, with the reason. A refused workflow refuses its parent and its child machines, too. */
  readonly #refused = new Map<string, ChangedChart>();
  /** Workflow keys of the tasks that this process can do, now or later. */
  claims: readonly string[];
  /** Workflow keys of the tasks that this process may take now; null for all. */
  #only: ReadonlySet<string> | null = null;

  constructor(workflows: readonly AnyWorkflow[]) {
    this.units = workflows;
    const oldestFirst = workflows.toSorted((a, b) => a.version - b.version);
    const all = oldestFirst.flatMap(withChildren);
    this.#byKey = new Map(all.map((each) => [each.key, each]));
    this.#newest = new Map(oldestFirst.map((each) => [each.name, each]));
    this.claims = claimsOf(workflows);
    for (const workflow of all) {
      for (const from of workflow.migrations.keys()) {
        this.#successors.set(workflowKey(workflow.name, from), workflow);
      }
    }
  }

  /** From now on tasks of these workflows alone are claimed, and leased by commits; null for all. */
  take(only: readonly AnyWorkflow[] | null): void {
    this.#only = only === null ? null : new Set(claimsOf(only));
  }

  get taken(): readonly string[] {
    const only = this.#only;
    return only === null ? this.claims : this.claims.filter((key) => only.has(key));
  }

  takenAmong(tasks: readonly TaskRecord[]): readonly TaskRecord[] {
    const only = this.#only;
    return only === null ? tasks : tasks.filter(({ workflow }) => only.has(workflow));
  }

  /** Stops work on this chart, on its parent and on its child machines. */
  refuse(error: ChangedChart): void {
    for (const unit of this.units) {
      const keys = withChildren(unit).map(({ key }) => key);
      if (keys.includes(error.workflow)) for (const key of keys) this.#refused.set(key, error);
    }
    this.claims = claimsOf(this.units.filter(({ key }) => !this.#refused.has(key)));
  }

  checkAccepted({ key }: Pick<AnyWorkflow, "key">): void {
    const error = this.#refused.get(key);
    if (error !== undefined) throw error;
  }

  /** Throws the `ChangedChart` of a workflow that is refused. */
  checkAllAccepted(): void {
    for (const error of this.#refused.values()) throw error;
  }

  get(key: string): AnyWorkflow | undefined {
    return this.#byKey.get(key);
  }

  named(name: string): AnyWorkflow {
    const found = this.#newest.get(name);
    if (found === undefined) throw new Error(`no workflow is named "${name}"`);
    return found;
  }

  /** The workflow that instances of this older version are migrated to. Throws `ChangedChart` when it is refused. */
  successorOf(key: string): AnyWorkflow | undefined {
    const successor = this.#successors.get(key);
    if (successor !== undefined) this.checkAccepted(successor);
    return successor;
  }

  /** The workflow of a handle that a caller gave for this instance. @throws TypeError for what is no handle, and as `of` does. */
  ofHandle(handle: WorkflowHandle | undefined, id: string): AnyWorkflow {
    assertWorkflow(handle);
    return this.of({ id, workflow: handle.key, hash: handle.hash });
  }

  /** Throws `UnknownWorkflow` for an unknown workflow or chart, and `ChangedChart` for a refused one. */
  of({ id, workflow: key, hash }: Pick<InstanceRecord, "id" | "workflow" | "hash">): AnyWorkflow {
    const workflow = this.#byKey.get(key);
    if (workflow !== undefined) this.checkAccepted(workflow);
    if (workflow?.hash === hash) return workflow;
    const reason =
      workflow === undefined
        ? `one of ${key}, which is not registered: register it, or a later version with \`migrate\``
        : `one of another chart of ${key}: raise the version and give \`migrate\`, or take the change back`;
    throw new UnknownWorkflow({ id, workflow: key }, `instance ${id} is ${reason}`);
  }
}

/** @throws TypeError where a program without types gave something else, such as the machine itself. */
export function assertWorkflow(handle: WorkflowHandle | undefined): asserts handle is AnyWorkflow {
  if (!isWorkflow(handle)) throw new TypeError("workflow: expected what workflow() returns");
}

function claimsOf(workflows: readonly AnyWorkflow[]): readonly string[] {
  return [...new Set(workflows.flatMap(({ claims }) => claims))];
}
