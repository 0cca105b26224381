/** What released versions have left: a database of each, in SQLite and in PostgreSQL, and the chain that it is on. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type PaymentStorage, paymentTables } from "../../src/payments/payment-storage.ts";
import type { EngineStorage } from "../../storage/storage.ts";

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as {
  readonly version: string;
};
export const VERSION = version;

/** The schema in PostgreSQL. */
export const SCHEMA = "paystate_released";

/** The file of a kind. */
export const fileOf = (kind: "json" | "db" | "chain" | "sql", of = VERSION): string =>
  join(import.meta.dirname, `${of}.${kind}${kind === "json" ? "" : ".gz"}`);

export const contentsOf = (kind: "db" | "chain" | "sql", of: string): Buffer =>
  gunzipSync(readFileSync(fileOf(kind, of)));

/** What is known of a database besides. */
export interface Released {
  /** The time, in milliseconds since the Unix epoch, and the slot of the chain. */
  readonly now: number;
  readonly slot: number;
  /** Each transaction: its kind, its status, and the state of its chart. */
  readonly orders: Readonly<Record<string, string>>;
  /** Each instance: its chart and its state, such as `order-transfer out.sent`. */
  readonly states: Readonly<Record<string, string>>;
}

export async function standingsIn(storage: PaymentStorage): Promise<Released["orders"]> {
  const rows = await storage.find({ table: paymentTables.transactions });
  const told = rows.map(async ({ id, mode, type, status }) => {
    const [last] = (await storage.history(id, { after: 0, limit: 1_000 })).toReversed();
    return [id, `${mode} ${type} ${status} ${last?.value ?? ""}`] as const;
  });
  return Object.fromEntries(await Promise.all(told));
}

/** A dump as any server and client takes it: without settings and without commands of psql. */
export const openedBy = (dump: string): string =>
  dump
    .split("\n")
    .filter((line) => !/^(SET |SELECT pg_catalog.set_config|\\|--|$)/.test(line))
    .join("\n");

/** The states of all instances. */
export async function statesIn(storage: Pick<EngineStorage, "list">): Promise<Released["states"]> {
  const all = await storage.list({ order: "newest", after: null, limit: 10_000 });
  const told = all.map(({ id, workflow, snapshot }): [string, string] => {
    const { value } = JSON.parse(snapshot) as { readonly value: unknown };
    return [id, `${workflow.split("@")[0]} ${pathOf(value)}`];
  });
  return Object.fromEntries(told);
}

function pathOf(value: unknown): string {
  if (typeof value === "string") return value;
  return Object.entries(value as object)
    .map(([state, within]) => `${state}.${pathOf(within)}`)
    .join();
}
