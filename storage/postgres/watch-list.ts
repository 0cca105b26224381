/** Watches in PostgreSQL, and who polls which shard of them. */
import type { Kysely } from "kysely";
import type { ShardLease } from "../engine-tables.ts";
import { shareShards, type ShardClaim, type ShardPlan } from "../shard-shares.ts";
import { watchStatements } from "../sql/instance-statements.ts";
import type { Schema } from "../sql/schema.ts";
import type { WatchRecord } from "../storage.ts";
import type { Database, Rows } from "./database.ts";
import { CLOCK, type DatabaseClock } from "./database-clock.ts";
import { bound, literal } from "./text.ts";

export class WatchList {
  readonly #database: Database;
  readonly #clock: DatabaseClock;
  readonly #watches: ReturnType<typeof watchStatements>;

  constructor(database: Database, db: Kysely<Schema>, clock: DatabaseClock) {
    this.#database = database;
    this.#clock = clock;
    this.#watches = watchStatements(db);
  }

  /** Looks without a lock first: most of the time nothing is to be written. */
  async claim(claim: ShardClaim): Promise<readonly number[]> {
    const look = this.#look(claim.kind);
    const seen = await this.#database.again(() => this.#database.write(...look));
    const found = this.#plan(claim, seen);
    if (found.put.length === 0 && found.remove.length === 0) return found.held;
    return this.#database.again(() =>
      this.#database.transaction(async (ask) => {
        await ask(lockOn(claim.kind));
        const { held, put, remove } = this.#plan(claim, await ask(...look));
        const changes = [
          ...remove.map(({ kind, shard }) => bound(this.#watches.unlease, { kind, shard })),
          ...put.map((lease) => bound(this.#watches.lease, { ...lease })),
        ];
        if (changes.length > 0) await ask(...changes);
        return held;
      }),
    );
  }

  /** The database's clock, the shards that have watches, and the leases on them. */
  #look(kind: string): [string, string, string] {
    return [`select ${CLOCK} as now`, shardsOf(kind), bound(this.#watches.leases, { kind })];
  }

  #plan(claim: ShardClaim, [clock = [], shards = [], leases = []]: readonly Rows[]): ShardPlan {
    const at = (clock[0] as { readonly now: number }).now;
    const now = this.#clock.now(claim.now) ?? at;
    const numbers = (shards as readonly { readonly shard: number }[]).map(({ shard }) => shard);
    return shareShards({ ...claim, now }, numbers, leases as readonly ShardLease[]);
  }

  async release(holder: string): Promise<void> {
    await this.#database.again(() => this.#database.write(bound(this.#watches.release, { holder })));
  }

  of(kind: string, shards: readonly number[]): Promise<WatchRecord[]> {
    return this.#database.read(IN_SHARDS, { kind, shards: shards.join(",") });
  }

  /** The kinds of which there is any watch. */
  async kinds(): Promise<string[]> {
    return (await this.#database.read(KINDS, {})).map(({ kind }) => kind);
  }

  /** The watches of an instance, by kind, then key. */
  ofInstance(instance: string, limit: number): Promise<WatchRecord[]> {
    return this.#database.read(this.#watches.ofInstance, { instance, limit });
  }
}

const lockOn = (kind: string): string =>
  `select pg_advisory_xact_lock(hashtextextended(current_schema() || '/shards/' || ${literal(kind)}, 0))`;

/** From shard to shard by one seek each, however many watches lie between them. */
const shardsOf = (kind: string): string => `
  with recursive found (shard) as (
    (select shard from watches where kind = ${literal(kind)} order by shard limit 1)
    union all
    select next.shard from found cross join lateral (
      select w.shard from watches w where w.kind = ${literal(kind)} and w.shard > found.shard order by w.shard limit 1
    ) next
  )
  select shard from found`;

const KINDS = {
  sql: `with recursive found (kind) as (
      (select kind from watches order by kind limit 1)
      union all
      select next.kind from found cross join lateral (
        select w.kind from watches w where w.kind > found.kind order by w.kind limit 1) next
    )
    select kind from found`,
  parameters: [] as readonly never[],
} as { sql: string; parameters: readonly never[]; row?: { kind: string } };

const IN_SHARDS = {
  sql: `select * from watches
    where kind = $1 and shard = any(string_to_array(nullif($2, ''), ',')::bigint[]) order by key, instance`,
  parameters: ["kind", "shards"],
} as { sql: string; parameters: readonly ("kind" | "shards")[]; row?: WatchRecord };
