/** The rows that go with a removed instance: those of the kernel and of the modules. */
import type { EngineStorage } from "../../storage/storage.ts";
import type { EngineModule, RemovedRows } from "./engine-module.ts";
import { ranTaskRemovals } from "./kernel/ran-tasks.ts";

/** Their removals, for the commit that removes the instance. */
export function removedRows(
  storage: Pick<EngineStorage, "find" | "get">,
  modules: readonly EngineModule[],
): RemovedRows {
  return async (instance) => {
    const found = await Promise.all([
      ranTaskRemovals(storage, instance.id),
      ...modules.map(({ removed }) => removed?.(storage, instance) ?? []),
    ]);
    return found.flat();
  };
}
