/** Reads of instances, for people and programs that want to know what goes on. No chart is needed for any of them. */
import type { EngineStorage, HistoryRecord } from "../../../storage/storage.ts";
import { childInstance, type ChartSnapshot } from "../../workflow/chart.ts";
import type { FieldValues } from "../../workflow/instance-finder.ts";
import { snapshotFromText } from "../../workflow/snapshot-text.ts";
import { addedWork } from "../../workflow/step-additions.ts";
import { causeFromText } from "../../workflow/step-cause.ts";
import { eventFromText } from "../../workflow/values.ts";
import { checkLimit } from "../kernel/check-limit.ts";
import { failingInstances, foundInstances, instancePage, type ReadStorage } from "./list-instances.ts";
import { readTroubles, type TroubleCount } from "../kernel/troubles.ts";
import {
  instanceView,
  type HistoryEntry,
  type InstanceList,
  type InstanceQuery,
  type InstanceView,
  type PendingWork,
} from "./views.ts";

/**
 * Reads of stored instances, each as of the last commit of any process. They need neither `run()` nor the charts: an
 * instance of a version that this process does not know is read all the same. They reject when the storage does.
 */
export interface InstanceReads {
  /** Reads an instance of any chart and version: value, context, status, output and error. Null when it does not exist. */
  read(id: string): Promise<InstanceView | null>;
  /**
   * A page of instances of all charts: the active ones first, then by workflow, then by id. Each call looks at 1,000
   * instances at most: with a `state`, or a `status` other than active, a page may be short although more follow. With
   * `failing` they come by id, out of the 1,000 tasks that fail for longest and the 1,000 newest dead letters.
   *
   * @throws TypeError when `limit` is none, or `after` is not the `next` of such a page.
   */
  list(query?: InstanceQuery): Promise<InstanceList>;
  /**
   * Why an instance waits: timers, tasks with failures and last error, watches, children. Empty for an absent instance,
   * unless messages wait for the instance.
   *
   * ```ts
   * const { tasks } = await engine.pending("order-1");
   * for (const { name, failures, lastError } of tasks) console.log(name, failures, lastError);
   * ```
   */
  pending(id: string): Promise<PendingWork>;
  /**
   * The committed steps of an instance, oldest first; empty when there is none. `after` leaves out steps up to that version,
   * `limit` is 1 … 1,000, and 100 by default.
   *
   * ```ts
   * for (const { at, event, value } of await engine.history("order-1")) console.log(at, event.type, value);
   * ```
   *
   * @throws TypeError when `limit` or `after` is none.
   */
  history(
    id: string,
    page?: { readonly after?: number; readonly limit?: number },
  ): Promise<readonly HistoryEntry[]>;
  /**
   * How many tasks fail or were set aside, and how many instances are active that this process cannot run; each counted
   * up to 100.
   *
   * ```ts
   * const { deadLetters, failingTasks, unknownInstances } = await engine.troubles();
   * if (deadLetters + failingTasks + unknownInstances > 0) console.log("look at paystate instance list");
   * ```
   */
  troubles(): Promise<TroubleCount>;
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
const MAX_PENDING = 1_000;

/** The reads, of which `list` takes texts of a workflow too, whose filter was checked. */
export interface StoredReads extends InstanceReads {
  list(query?: InstanceQuery & { readonly where?: FieldValues }): Promise<InstanceList>;
}

/** The reads over a storage; `known` tells the workflows that this process has or migrates, as `name@version`. */
export function instanceReads(
  storage: ReadStorage & Pick<EngineStorage, "find">,
  known: () => readonly string[] = () => [],
): StoredReads {
  return {
    async read(id) {
      const record = await storage.load(id);
      return record === null ? null : instanceView(record);
    },
    async list({ limit = DEFAULT_LIMIT, unknown, ...query } = {}) {
      checkLimit("list", limit, MAX_LIMIT);
      const { workflow, where } = query;
      if (query.failing !== true && workflow !== undefined && where !== undefined) {
        return foundInstances(storage, { ...query, limit, workflow, where });
      }
      const find = query.failing === true ? failingInstances : instancePage;
      return find(storage, { ...query, limit, ...(unknown === true && { except: known() }) });
    },
    async pending(id) {
      const [tasks, record] = await Promise.all([
        storage.tasks({ order: "instance", instance: id, limit: MAX_PENDING }),
        storage.load(id),
      ]);
      const snapshot = record === null ? null : snapshotFromText(record.snapshot);
      const earliestFirst = tasks.toSorted((a, b) => a.dueAt - b.dueAt);
      return {
        timers: earliestFirst.filter(({ kind }) => kind === "timer"),
        tasks: earliestFirst.filter(({ kind }) => kind !== "timer"),
        ...addedWork(snapshot ?? {}),
        children: snapshot === null ? [] : await childrenOf(storage, id, snapshot),
      };
    },
    async history(id, { after = 0, limit = DEFAULT_LIMIT } = {}) {
      checkLimit("history", limit, MAX_LIMIT);
      if (!Number.isSafeInteger(after)) {
        throw new TypeError(`history: after ${after}: expected a whole number`);
      }
      return (await storage.history(id, { after, limit })).map(historyEntry);
    },
    troubles: () => readTroubles(storage, known()),
  };
}

async function childrenOf(
  storage: ReadStorage,
  id: string,
  { children = {}, former = [] }: ChartSnapshot,
): Promise<PendingWork["children"]> {
  const links = [
    ...Object.entries(children).map(([childId, link]) => ({ ...link, id: childId })),
    ...former.filter(({ hasEnded }) => hasEnded !== true),
  ];
  return Promise.all(
    links.slice(0, MAX_PENDING).map(async ({ id: childId, src, run }) => {
      if (run === undefined) return { id: childId, src, instance: null, status: null };
      const instance = childInstance(id, childId, run);
      const record = await storage.load(instance);
      const status = record === null ? null : snapshotFromText(record.snapshot).status;
      return { id: childId, src, instance, status };
    }),
  );
}

function historyEntry({ instance, version, stamp, at, event, value, cause }: HistoryRecord): HistoryEntry {
  return {
    version,
    stamp,
    at,
    event: eventFromText(event),
    value: JSON.parse(value) as unknown,
    cause: causeFromText(cause, instance),
  };
}
