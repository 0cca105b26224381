/** Removals: the oldest rows first, each in one commit that is refused when a row or an instance has changed. */
import type { AnyWrite, EngineStorage, HistoryRecord, InstanceRecord } from "../../../../storage/storage.ts";
import type { Archive } from "../../../engine/index.ts";
import { archived } from "../../../engine/retention/archiving.ts";
import type { Clock } from "../../../core/runtime.ts";
import type { FrameStorage } from "../frame-storage.ts";
import type { TransactionStatus } from "../tables/orders.ts";

/** Rows and instances that are removed in one commit. */
export interface Removal {
  readonly removes: readonly Pick<InstanceRecord, "id" | "life">[];
  readonly writes: readonly AnyWrite[];
  readonly rows: readonly ArchivedRow[];
  /** Ends those instances of `removes` that are active: not before their rows are archived. */
  readonly end?: () => Promise<unknown>;
}

export interface RemovingParts<Storage extends EngineStorage = FrameStorage> {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly archive: Archive<ArchivedRow> | null;
  /** The deadline of the archive for the rows of one batch. */
  readonly archiveDeadlineMs: number;
}

/**
 * Hands the rows of all removals to the archive, then commits each removal. Returns for each removal whether it
 * succeeded; a refused removal is tried again in a later pass.
 */
export async function carryOut(
  { storage, clock, archive, archiveDeadlineMs: deadlineMs }: RemovingParts<EngineStorage>,
  removals: readonly Removal[],
): Promise<readonly boolean[]> {
  if (removals.length === 0) return [];
  await archived(
    { clock, deadlineMs },
    archive,
    removals.flatMap(({ rows }) => rows),
  );
  for (const { end } of removals) await end?.();
  const results = await storage.commit(removals.map(({ removes, writes }) => ({ removes, writes })));
  return results.map(({ ok }) => ok);
}

const HISTORY_PAGE = 1_000;

export interface EndedRun {
  readonly instance: Pick<InstanceRecord, "id" | "life">;
  readonly rows: readonly ArchivedRow[];
}

/**
 * The given instances in archived form, without instances that are gone already; null when an instance is active, has
 * moved since `until`, or has pending work.
 */
export async function endedRuns(
  storage: Pick<EngineStorage, "load" | "tasks" | "history">,
  ids: readonly string[],
  until: number,
): Promise<readonly EndedRun[] | null> {
  const runs: EndedRun[] = [];
  for (const id of ids) {
    const [instance, tasks] = await Promise.all([
      storage.load(id),
      storage.tasks({ order: "instance", instance: id, limit: 1 }),
    ]);
    if (tasks.length > 0) return null;
    if (instance === null) continue;
    if (instance.status === "active" || instance.updatedAt > until) return null;
    runs.push(await archivedRunOf(storage, instance));
  }
  return runs;
}

/** An instance in archived form, also one that is to be ended yet. */
export async function archivedRunOf(
  storage: Pick<EngineStorage, "history">,
  instance: InstanceRecord,
): Promise<EndedRun> {
  const { id, life } = instance;
  return { instance: { id, life }, rows: archivedRun(instance, await historyOf(storage, id)) };
}

/** All steps of an instance, oldest first. */
async function historyOf(
  storage: Pick<EngineStorage, "history">,
  id: string,
): Promise<readonly HistoryRecord[]> {
  const history: HistoryRecord[] = [];
  for (;;) {
    const page = await storage.history(id, { after: history.at(-1)?.version ?? 0, limit: HISTORY_PAGE });
    history.push(...page);
    if (page.length < HISTORY_PAGE) return history;
  }
}

const OVER: ReadonlySet<TransactionStatus> = new Set(["completed", "failed", "cancelled"]);

/** Whether the transaction is over and never changes again; true for one that is gone, too. */
export async function isOver(storage: Pick<FrameStorage, "transaction">, id: string): Promise<boolean> {
  const view = await storage.transaction(id);
  return view === null || OVER.has(view.transaction.status);
}

/** A row that is about to be removed. Amounts are decimal digits in base units, bytes are base64. */
export interface ArchivedRow {
  /** A table of the service, or `instances` or `history`, the engine's two. */
  readonly table: string;
  readonly row: Readonly<Record<string, unknown>>;
}

export function archivedRows(table: string, rows: readonly object[]): readonly ArchivedRow[] {
  return rows.map((row) => ({ table, row: plain(row) as ArchivedRow["row"] }));
}

function archivedRun(instance: InstanceRecord, history: readonly HistoryRecord[]): readonly ArchivedRow[] {
  return [
    { table: "instances", row: { ...instance } },
    ...history.map((row) => ({ table: "history" as const, row: { ...row } })),
  ];
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}
