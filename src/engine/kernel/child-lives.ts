/** Finds the lives of children whose addresses a step asks for, where the snapshot of their parent has not noted them. */
import type { EventObject } from "xstate";
import type { EngineStorage, InstanceRecord } from "../../../storage/storage.ts";
import type { LifeUnknown } from "../../workflow/actor-address.ts";
import type { KnownLives } from "../../workflow/chart.ts";
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
