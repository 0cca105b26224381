/** Lends large contexts to effects: a task holds no copy; the snapshot keeps the context, and later snapshots lend it. */
import type { EngineStorage, InstanceRecord, PendingTask } from "../../../storage/storage.ts";
import type { ChartSnapshot } from "../../workflow/chart.ts";
import { type LentContext, MAX_COPIED } from "../../workflow/large-context.ts";
import { snapshotFromText } from "../../workflow/snapshot-text.ts";
import { fieldsFromJson, fieldsToJson } from "../../workflow/values.ts";

/** The most tasks of an instance that are examined; with more tasks, all contexts are kept. */
const MAX_TASKS = 10_000;

/** The snapshot of an instance, with the contexts that the next one has to lend: by step, as JSON. */
export async function withLent(
  storage: Pick<EngineStorage, "tasks">,
  { id, stamp, snapshot: text }: Pick<InstanceRecord, "id" | "stamp" | "snapshot">,
  snapshot: ChartSnapshot,
): Promise<ChartSnapshot> {
  const { lent = {}, ...own } = snapshot;
  if (text.length <= MAX_COPIED) return own;
  const tasks = await storage.tasks({ order: "instance", instance: id, limit: MAX_TASKS, except: "message" });
  const wanted = new Set(tasks.flatMap((task) => borrowed(task) ?? []));
  const kept = Object.entries({ ...lent, [stamp]: fieldsToJson(own.context, "context") }).filter(
    ([step]) => wanted.has(step) || tasks.length === MAX_TASKS,
  );
  return kept.length === 0 ? own : { ...own, lent: Object.fromEntries(kept) };
}

function borrowed({ kind, payload }: PendingTask): string | undefined {
  if (kind !== "effect") return undefined;
  return (JSON.parse(payload) as Partial<LentContext> | null)?.contextOf;
}

/** The context that a step has left. @throws Error where the instance does not hold it. */
export async function contextOf(
  storage: Pick<EngineStorage, "load">,
  instance: string,
  stamp: string,
): Promise<unknown> {
  const record = await storage.load(instance);
  if (record !== null) {
    const { context, lent = {} } = snapshotFromText(record.snapshot);
    if (record.stamp === stamp) return context;
    if (Object.hasOwn(lent, stamp)) return fieldsFromJson(lent[stamp]);
  }
  throw new Error(`instance ${instance} does not hold the context of its step ${stamp} any more`);
}
