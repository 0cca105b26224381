/** The workflows of instances, ascending, with one read for each. */
import type { EngineStorage } from "../../../storage/storage.ts";

export async function instanceWorkflows(storage: Pick<EngineStorage, "list">): Promise<readonly string[]> {
  const names: string[] = [];
  for (let after = ""; ; after = names.at(-1) ?? "") {
    const [next] = await storage.list({ order: "workflow", after, limit: 1 });
    if (next === undefined) return names;
    names.push(next.workflow);
  }
}
