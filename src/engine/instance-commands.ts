/** Ends instances from outside their chart, and removes ended instances. */
import { commitOne } from "../../storage/decided.ts";
import type { EventObject } from "xstate";
import type { EngineStorage } from "../../storage/storage.ts";
import { STOP } from "../workflow/chart.ts";
import type { SendResult } from "./kernel/step-handler.ts";
import { ranTaskRemovals } from "./kernel/ran-tasks.ts";
import { searchRemovals } from "../workflow/search-fields.ts";

/** The result of `stopInstance`: `ended` for an instance that had reached its end before. */
export type StopResult = "stopped" | "ended" | "absent";

/** Nothing has changed when it is `active`, or a task, a watch or an active child of it is `pending`. */
export type RemoveResult = "removed" | "absent" | "active" | "pending";

/** Commands about instances, for a person who puts things right. */
export interface InstanceCommands {
  /**
   * Ends an instance with the status `stopped`, in one commit: its timers and invocations are disarmed, its watches end,
   * its children are stopped, and no exit action runs. Effects that were begun or are due are still done. Its parent
   * gets no event.
   *
   * Rejects with `UnknownWorkflow` when this engine does not have the chart of the instance.
   */
  stopInstance(id: string): Promise<StopResult>;
  /**
   * Removes an ended instance with its history, in one commit. The id is free again, and later messages find no
   * instance. Rows of your own tables stay.
   *
   * ```ts
   * await engine.stopInstance("order-1");
   * if ((await engine.removeInstance("order-1")) === "pending") console.log(await engine.pending("order-1"));
   * ```
   */
  removeInstance(id: string): Promise<RemoveResult>;
}

export function instanceCommands(
  storage: Pick<EngineStorage, "commit" | "load" | "find" | "get">,
  send: (id: string, event: EventObject) => Promise<SendResult>,
): InstanceCommands {
  return {
    async stopInstance(id) {
      const { kind } = await send(id, STOP);
      // An active instance always takes it.
      return kind === "absent" || kind === "ended" ? kind : "stopped";
    },
    removeInstance: (id) => removeInstance(storage, id),
  };
}

/** `removeInstance` over any storage: no chart is needed for it. */
export async function removeInstance(
  storage: Pick<EngineStorage, "commit" | "load" | "find" | "get">,
  id: string,
): Promise<RemoveResult> {
  const record = await storage.load(id);
  if (record === null) return "absent";
  if (record.status === "active") return "active";
  const { life } = record;
  const writes = [...(await ranTaskRemovals(storage, id)), ...(await searchRemovals(storage, record))];
  const removed = await commitOne(storage, { removes: [{ id, life }], writes });
  if (removed.ok) return "removed";
  return (await storage.load(id))?.life === life ? "pending" : "absent";
}
