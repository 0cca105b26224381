/** Lists the workflows of instances and the kinds of watches by name, with one read for each name. */
import type { EngineStorage } from "../../../storage/storage.ts";

export function instanceWorkflows(storage: Pick<EngineStorage, "list">): Promise<readonly string[]> {
  return eachName(async (after) => (await storage.list({ order: "workflow", after, limit: 1 }))[0]?.workflow);
}

/** The kinds of all watches, ascending. */
export function watchedKinds(storage: Pick<EngineStorage, "watches">): Promise<readonly string[]> {
  return eachName(async (afterKind) => (await storage.watches({ afterKind, limit: 1 }))[0]?.kind);
}

async function eachName(next: (after: string) => Promise<string | undefined>): Promise<readonly string[]> {
  const names: string[] = [];
  for (let name = await next(""); name !== undefined; name = await next(name)) names.push(name);
  return names;
}
