/**
 * Search fields: texts by which instances of a workflow are found. The rows are part of the commit of each step; the snapshot
 * holds what the rows say, so that a step knows them without a read.
 */
// modules: search
import type { EngineStorage, InstanceRecord, Write } from "../../storage/storage.ts";
import { ownTable, type Row } from "../../storage/table.ts";
import { thrownText } from "../core/thrown.ts";
import { MIGRATED, type ChartSnapshot } from "./chart.ts";
import type { FieldValues, GivenFilter, InstanceFinder } from "./instance-finder.ts";
import { snapshotFromText } from "./snapshot-text.ts";
import type { SearchedSnapshot, SearchOptions } from "./search-options.ts";
import type { StepContext } from "./step-context.ts";
import { NOT_KEPT, UnstorableValue } from "./values.ts";
import type { AnyWorkflow } from "./workflow.ts";

const TABLE = "paystateSearch";

/**
 * A row for each field of an instance that is not null. Field names have no `/`, so the first one ends the field in an id
 * `field/instance`. The id of a declared field begins with `/`.
 */
export const searchRows = ownTable(TABLE, {
  // For a declared field `workflow` and `instance` are empty, `field` is `name@version`, and `value` is the field's name.
  columns: { id: "text", workflow: "text", field: "text", value: "text", instance: "text" },
  indexes: { found: ["workflow", "field", "value", "instance"] },
});

type SearchRow = Row<typeof searchRows>;
type SearchWrite = Write<{ paystateSearch: SearchRow }>;

/** The largest field of an index, beside the other parts of its entry. */
const MAX_VALUE_BYTES = 256;

/** The part of a step that search fields add. */
export const searchAddition = {
  field: "search",
  /** @throws UnstorableValue naming the field */
  filled(after: ChartSnapshot, { workflow }: Pick<StepContext, "workflow">): ChartSnapshot {
    const { search } = workflow.given;
    return search === undefined ? after : withValues(Object.entries(search), after);
  },
  writes({ id, workflow: { key }, before, step: { after }, event }: StepContext): readonly Write<never>[] {
    if (before?.search === undefined && after.search === undefined) return NONE;
    return changes({ id, key, isMoved: event?.type === MIGRATED }, before?.search, after.search);
  },
} as const;

/** The names of the search fields of a workflow. */
const searchFieldsOf = ({ given: { search = {} } }: Pick<AnyWorkflow, "given">): readonly string[] =>
  Object.keys(search);

const NONE: readonly never[] = [];

function withValues(
  fields: readonly (readonly [string, SearchOptions[string]])[],
  after: ChartSnapshot,
): ChartSnapshot {
  const values = fields.flatMap(([field, read]) => {
    const value = readField(field, read, after);
    if (value === null) return [];
    const isKept =
      typeof value === "string" && Buffer.byteLength(value) <= MAX_VALUE_BYTES && !NOT_KEPT.test(value);
    if (isKept) return [[field, value] as const];
    const expected = `expected null, or text of at most ${MAX_VALUE_BYTES} bytes without NUL and halves of characters`;
    throw new UnstorableValue(`search.${field}`, expected);
  });
  return values.length === 0 ? after : { ...after, search: Object.fromEntries(values) };
}

function readField(field: string, read: SearchOptions[string], { context }: ChartSnapshot): unknown {
  try {
    return read({ context: context as never });
  } catch (error) {
    throw new UnstorableValue(`search.${field}`, `its function threw: ${thrownText(error)}`);
  }
}

interface SearchedStep {
  readonly id: string;
  readonly key: string;
  /** Whether the step has brought the instance into another version. */
  readonly isMoved: boolean;
}

function changes(
  { id: instance, key: workflow, isMoved }: SearchedStep,
  had: FieldValues = {},
  has: FieldValues = {},
): readonly Write<never>[] {
  const removed = Object.keys(had).filter((field) => !Object.hasOwn(has, field));
  const writes = Object.entries(has).flatMap(([field, value]): SearchWrite[] => {
    if (Object.hasOwn(had, field) && had[field] === value && !isMoved) return [];
    return [{ table: TABLE, put: { id: `${field}/${instance}`, workflow, field, value, instance } }];
  });
  return [...removals(instance, removed), ...writes] as readonly Write<never>[];
}

