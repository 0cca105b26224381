/** Finds of children what the snapshot of their parent has not noted: the lives that a step asks for, and ends that came before their stop. */
import type { EventObject } from "xstate";
import type { EngineStorage, InstanceRecord, TaskRecord } from "../../../storage/storage.ts";
import type { LifeUnknown } from "../../workflow/actor-address.ts";
import { childInstance, STOP, type ChartSnapshot, type KnownLives } from "../../workflow/chart.ts";
import type { PlannedStep } from "../../workflow/plan-step.ts";
import { snapshotFromText } from "../../workflow/snapshot-text.ts";

type Storage = Pick<EngineStorage, "load">;

interface AskingStep {
  readonly instance: Pick<InstanceRecord, "life">;
  readonly event: EventObject;
}

/** The event with the life that its step has asked for. Null where it has one already: two children of that id are asked for. */
export async function withLife(
  storage: Storage,
  { child, instance, isNew }: LifeUnknown,
  { instance: parent, event }: AskingStep,
): Promise<EventObject | null> {
  const { $lives: known = {} } = event as { readonly $lives?: KnownLives };
  if (Object.hasOwn(known, child)) return null;
  const life = isNew || (await lifeOf(storage, instance, parent));
  return Object.assign({ ...event }, { $lives: { ...known, [child]: life } });
}

/** Empty where the child is gone, and where the instance of its id is none of this parent. */
async function lifeOf(storage: Storage, child: string, parent: AskingStep["instance"]): Promise<string> {
  const record = await storage.load(child);
  if (record === null || snapshotFromText(record.snapshot).parent?.life !== parent.life) return "";
  return record.life;
}

const isStop = ({ kind, name }: TaskRecord): boolean => kind === "message" && name === STOP.type;

/** Whether the step stops child machines, and goes on to hear of their ends. */
export const stopsChildren = ({ after, follows }: PlannedStep): boolean =>
  after.status === "active" && follows.arms.some(isStop);

/**
 * By child id: the runs of those children of `before` that this step stops, and that have ended already, so that their ends
 * are on their way: XState still tells such an end, and no later one. Undefined if there are none. The cause of the step is
 * durable, and so are all steps before it.
 */
export async function endedAmongStopped(
  storage: Storage,
  { children = {} }: ChartSnapshot,
  { follows, history }: PlannedStep,
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
