/**
 * A removal: rows and instances that are removed in one commit, which is refused when a row or an instance has changed.
 */
import type { EngineStorage, HistoryRecord, InstanceRecord } from "../../../storage/storage.ts";
import type { Archive } from "../../engine/index.ts";
import { ranTaskRemovals } from "../../engine/ran-tasks.ts";
import { archived } from "../../engine/retention/archiving.ts";
import type { Clock } from "../../runtime.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import { archivedRun, type ArchivedRow } from "./archived-rows.ts";
import type { TransactionStatus } from "../tables/orders.ts";

/** Rows and instances that are removed in one commit. */
export interface Removal {
  readonly removes: readonly Pick<InstanceRecord, "id" | "life">[];
  readonly writes: readonly PaymentWrite[];
  readonly rows: readonly ArchivedRow[];
}

/** Dependencies of a removal. */
export interface RemovingParts {
  readonly storage: PaymentStorage;
  /** The storage with the table of task results: results are removed with their instance. */
  readonly ranStorage: Pick<EngineStorage, "commit" | "find">;
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
  { ranStorage, clock, archive, archiveDeadlineMs: deadlineMs }: RemovingParts,
  removals: readonly Removal[],
): Promise<readonly boolean[]> {
  if (removals.length === 0) return [];
  await archived(
    { clock, deadlineMs },
    archive,
    removals.flatMap(({ rows }) => rows),
  );
  const commits = removals.map(async ({ removes, writes }) => {
    const ran = await Promise.all(removes.map(({ id }) => ranTaskRemovals(ranStorage, id)));
    return { removes, writes: [...writes, ...ran.flat()] };
  });
  const results = await ranStorage.commit(await Promise.all(commits));
  return results.map(({ ok }) => ok);
}

const HISTORY_PAGE = 1_000;

/** An ended instance in its archived form. */
export interface EndedRun {
  readonly instance: Pick<InstanceRecord, "id" | "life">;
  readonly rows: readonly ArchivedRow[];
}

/**
 * The given instances in archived form, without instances that are gone already; null when an instance is active, has
 * moved since `until`, or has pending work.
 */
export async function endedRuns(
  storage: Pick<EngineStorage, "load" | "pending" | "history">,
  ids: readonly string[],
  until: number,
): Promise<readonly EndedRun[] | null> {
  const runs: EndedRun[] = [];
  for (const id of ids) {
    const [instance, { tasks, watches }] = await Promise.all([storage.load(id), storage.pending(id, 1)]);
    if (tasks.length > 0 || watches.length > 0) return null;
    if (instance === null) continue;
    if (instance.status === "active" || instance.updatedAt > until) return null;
    runs.push({
      instance: { id, life: instance.life },
      rows: archivedRun(instance, await historyOf(storage, id)),
    });
  }
  return runs;
}

/** All steps of an instance, oldest first. */
export async function historyOf(
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
export async function isOver(storage: Pick<PaymentStorage, "transaction">, id: string): Promise<boolean> {
  const view = await storage.transaction(id);
  return view === null || OVER.has(view.transaction.status);
}