/** Writes that remove the rows of a removed instance: by its stored snapshot, or where that is damaged, of all declared fields. */
export async function searchRemovals(
  storage: Pick<EngineStorage, "find">,
  { id, snapshot }: Pick<InstanceRecord, "id" | "snapshot">,
): Promise<readonly SearchWrite[]> {
  try {
    return removals(id, Object.keys(snapshotFromText(snapshot).search ?? {}));
  } catch {
    const declared = new Set((await declaredFields(storage)).map(({ value }) => value));
    return removals(id, [...declared]);
  }
}

function removals(instance: string, fields: readonly string[]): SearchWrite[] {
  return fields.map((field) => ({ table: TABLE, unput: `${field}/${instance}` }));
}

/** Writes that declare the fields of a workflow, for the commit that registers its version for the first time. */
export function declaringWrites(workflow: AnyWorkflow): readonly SearchWrite[] {
  const { key } = workflow;
  return searchFieldsOf(workflow).map((field) => ({
    table: TABLE,
    insert: { id: declaredId(key, field), workflow: "", field: key, value: field, instance: "" },
  }));
}

/** Writes that take back search fields which another program has declared, and this program does not fill. */
export function narrowingWrites(
  workflows: readonly AnyWorkflow[],
  declared: readonly SearchRow[],
): readonly SearchWrite[] {
  return declared
    .filter(({ field: key, value }) =>
      workflows.some((each) => each.key === key && !searchFieldsOf(each).includes(value)),
    )
    .map(({ id }) => ({ table: TABLE, remove: id }));
}

export function declaredFields(
  storage: Pick<EngineStorage, "find">,
  key?: string,
): Promise<readonly SearchRow[]> {
  const equals = { workflow: "", ...(key !== undefined && { field: key }) };
  return storage.find<SearchRow>({ table: searchRows, index: "found", equals });
}

/** The ids of instances with a value, ascending. */
async function instancesWith(
  storage: Pick<EngineStorage, "find">,
  value: Pick<SearchRow, "workflow" | "field" | "value">,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const query = { table: searchRows, index: "found", equals: value, after: [after], limit };
  return (await storage.find<SearchRow>(query)).map(({ instance }) => instance);
}

/** Whether the snapshot has these values of its search fields. */
const hasValues = ({ search = {} }: SearchedSnapshot, where: FieldValues): boolean =>
  Object.entries(where).every(([field, wanted]) => search[field] === wanted);

/** @throws TypeError for a field that the workflow does not have, or that not all of its instances have. */
async function checkFilter(
  storage: Pick<EngineStorage, "find">,
  { call, workflow, where }: GivenFilter,
): Promise<void> {
  const { key } = workflow;
  const names = searchFieldsOf(workflow);
  for (const [field, value] of Object.entries(where) as [string, unknown][]) {
    if (!names.includes(field)) {
      const there = names.length === 0 ? "it has none" : `expected one of ${names.join(", ")}`;
      throw new TypeError(`${call}: where.${field}: ${key} has no such search field: ${there}`);
    }
    if (typeof value !== "string") throw new TypeError(`${call}: where.${field}: expected text`);
  }
  const filled = new Set((await declaredFields(storage, key)).map(({ value }) => value));
  for (const field of Object.keys(where)) {
    if (filled.has(field)) continue;
    throw new TypeError(
      `${call}: where.${field}: not every instance of ${key} has it, since a program without it has registered this version: ` +
        "raise the version and give `migrate`",
    );
  }
}

/** Instances by their search fields. */
export const searchFinder: InstanceFinder = {
  fieldsOf: searchFieldsOf,
  check: checkFilter,
  ids: instancesWith,
  has: hasValues,
};

function declaredId(key: string, field: string): string {
  return `/${key}/${field}`;
}
