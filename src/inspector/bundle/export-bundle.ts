/** Collects all that is stored of an instance, without secrets. */
import type { InspectedStorage } from "../../engine/inspected.ts";
import type { Charts } from "../charts.ts";
import type { Redact } from "../show-values.ts";
import type { BundleContent } from "./bundle.ts";

/** Where it is collected from. */
export interface BundleSources {
  readonly storage: Pick<InspectedStorage, "load" | "history" | "pending">;
  readonly charts: Charts;
  readonly redact: Redact;
}

const MAX_STEPS = 1_000;
const MAX_PENDING = 1_000;

/** Null where no instance has this id. Of a long history the last steps. */
export async function exportBundle(
  { storage, charts, redact }: BundleSources,
  id: string,
): Promise<BundleContent | null> {
  const instance = await storage.load(id);
  if (instance === null) return null;
  const after = Math.max(0, instance.version - MAX_STEPS);
  const [history, pending] = await Promise.all([
    storage.history(id, { after, limit: MAX_STEPS }),
    storage.pending(id, MAX_PENDING),
  ]);
  const known = charts.get(instance.workflow);
  return {
    instance: { ...instance, snapshot: clean(instance.snapshot, redact) },
    history: history.map((row) => ({ ...row, event: clean(row.event, redact) })),
    pending: {
      ...pending,
      tasks: pending.tasks.map((task) => ({
        ...task,
        payload: clean(task.payload, redact),
        lastError: task.lastError === null ? null : redact(task.lastError),
      })),
    },
    chart: known === undefined ? null : { key: known.key, hash: known.hash, chart: known.chart },
  };
}

/** Stored JSON without secrets, still JSON: each text in it is redacted, and what has a telling name. */
function clean(text: string, redact: Redact): string {
  const value: unknown = JSON.parse(text);
  const redacted = redact(JSON.stringify(value));
  try {
    JSON.parse(redacted);
    return redacted;
  } catch {
    // What was taken out held a sign of JSON's own: text by text then.
    return JSON.stringify(value, (key, each: unknown) =>
      typeof each === "string" ? cleanField(key, each, redact) : each,
    );
  }
}

/** The name stands before the value, so that a telling one is seen. */
function cleanField(name: string, value: string, redact: Redact): string {
  const prefix = `"${name}":`;
  const cleaned = redact(`${prefix}${value}`);
  return cleaned.startsWith(prefix) ? cleaned.slice(prefix.length) : redact(value);
}
