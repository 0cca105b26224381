/** A job is an instance that tells those of a filter page by page, each page and the cursor behind it in one commit. */
import type { EventObject } from "xstate";
import type { EngineStorage } from "../../../../storage/storage.ts";
import { RETRY } from "../../../workflow/chart.ts";
import { isTroubled } from "../../kernel/troubled-tasks.ts";
import { instanceReads, type StoredReads } from "../../reading/reads.ts";
import type { InstanceView } from "../../reading/views.ts";
import { searchRows } from "../../../workflow/search-fields.ts";
import { eventToText } from "../../../workflow/values.ts";
import { workflow, type Workflow } from "../../../workflow/workflow.ts";
import { eachChart, type EachInput, type EachOrder, type EachState, type PageEvent } from "./each-chart.ts";

/** The messages of one commit, and the characters of their events: each message has the event whole. */
const PAGE = 256;
const MAX_CHARACTERS = 4 * 1_048_576;
const MAX_TASKS = 1_000;

export type EachWorkflow = Workflow<typeof eachChart, unknown>;

type EachStorage = Pick<EngineStorage, "load" | "history" | "list" | "tasks" | "find">;

/** The workflow over a storage. No chart of the instances is needed: those who have it take the messages. */
export function eachWorkflow(storage: EachStorage): EachWorkflow {
  const reads = instanceReads(storage);
  return workflow(eachChart)({
    version: 1,
    history: { keep: 10 }, // modules: folding
    effects: { readPage: async (state) => ({ event: await pageOf({ reads, storage }, state) }) },
  });
}

interface PageParts {
  readonly reads: Pick<StoredReads, "list">;
  readonly storage: Pick<EngineStorage, "tasks">;
}

async function pageOf({ reads, storage }: PageParts, job: EachState): Promise<PageEvent> {
  const { workflow: key, where, state, event, newest, after } = job;
  const isRetry = event.type === RETRY.type;
  const { instances, next } = await reads.list({
    workflow: key,
    limit: pageSize(event),
    ...(Object.keys(where).length > 0 && { where }),
    ...(state !== null && { state }),
    ...(after !== null && { after }),
    // An ended instance may have effects left that fail.
    ...(!isRetry && { status: "active" }),
  });
  const there = instances.filter((each) => each.damaged === undefined && isUpTo(newest, each));
  const wanted = isRetry ? await troubledAmong(storage, there) : there;
  return { type: "PAGE", targets: wanted.map(({ id, life }) => ({ id, life })), next };
}

const pageSize = (event: EventObject): number =>
  Math.max(1, Math.min(PAGE, Math.floor(MAX_CHARACTERS / eventToText(event).length)));

function isUpTo(newest: EachInput["newest"], { createdAt, id }: EachInput["newest"]): boolean {
  if (createdAt !== newest.createdAt) return createdAt < newest.createdAt;
  // The order of databases: that of the bytes.
  return Buffer.compare(Buffer.from(id), Buffer.from(newest.id)) <= 0;
}

async function troubledAmong(
  storage: Pick<EngineStorage, "tasks">,
  instances: readonly InstanceView[],
): Promise<InstanceView[]> {
  const pending = await Promise.all(
    instances.map(({ id }) => storage.tasks({ order: "instance", instance: id, limit: MAX_TASKS })),
  );
  return instances.filter((_, index) => pending[index]?.some(isTroubled) === true);
}

export async function eachInput(
  storage: Pick<EngineStorage, "list" | "tally">,
  order: EachOrder,
): Promise<EachInput> {
  const { workflow: key, where } = order;
  const [first] = Object.entries(where);
  const [newest] = await storage.list({ order: "newest", after: null, limit: 1 });
  const { createdAt = 0, id = "" } = newest ?? {};
  if (first === undefined) return { ...order, newest: { createdAt, id }, total: null };
  const [field, value] = first;
  const equals = { workflow: key, field, value };
  const { count } = await storage.tally({ table: searchRows, index: "found", equals });
  return { ...order, newest: { createdAt, id }, total: count };
}
