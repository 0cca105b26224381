/** Named leases in PostgreSQL. */
import type { StoredLease } from "../engine-tables.ts";
import { livingLeases, planLeases } from "../named-leases.ts";
import type { Lease, LeaseRequest } from "../storage.ts";
import type { Database } from "./database.ts";
import { CLOCK, type DatabaseClock } from "./database-clock.ts";
import { literal } from "./text.ts";

export class Leases {
  readonly #database: Database;
  readonly #clock: DatabaseClock;

  constructor(database: Database, clock: DatabaseClock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Looks without a lock first: most of the time nothing is to be written. */
  async lease(request: LeaseRequest): Promise<readonly Lease[]> {
    const { holder, leaseMs } = request;
    const seen = await this.#asked(request);
    const { held, put, remove } = planLeases({ ...request, now: seen.now }, seen.rows);
    if (put.length === 0 && remove.length === 0) return this.#told(held);
    const named = put.map(({ name }) => name);
    const { rows, now } = await this.#asked(
      request,
      `delete from "paystateLeases" where name = ${anyOf(remove)} and holder = ${literal(holder)}`,
      // In one order everywhere, so that two which meet do not end each other.
      `insert into "paystateLeases" as l (name, holder, until, ms)
        select name, ${literal(holder)}, ${this.#now(request)} + ${leaseMs}, ${leaseMs}
          from unnest(${arrayOf(named.toSorted())}) as name
        on conflict (name) do update set holder = excluded.holder, until = excluded.until, ms = excluded.ms
          where l.holder = excluded.holder or l.until <= ${this.#now(request)}
            or l.until - ${this.#now(request)} > l.ms`,
    );
    return this.#told(livingLeases([...new Set(request.names)], rows, now));
  }

  /** The rows of these names after the statements, and the time by which leases are judged. */
  async #asked(
    request: LeaseRequest,
    ...statements: readonly string[]
  ): Promise<{ readonly rows: readonly StoredLease[]; readonly now: number }> {
    const look = [
      `select ${this.#now(request)} as now`,
      `select * from "paystateLeases" where name = ${anyOf(request.names)}`,
    ];
    const answers = await this.#database.again(() => this.#database.write(...statements, ...look));
    const [clock = [], rows = []] = answers.slice(statements.length);
    return { rows: rows as readonly StoredLease[], now: (clock[0] as { readonly now: number }).now };
  }

  #now({ now }: LeaseRequest): string {
    const given = this.#clock.now(now);
    return given === null ? CLOCK : `${literal(given)}::bigint`;
  }

  #told(leases: readonly Lease[]): readonly Lease[] {
    return leases.map((lease) => ({ ...lease, until: this.#clock.told(lease.until) }));
  }
}

const arrayOf = (texts: readonly string[]): string => `array[${texts.map(literal).join(", ")}]::text[]`;
const anyOf = (texts: readonly string[]): string => `any(${arrayOf(texts)})`;
