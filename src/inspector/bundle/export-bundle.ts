/** Collects all that is stored of an instance, without secrets. */
import type { InspectedStorage } from "../../engine/inspected-engine.ts";
import type { ChartRegistry } from "../chart-registry.ts";
import { cleanJson } from "../clean-json.ts";
import type { SecretFilter } from "../show-values.ts";
import type { BundleContent } from "./bundle.ts";

/** Sources of a bundle. */
export interface BundleParts {
  readonly storage: Pick<InspectedStorage, "load" | "history" | "tasks">;
  readonly charts: ChartRegistry;
  readonly redact: SecretFilter;
}

const MAX_STEPS = 1_000;
const MAX_PENDING = 1_000;

/** Null where no instance has this id. A long history keeps its last steps. */
export async function exportBundle(
  { storage, charts, redact }: BundleParts,
  id: string,
): Promise<BundleContent | null> {
  const instance = await storage.load(id);
  if (instance === null) return null;
  const after = Math.max(0, instance.version - MAX_STEPS);
  const [history, tasks] = await Promise.all([
    storage.history(id, { after, limit: MAX_STEPS }),
    storage.tasks({ order: "instance", instance: id, limit: MAX_PENDING }),
  ]);
  const known = charts.get(instance.workflow);
  return {
    instance: { ...instance, snapshot: clean(instance.snapshot, redact) },
    history: history.map((row) => ({
      ...row,
      event: clean(row.event, redact),
      cause: row.cause === null ? null : redact(row.cause),
    })),
    tasks: tasks.map((task) => ({
      ...task,
      payload: clean(task.payload, redact),
      lastError: task.lastError === null ? null : redact(task.lastError),
    })),
    chart: known === undefined ? null : { key: known.key, hash: known.hash, chart: known.chart },
  };
}

function clean(text: string, redact: SecretFilter): string {
  return JSON.stringify(cleanJson(text, redact));
}
