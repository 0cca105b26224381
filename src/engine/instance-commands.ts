/** Ends instances from outside their chart, and removes ended instances. */
import { commitOne } from "../../storage/decided.ts";
import type { EventObject } from "xstate";
import type { EngineStorage } from "../../storage/storage.ts";
import { STOP } from "../workflow/chart.ts";
import type { SendResult } from "./kernel/step-handler.ts";
import type { RemovedRows } from "./engine-module.ts";

/** The result of `stopInstance`: `ended` for an instance that had reached its end before. */
export type StopResult = "stopped" | "ended" | "absent";

/** Nothing has changed when it is `active`, or a task or an active child of it is `pending`. */
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

interface InstanceCommandDeps extends RemovalDeps {
  readonly send: (id: string, event: EventObject) => Promise<SendResult>;
}

export function instanceCommands(deps: InstanceCommandDeps): InstanceCommands {
  const { send } = deps;
  return {
    async stopInstance(id) {
      const { kind } = await send(id, STOP);
      // An active instance always takes it.
      return kind === "absent" || kind === "ended" ? kind : "stopped";
    },
    removeInstance: (id) => removeInstance(deps, id),
  };
}

interface RemovalDeps {
  readonly storage: Pick<EngineStorage, "commit" | "load">;
  readonly removed: RemovedRows;
}

/** `removeInstance` over any storage: no chart is needed for it. */
export async function removeInstance(
  { storage, removed: rows }: RemovalDeps,
  id: string,
): Promise<RemoveResult> {
  const record = await storage.load(id);
  if (record === null) return "absent";
  if (record.status === "active") return "active";
  const { life } = record;
  const removed = await commitOne(storage, { removes: [{ id, life }], writes: await rows(record) });
  if (removed.ok) return "removed";
  return (await storage.load(id))?.life === life ? "pending" : "absent";
}
