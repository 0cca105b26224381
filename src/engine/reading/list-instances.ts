/** Pages of instances: section by section of the storage's index, each section one workflow and one status. */
import type { EngineStorage, InstanceRecord } from "../../../storage/storage.ts";
import type { FieldValues } from "../../workflow/instance-finder.ts";
import { instanceFinder } from "../../workflow/instance-finders.ts";
import { instanceWorkflows } from "../kernel/troubles.ts";
import { nameOf } from "../../workflow/workflow-key.ts";
import { stateMatches } from "../../workflow/state-matches.ts";
import { listedView, type InstanceList, type InstanceQuery, type InstanceView } from "./views.ts";

export type ReadStorage = Pick<EngineStorage, "load" | "history" | "list" | "tasks">;

type Query = Omit<InstanceQuery, "limit" | "failing" | "unknown"> & {
  readonly limit: number;
  readonly except?: readonly string[];
  readonly where?: FieldValues;
};

/** Instances examined in a call, so that a search for a rare state does not read for minutes. */
const MAX_EXAMINED = 1_000;
/** Rows asked for at once where most of them may be left out. */
const FILTERED_CHUNK = 200;
const MAX_TROUBLED = 1_000;

interface Section {
  readonly status: InstanceRecord["status"];
  readonly workflow: string;
}

const STATUSES: readonly Section["status"][] = ["active", "done"];

export async function instancePage(storage: ReadStorage, query: Query): Promise<InstanceList> {
  const { status, workflow, limit, except = [] } = query;
  const cursor = cursorOf(query.after, 3);
  const workflows = (await instanceWorkflows(storage))
    .filter((key) => isOf(key, workflow) && !except.includes(key))
    .toSorted();
  const sections = STATUSES.filter(
    (each) => status === undefined || (each === "active") === (status === "active"),
  )
    .flatMap((each) => workflows.map((key): Section => ({ status: each, workflow: key })))
    .filter((section) => cursor === null || !isBefore(section, cursor));
  const found: InstanceView[] = [];
  const isFiltered = query.state !== undefined || (status !== undefined && status !== "active");
  let examined = 0;
  for (const section of sections) {
    const [from, of, id] = cursor ?? [];
    let after = from === section.status && of === section.workflow ? (id ?? "") : "";
    for (;;) {
      const next = encoded([section.status, section.workflow, after]);
      if (found.length === limit || examined >= MAX_EXAMINED) return { instances: found, next };
      const wanted = isFiltered ? FILTERED_CHUNK : limit - found.length;
      const asked = Math.min(wanted, MAX_EXAMINED - examined);
      const page = await storage.list({ order: "id", ...section, after, limit: asked });
      examined += page.length;
      for (const record of page) {
        if (found.length === limit) break;
        after = record.id;
        const view = listedView(record);
        if (isWanted(view, query)) found.push(view);
      }
      if (found.length < limit && page.length < asked) break;
    }
  }
  return { instances: found, next: null };
}

/** A page over the instances that have a failing task or a dead letter. */
export async function failingInstances(storage: ReadStorage, query: Query): Promise<InstanceList> {
  const [after = ""] = cursorOf(query.after, 1) ?? [];
  const troubled = await Promise.all([
    storage.tasks({ order: "failing", least: 1, limit: MAX_TROUBLED }),
    storage.tasks({ order: "dead", limit: MAX_TROUBLED }),
  ]);
  const ids = [...new Set(troubled.flat().map(({ instance }) => instance))]
    .filter((id) => id > after)
    .toSorted();
  const found: InstanceView[] = [];
  let last = after;
  for (const id of ids) {
    if (found.length === query.limit) return { instances: found, next: encoded([last]) };
    last = id;
    const record = await storage.load(id);
    if (record === null || !isOf(record.workflow, query.workflow)) continue;
    if (query.except?.includes(record.workflow) === true) continue;
    const view = listedView(record);
    if (isWanted(view, query)) found.push(view);
  }
  return { instances: found, next: null };
}

/** A page over the instances of one workflow that the first field of `where` finds, by id. */
export async function foundInstances(
  storage: ReadStorage & Pick<EngineStorage, "find">,
  query: Query & { readonly workflow: string; readonly where: FieldValues },
): Promise<InstanceList> {
  const { workflow, limit, where } = query;
  const [field = "", value = ""] = Object.entries(where)[0] ?? [];
  let [after = ""] = cursorOf(query.after, 1) ?? [];
  const isFiltered = [query.state, query.status, ...Object.keys(where).slice(1)].some(
    (each) => each !== undefined,
  );
  const chunk = isFiltered ? FILTERED_CHUNK : Math.min(limit, FILTERED_CHUNK);
  const found: InstanceView[] = [];
  for (let examined = 0; examined < MAX_EXAMINED; examined += chunk) {
    const asked = { after, limit: chunk };
    const ids = await instanceFinder.ids(storage, { workflow, field, value }, asked);
    const records = await Promise.all(ids.map((id) => storage.load(id)));
    for (const [index, record] of records.entries()) {
      if (found.length === limit) return { instances: found, next: encoded([after]) };
      after = ids[index] ?? after;
      // A step since then may have taken it out of the list.
      if (record?.workflow !== workflow) continue;
      const view = listedView(record);
      if (isWanted(view, query)) found.push(view);
    }
    if (ids.length < chunk) return { instances: found, next: null };
  }
  return { instances: found, next: encoded([after]) };
}

function isOf(key: string, wanted: string | undefined): boolean {
  return wanted === undefined || key === wanted || nameOf(key) === wanted;
}

function isWanted(view: InstanceView, query: Query): boolean {
  const { status, value } = view;
  if (query.where !== undefined && !instanceFinder.has(view, query.where)) return false;
  if (query.status !== undefined && status !== query.status) return false;
  return query.state === undefined || stateMatches(value, query.state);
}

/** The sections stand in the order of the cursor's parts. */
function isBefore({ status, workflow }: Section, [from, of = ""]: readonly string[]): boolean {
  return status === from ? workflow < of : status < (from ?? "");
}

function encoded(parts: readonly string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

function cursorOf(text: string | undefined, length: number): readonly string[] | null {
  if (text === undefined) return null;
  const parts = parsed(Buffer.from(text, "base64url").toString());
  const isCursor =
    Array.isArray(parts) && parts.length === length && parts.every((part) => typeof part === "string");
  if (!isCursor) throw new TypeError("list: after: expected the `next` of a page of the same list");
  return parts;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
