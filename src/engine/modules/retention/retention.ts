/** Retention: how long an engine keeps ended instances. They are handed to the archive, and removed with their history. */
import { commitEach } from "../../../../storage/decided.ts";
import type { EngineStorage, HistoryRecord, InstanceRecord } from "../../../../storage/storage.ts";
import { childInstance } from "../../../workflow/chart.ts";
import type { EngineContext } from "../../kernel/engine-context.ts";
import type { RemovedRows } from "../../engine-module.ts";
import { DamagedSnapshot, snapshotFromText } from "../../../workflow/snapshot-text.ts";
import { ARCHIVE_DEADLINE_MS, archived, type Archive } from "../../retention/archiving.ts";
import type { ArchivedInstance } from "../../retention-options.ts";
import { RetentionLoop, type RemovalStatus } from "../../retention/retention-loop.ts";

/** The state of retention: stored instances, and their time to live. */
export interface RetentionStatus extends RemovalStatus {
  /** The time for which ended instances are kept, in milliseconds; null: until they are removed by hand. */
  readonly finishedMs: number | null;
  /** The age of the oldest last step of an ended instance, in milliseconds; null without ended instances. */
  readonly oldestFinishedMs: number | null;
  /** The size of all data in the storage, in bytes; null for an unknown size. */
  readonly bytes: number | null;
}

interface RetentionParts extends EngineContext {
  /** How long an ended instance stays stored after its last step, in milliseconds; null for ever. */
  readonly keepMs: number | null;
  readonly archive: Archive<ArchivedInstance> | null;
  readonly removed: RemovedRows;
}

/** The most instances in one batch: a commit of these takes milliseconds, and others come between. */
const BATCH = 32;
const HISTORY_PAGE = 1_000;
const MAX_NAMED = 10;

export class InstanceRetentionLoop extends RetentionLoop {
  readonly #parts: RetentionParts;

  constructor(parts: RetentionParts) {
    const { keepMs } = parts;
    const finished = { name: "finished", batches: () => batches(parts, keepMs ?? Infinity) };
    super(keepMs === null ? [] : [finished], { ...parts, name: "finished" });
    this.#parts = parts;
  }

  /** Rejects when the storage does. */
  async standingWithStorage(): Promise<RetentionStatus> {
    const { storage, clock, keepMs } = this.#parts;
    const until = Number.MAX_SAFE_INTEGER;
    const [bytes, [oldest]] = await Promise.all([
      storage.size(),
      storage.list({ order: "ended", until, after: null, limit: 1 }),
    ]);
    const oldestFinishedMs = oldest === undefined ? null : Math.max(0, clock.now() - oldest.updatedAt);
    return { finishedMs: keepMs, oldestFinishedMs, bytes, ...this.standing() };
  }
}

/** A commit each, refused while a task is left. Two processes that do this at once archive twice and remove once. */
async function* batches(
  { storage, clock, archive, removed }: RetentionParts,
  keepMs: number,
): AsyncGenerator<number> {
  const until = clock.now() - keepMs;
  let after: InstanceRecord | null = null;
  const damaged: string[] = [];
  for (;;) {
    const page: readonly InstanceRecord[] = await storage.list({
      order: "ended",
      until,
      after,
      limit: BATCH,
    });
    after = page.at(-1) ?? null;
    if (after === null) break;
    const read = await Promise.all(
      page.map(async (record) => {
        const isFree = await isNeededByNone(storage, record).catch((error: unknown) => {
          if (!(error instanceof DamagedSnapshot)) throw error;
          damaged.push(record.id);
          return false;
        });
        return isFree ? withHistory(storage, record) : [];
      }),
    );
    const records = read.flat().filter(isOfOneLife);
    await archived({ clock, deadlineMs: ARCHIVE_DEADLINE_MS }, archive, records);
    const removals = records.map(async (record) => ({
      removes: [{ id: record.id, life: record.life }],
      writes: await removed(record),
    }));
    const results = await commitEach(storage, await Promise.all(removals));
    yield results.filter(({ ok }) => ok).length;
  }
  if (damaged.length > 0) throw stayed(damaged);
}

/** Told behind all that could be removed. Its children are unknown, so a person decides. */
function stayed(damaged: readonly string[]): Error {
  const named = damaged.slice(0, MAX_NAMED).join(", ");
  return new Error(
    `${damaged.length} damaged instances stay: look at them, and remove them with removeInstance: ${named}`,
  );
}

/** Whether nothing waits for it and no relative lives. Only a message or a dead letter may still come: the commit refuses that. */
async function isNeededByNone(
  storage: Pick<EngineStorage, "load" | "tasks">,
  { id, snapshot }: InstanceRecord,
): Promise<boolean> {
  const { parent, children = {} } = snapshotFromText(snapshot);
  const tasks = await storage.tasks({ order: "instance", instance: id, limit: 1 });
  if (tasks.length > 0) return false;
  const living = Object.entries(children).flatMap(([child, { run }]) =>
    run === undefined ? [] : childInstance(id, child, run),
  );
  for (const relative of [...(parent === undefined ? [] : [parent.instance]), ...living]) {
    if ((await storage.load(relative))?.status === "active") return false;
  }
  return true;
}

/** Another may have begun one of the same id before the history was read, whose first row may be one that stands for older ones. */
function isOfOneLife({ stamp, history }: ArchivedInstance): boolean {
  return history.length === 0 || history.at(-1)?.stamp === stamp;
}

async function withHistory(
  storage: Pick<EngineStorage, "history">,
  record: InstanceRecord,
): Promise<ArchivedInstance> {
  const history: HistoryRecord[] = [];
  for (;;) {
    const after = history.at(-1)?.version ?? 0;
    const page = await storage.history(record.id, { after, limit: HISTORY_PAGE });
    history.push(...page);
    if (page.length < HISTORY_PAGE) return { ...record, history };
  }
}
