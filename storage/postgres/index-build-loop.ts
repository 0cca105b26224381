/** Builds changed indexes beside all work: in one process of all on the schema, under a named lease, in no transaction. */
import { nextBuild, standings } from "../sql/install-statements.ts";
import { postgresSchema } from "../sql/migrations/dialect.ts";
import { quoted } from "../sql/statement.ts";
import { creating, type IndexChange } from "../sql/table-indexes.ts";
import type { AnyTable } from "../table.ts";
import { carryOutAlone } from "./alone.ts";
import type { Database } from "./database.ts";
import { databaseClock } from "./database-clock.ts";
import { explained } from "./explain.ts";
import { leased } from "./leases.ts";
import { type Connections, pause } from "./open.ts";

const LEASE = "paystate indexes";
const LEASE_MS = 60_000;

/** How long until the next look, in milliseconds; twice as long after each failure, up to a quarter of an hour. */
const LOOK_MS = 1_000;
const MOST_FAILURES = 10;

export class IndexBuildLoop {
  readonly #database: Database;
  readonly #connections: Pick<Connections, "listener" | "unhurried">;
  readonly #tables = new Map<string, AnyTable>();
  readonly #closing = new AbortController();
  readonly #holder: string;
  #left: readonly IndexChange[] = [];
  #hasAsked = false;
  #failures = 0;
  #failure = "";
  #running: Promise<void> = Promise.resolve();

  /** @param connections Connections for the builds: a build of hours leaves the pool's connections to other work. */
  constructor(database: Database, connections: Pick<Connections, "listener" | "unhurried">, holder: string) {
    this.#database = database;
    this.#connections = connections;
    this.#holder = holder;
  }

  /** Indexes that are still to be built or dropped, the first with its error. */
  left(): readonly string[] {
    return this.#left.map(({ name }, at) => (at === 0 && this.#failure ? `${name}: ${this.#failure}` : name));
  }

  /** Begins the builds, or adds these tables to running builds. */
  build(tables: readonly AnyTable[]): void {
    for (const table of tables) this.#tables.set(table.name, table);
    this.#running = this.#running.then(() => this.#run());
  }

  /** Hands over to another process at once. The server finishes a build that is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const closed = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    while (!signal.aborted) {
      try {
        if (await this.#isDone()) break;
        this.#failures = 0;
        this.#failure = "";
      } catch (error) {
        this.#failures = Math.min(this.#failures + 1, MOST_FAILURES);
        this.#failure = (explained(error) as Error).message;
      }
      await Promise.race([pause(LOOK_MS * 2 ** this.#failures), closed]);
    }
    this.#left = [];
    if (this.#hasAsked) await this.#lease(0).catch(() => {});
  }

  async #isDone(): Promise<boolean> {
    this.#left = await this.#look();
    while (this.#left.length > 0 && (await this.#lease(LEASE_MS))) {
      // Another process may have done it meanwhile.
      this.#left = await this.#look();
      const next = this.#left.find(({ change }) => change !== null);
      if (next === undefined) break;
      await this.#carryOut(next);
      this.#left = await this.#look();
    }
    return this.#left.length === 0;
  }

  /** The next change of each table whose indexes differ from their description. */
  async #look(): Promise<readonly IndexChange[]> {
    const read: Database["read"] = (...asked) => this.#database.read(...asked);
    const all = await standings(read, [...this.#tables.values()], postgresSchema);
    return all.flatMap(([table, standing]) => nextBuild(table, standing, postgresSchema) ?? []);
  }

  async #lease(leaseMs: number): Promise<boolean> {
    this.#hasAsked = true;
    const request = { names: [LEASE], holder: this.#holder, now: 0, leaseMs };
    const [lease] = await leased(this.#database, databaseClock(), request);
    return lease?.holder === this.#holder;
  }

  async #carryOut({ name, change }: IndexChange): Promise<void> {
    if (change === null) return;
    const place = (of: string): string => `${quoted(this.#database.schema)}.${quoted(of)}`;
    const text =
      change === "drop"
        ? `drop index concurrently if exists ${place(name)}`
        : creating(change, place(change.table), "concurrently ");
    // A process that takes over the lease sees that the index is being built.
    const extend = (): void => void this.#lease(LEASE_MS).catch(() => {});
    // oxlint-disable-next-line paystate/no-ambient -- paces the lease, which the database's clock judges
    const extending = setInterval(extend, LEASE_MS / 3).unref();
    try {
      await carryOutAlone(text, this.#connections, this.#closing.signal);
    } finally {
      clearInterval(extending);
    }
  }
}
