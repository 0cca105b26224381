/** Builds changed indexes of tables that hold rows beside all work, in no transaction. Where it fails the next start does it. */
import pRetry from "p-retry";
import { nextBuild, standings } from "../sql/install-statements.ts";
import { postgresSchema } from "../sql/dialect.ts";
import { quoted } from "../sql/statement.ts";
import { creating, type IndexChange } from "../sql/table-indexes.ts";
import type { AnyTable } from "../table.ts";
import { carryOutAlone } from "./alone.ts";
import type { Database } from "./database.ts";
import { explained } from "./explain.ts";
import { type Connections, pause } from "./open.ts";

/** How often a build of another process is looked at, in milliseconds. */
const LOOK_MS = 1_000;

/** If two begin the same build at once, each may fail; after a while neither does. */
const TRIES = { retries: 8, factor: 2, minTimeout: 500, randomize: true, unref: true };

export class IndexBuilds {
  readonly #database: Database;
  readonly #connections: Pick<Connections, "listener" | "unhurried">;
  readonly #closing = new AbortController();
  readonly #closed = new Promise<void>((resolve) =>
    this.#closing.signal.addEventListener("abort", () => resolve()),
  );
  #running: Promise<void> = Promise.resolve();

  /** @param connections Connections for the builds: a build of hours leaves the pool's connections to other work. */
  constructor(database: Database, connections: Pick<Connections, "listener" | "unhurried">) {
    this.#database = database;
    this.#connections = connections;
  }

  /** Begins to build what is missing, behind what is being built. */
  build(tables: readonly AnyTable[]): void {
    this.#running = this.#running.then(() => this.#persistently(tables));
  }

  /** The server finishes a build that is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #persistently(tables: readonly AnyTable[]): Promise<void> {
    const { signal } = this.#closing;
    try {
      await pRetry(() => this.#untilDone(tables), { ...TRIES, signal });
    } catch (error) {
      if (!signal.aborted) process.emitWarning(failure(tables, explained(error)));
    }
  }

  async #untilDone(tables: readonly AnyTable[]): Promise<void> {
    const { signal } = this.#closing;
    const read: Database["read"] = (...asked) => this.#database.read(...asked);
    while (!signal.aborted) {
      const all = await standings(read, tables, postgresSchema);
      const left = all.flatMap(([table, standing]) => nextBuild(table, standing, postgresSchema) ?? []);
      if (left.length === 0) return;
      const next = left.find(({ change }) => change !== null);
      if (next === undefined) await Promise.race([pause(LOOK_MS), this.#closed]);
      else await this.#carryOut(next);
    }
  }

  async #carryOut({ name, change }: IndexChange): Promise<void> {
    if (change === null) return;
    const place = (of: string): string => `${quoted(this.#database.schema)}.${quoted(of)}`;
    const text =
      change === "drop"
        ? `drop index concurrently if exists ${place(name)}`
        : creating(change, place(change.table), "concurrently ");
    await carryOutAlone(text, this.#connections, this.#closing.signal);
  }
}

const failure = (tables: readonly AnyTable[], error: unknown): string =>
  `an index of ${tables.map(({ name }) => name).join(", ")} could not be built, and reads by it take longer until the next ` +
  `start builds it: ${error instanceof Error ? error.message : String(error)}`;
