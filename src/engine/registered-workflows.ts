/** The workflows that one engine has, found by key or by name. */
import type { InstanceRecord } from "../../storage/storage.ts";
import { workflowKey } from "./workflow-key.ts";
import { withChildren, type AnyWorkflow } from "./workflow.ts";

/** An instance was written by a chart that this process does not have. Nothing of it is touched. */
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

/** What a stored row says about its chart. */
export interface ChartOfInstance {
  readonly id: string;
  readonly workflow: string;
  readonly hash: string;
}

export class RegisteredWorkflows {
  readonly #byKey: ReadonlyMap<string, AnyWorkflow>;
  readonly #newest = new Map<string, AnyWorkflow>();
  /** By the key of an older version: the workflow that its instances go on under. */
  readonly #successors = new Map<string, AnyWorkflow>();
  /** What tasks are stored under that this process can do. */
  readonly claims: readonly string[];

  constructor(workflows: readonly AnyWorkflow[]) {
    const all = workflows.flatMap(withChildren);
    this.#byKey = new Map(all.map((each) => [each.key, each]));
    this.claims = [...new Set(workflows.flatMap(({ claims }) => claims))];
    for (const workflow of workflows) {
      if ((this.#newest.get(workflow.name)?.version ?? 0) < workflow.version) {
        this.#newest.set(workflow.name, workflow);
      }
    }
    for (const workflow of all.toSorted((a, b) => a.version - b.version)) {
      for (const from of workflow.migrations.keys()) {
        this.#successors.set(workflowKey(workflow.name, from), workflow);
      }
    }
  }

  get(key: string): AnyWorkflow | undefined {
    return this.#byKey.get(key);
  }

  /** The newest version of the workflow of this name. */
  named(name: string): AnyWorkflow {
    const found = this.#newest.get(name);
    if (found === undefined) throw new Error(`no workflow is named "${name}"`);
    return found;
  }

  /** The workflow that instances of this older version are migrated to; undefined where they are not. */
  successorOf(key: string): AnyWorkflow | undefined {
    return this.#successors.get(key);
  }

  /** The workflow that wrote the instance. Throws `UnknownWorkflow` when it is not registered, or is another chart. */
  of({ id, workflow: key, hash }: ChartOfInstance): AnyWorkflow {
    const workflow = this.#byKey.get(key);
    if (workflow === undefined || workflow.hash !== hash) {
      throw new UnknownWorkflow(
        { id, workflow: key },
        workflow === undefined
          ? `instance ${id} was written by ${key}, which is not registered`
          : `instance ${id} was written by another chart of ${key}: a changed chart needs a new version`,
      );
    }
    return workflow;
  }
}
