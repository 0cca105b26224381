/** The rows that go with a removed instance: those of the modules. */
import type { EngineStorage } from "../../storage/storage.ts";
import type { EngineModule, RemovedRows } from "./engine-module.ts";

/** Asks each module for its removals, for the commit that removes the instance. */
export function removedRows(
  storage: Pick<EngineStorage, "find">,
  modules: readonly EngineModule[],
): RemovedRows {
  return async (instance) => {
    const asked = modules.flatMap(({ removed }) =>
      removed === undefined ? [] : [removed(storage, instance)],
    );
    return (await Promise.all(asked)).flat();
  };
}
