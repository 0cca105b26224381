/** Stored lives of the charts that this package releases: the events of each instance, and the states they led to. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HistoryRecord } from "../../storage/storage.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";

/** Where the stored lives are: one file for each released version of a chart, named `name@version.json`. */
export const CORPUS = join(import.meta.dirname, "released");

/** One instance from its beginning to its last step. */
export interface StoredLife {
  readonly id: string;
  readonly history: readonly HistoryRecord[];
  /** The stored text of its last snapshot. */
  readonly snapshot: string;
}

/** The lives under one version of one chart. */
export interface StoredLives {
  readonly workflow: string;
  readonly hash: string;
  readonly lives: readonly StoredLife[];
}

/** All that are kept. */
export function storedLives(): readonly StoredLives[] {
  return readdirSync(CORPUS).map(
    (file) => JSON.parse(readFileSync(join(CORPUS, file), "utf8")) as StoredLives,
  );
}

/** The lives that a database holds, by workflow. */
export async function livesIn(storage: PaymentStorage): Promise<readonly StoredLives[]> {
  const found = new Map<string, { readonly hash: string; readonly lives: StoredLife[] }>();
  for (const instance of await storage.list({ order: "newest", after: null, limit: 1_000 })) {
    const { id, workflow, hash, snapshot } = instance;
    const known = found.get(workflow) ?? { hash, lives: [] };
    known.lives.push({ id, snapshot, history: await storage.history(id, { after: 0, limit: 1_000 }) });
    found.set(workflow, known);
  }
  return [...found].map(([workflow, { hash, lives }]) => ({ workflow, hash, lives }));
}
