/** The ids of tasks, which hold stamps that no test can know beforehand. */
import type { EngineStorage } from "../../storage/storage.ts";

/** What tells the steps of an instance: a storage or an engine. */
interface History {
  history(
    instance: string,
    page: Parameters<EngineStorage["history"]>[1],
  ): Promise<readonly { readonly version: number; readonly stamp: string }[]>;
}

/** The id of the task that this step of an instance has armed, at this place. */
export async function taskIdAt(
  of: History,
  instance: string,
  { step = 1, index = 0 }: { readonly step?: number; readonly index?: number } = {},
): Promise<string> {
  const [row] = await of.history(instance, { after: step - 1, limit: 1 });
  if (row?.version !== step) throw new Error(`${instance} has made no step ${step}`);
  return `${instance}:${row.stamp}:${index}`;
}
