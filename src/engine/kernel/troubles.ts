/** Counts troubles of a storage for health, without reading them, and names the workflows of its instances. */
import type { EngineStorage } from "../../../storage/storage.ts";

/** Counts for health, each up to 100. */
export interface TroubleCount {
  /** Tasks set aside because each of their holders vanished, or they failed for good. */
  readonly deadLetters: number;
  /** Tasks that have failed at least once and are tried again and again. */
  readonly failingTasks: number;
  /** Active instances whose chart or version this process does not have, and does not migrate. Another one may have it. */
  readonly unknownInstances: number;
}

type TroubleReads = Pick<EngineStorage, "tasks" | "list">;

const MOST = 100;

/** `known` are the workflows that this process has or migrates, as `name@version`. */
export async function readTroubles(storage: TroubleReads, known: readonly string[]): Promise<TroubleCount> {
  const [dead, failing, unknown] = await Promise.all([
    storage.tasks({ order: "dead", limit: MOST }),
    storage.tasks({ order: "failing", least: 1, limit: MOST }),
    unknownInstances(storage, known),
  ]);
  const counts = [...unknown.values()];
  return {
    deadLetters: dead.length,
    failingTasks: failing.length,
    unknownInstances: Math.min(
      MOST,
      counts.reduce((sum, count) => sum + count, 0),
    ),
  };
}

/** Counts active instances of each workflow that is not in `known`, up to 100 each. */
export async function unknownInstances(
  storage: Pick<TroubleReads, "list">,
  known: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const strange = (await instanceWorkflows(storage)).filter((workflow) => !known.includes(workflow));
  const counted = await Promise.all(
    strange.map(async (workflow) => {
      const page = await storage.list({ order: "id", workflow, status: "active", after: "", limit: MOST });
      return [workflow, page.length] as const;
    }),
  );
  return new Map(counted.filter(([, count]) => count > 0));
}

/** The workflows of instances, ascending, with one read for each. */
export async function instanceWorkflows(storage: Pick<EngineStorage, "list">): Promise<readonly string[]> {
  const names: string[] = [];
  for (let after = ""; ; after = names.at(-1) ?? "") {
    const [next] = await storage.list({ order: "workflow", after, limit: 1 });
    if (next === undefined) return names;
    names.push(next.workflow);
  }
}
