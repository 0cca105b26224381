/** A row for each task that failed before, crashed or took long, written when the task ends. */
import type { ClaimedTask, EngineStorage, Insert } from "../../../storage/storage.ts";
import { STEP_PATTERN } from "../../workflow/stamps.ts";
import { ownTable } from "../../../storage/table.ts";

const TABLE = "paystateRanTasks";

export const ranTasks = ownTable(TABLE, {
  // `id` is that of the task, `@`, and `beganAt`: an id that is free again and was taken again cannot be in the way.
  columns: {
    id: "text",
    name: "text",
    beganAt: "integer",
    tookMs: "integer",
    failures: "integer",
    crashes: "integer",
    error: "text?",
  },
});

type RanTaskRow = NonNullable<(typeof ranTasks)["row"]>;

export type RanTaskWrite = Insert<{ paystateRanTasks: RanTaskRow }>;

export interface RanTask extends Omit<RanTaskRow, "id"> {
  /** `instance:stamp:index` of the arming step, with a suffix when a task armed this task. */
  readonly task: string;
}

/** A shorter run is noticed by no person. */
const NOTABLE_MS = 1_000;
const MAX_PENDING = 100;
const ROWS_AT_ONCE = 200;

interface Ran {
  readonly storage: Pick<EngineStorage, "pending">;
  readonly task: ClaimedTask;
  readonly beganAt: number;
  readonly now: number;
}

/** The row of a task about to end; undefined for one that simply succeeds. Never rejects: its last error may be left out. */
export async function ranTaskWrite(ran: Ran): Promise<RanTaskWrite | undefined> {
  const { task, beganAt, now } = ran;
  const { id, name, failures, crashes } = task;
  if (failures === 0 && crashes === 0 && now - beganAt < NOTABLE_MS) return undefined;
  return {
    table: TABLE,
    insert: {
      id: `${id}@${beganAt}`,
      name,
      beganAt,
      // A wall clock may be set back meanwhile.
      tookMs: Math.max(0, now - beganAt),
      failures,
      crashes,
      error: failures === 0 ? null : await lastErrorOf(ran),
    },
  };
}

/** A claim does not bring it along: it is wanted once in a thousand tasks. */
async function lastErrorOf({ storage, task }: Ran): Promise<string | null> {
  try {
    const { tasks } = await storage.pending(task.instance, MAX_PENDING);
    return tasks.find(({ id }) => id === task.id)?.lastError ?? null;
  } catch {
    return null;
  }
}

/** Results of tasks that an instance's steps have armed, as they were armed. */
export async function ranTasksOf(storage: Pick<EngineStorage, "find">, instance: string): Promise<RanTask[]> {
  return (await rowsOf(storage, instance)).map(({ id, ...row }) => ({
    ...row,
    task: id.slice(0, id.lastIndexOf("@")),
  }));
}

export async function ranTaskRemovals(
  storage: Pick<EngineStorage, "find">,
  instance: string,
): Promise<{ readonly table: string; readonly remove: string }[]> {
  return (await rowsOf(storage, instance)).map(({ id }) => ({ table: TABLE, remove: id }));
}

async function rowsOf(storage: Pick<EngineStorage, "find">, instance: string): Promise<RanTaskRow[]> {
  const prefix = `${instance}:`;
  const found: RanTaskRow[] = [];
  let own: readonly RanTaskRow[];
  do {
    const after = [found.at(-1)?.id ?? prefix];
    const page = await storage.find<RanTaskRow>({
      table: ranTasks,
      index: "key",
      after,
      limit: ROWS_AT_ONCE,
    });
    own = page.filter(({ id }) => id.startsWith(prefix));
    found.push(...own);
  } while (own.length === ROWS_AT_ONCE);
  // The id of another instance may begin in the same way: `a` and `a:b`.
  return found.filter(({ id }) => OF_STEP.test(id.slice(prefix.length)));
}

/** The rest of an id: stamp and index, perhaps what came of it, and the time. */
const OF_STEP = new RegExp(String.raw`^${STEP_PATTERN}:\d+(?::sent(?::\d+)?|:back)*@\d+$`);
