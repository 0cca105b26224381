/** How a module finds instances of a workflow by texts. */
import type { EngineStorage } from "../../storage/storage.ts";
import type { AddedFields } from "./added-fields.ts";
import type { AnyWorkflow } from "./workflow.ts";

/** Texts by field, as a filter names them. */
export type FieldValues = Readonly<Record<string, string>>;

/** A filter of a call, for the instances of one workflow. */
export interface GivenFilter {
  readonly call: "list" | "each";
  readonly workflow: Pick<AnyWorkflow, "key" | "given">;
  readonly where: FieldValues;
}

/** A snapshot, of which a filter reads what modules have filled. */
export type FoundSnapshot = AddedFields;

export interface InstanceFinder {
  /** The names of the fields by which instances of a workflow are found. */
  fieldsOf(workflow: Pick<AnyWorkflow, "given">): readonly string[];
  /** @throws TypeError for a field that the workflow does not have, or that not all of its instances have. */
  check(storage: Pick<EngineStorage, "find">, filter: GivenFilter): Promise<void>;
  /** The ids of instances with a text, ascending. */
  ids(
    storage: Pick<EngineStorage, "find">,
    text: { readonly workflow: string; readonly field: string; readonly value: string },
    page: { readonly after: string; readonly limit: number },
  ): Promise<readonly string[]>;
  /** Whether an instance has these texts. */
  has(snapshot: FoundSnapshot, where: FieldValues): boolean;
}
