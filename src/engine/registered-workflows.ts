/** The workflows that one engine has, found by key or by name. */
import { withChildren } from "./workflow.ts";
import type { AnyWorkflow } from "./workflow.ts";

/** An instance was written by a chart that this process does not have. Nothing of it is touched. */
export class UnknownWorkflow extends Error {
  override readonly name = "UnknownWorkflow";
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

  constructor(workflows: readonly AnyWorkflow[]) {
    this.#byKey = new Map(workflows.flatMap(withChildren).map((each) => [each.key, each]));
    for (const workflow of workflows) {
      if ((this.#newest.get(workflow.name)?.version ?? 0) < workflow.version) {
        this.#newest.set(workflow.name, workflow);
      }
    }
  }

  /** Every key, `name@version`, those of child machines included. */
  get keys(): string[] {
    return [...this.#byKey.keys()];
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

  /** The workflow that wrote the instance. Throws `UnknownWorkflow` when it is not registered, or is another chart. */
  of({ id, workflow: key, hash }: ChartOfInstance): AnyWorkflow {
    const workflow = this.#byKey.get(key);
    if (workflow === undefined || workflow.hash !== hash) {
      throw new UnknownWorkflow(
        workflow === undefined
          ? `instance ${id} was written by ${key}, which is not registered`
          : `instance ${id} was written by another chart of ${key}: a changed chart needs a new version`,
      );
    }
    return workflow;
  }
}
