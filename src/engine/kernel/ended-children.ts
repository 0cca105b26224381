/** Finds children that had ended before their parent stopped them: XState still tells such an end, and no later one. */
import type { EngineStorage, TaskRecord } from "../../../storage/storage.ts";
import { childInstance, STOP, type ChartSnapshot } from "../../workflow/chart.ts";
import type { StepCommit } from "../../workflow/plan-step.ts";
import { snapshotFromText } from "../../workflow/snapshot-text.ts";

const isStop = ({ kind, name }: TaskRecord): boolean => kind === "message" && name === STOP.type;

/** Whether the step stops child machines, and goes on to hear of their ends. */
export const stopsChildren = ({ after, follows }: StepCommit): boolean =>
  after.status === "active" && follows.arms.some(isStop);

/**
 * By child id: the runs of those children of `before` that this step stops, and that have ended already, so that their ends
 * are on their way. Undefined if there are none. What causes the step is durable, and so is what came before it.
 */
export async function endedAmongStopped(
  storage: Pick<EngineStorage, "load">,
  { children = {} }: ChartSnapshot,
  { follows, history }: StepCommit,
): Promise<ChartSnapshot["runs"]> {
  const stopped = new Set(follows.arms.filter(isStop).map(({ instance }) => instance));
  const ended: Record<string, number> = {};
  for (const [id, { run }] of Object.entries(children)) {
    const instance = run === undefined ? "" : childInstance(history.instance, id, run);
    const record = stopped.has(instance) ? await storage.load(instance) : null;
    if (run === undefined || record?.status !== "done") continue;
    if (snapshotFromText(record.snapshot).status !== "stopped") ended[id] = run;
  }
  return Object.keys(ended).length === 0 ? undefined : ended;
}
