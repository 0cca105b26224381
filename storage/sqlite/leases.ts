/** Named leases in SQLite. */
import type { Kysely } from "kysely";
import { planLeases } from "../named-leases.ts";
import { leaseStatements } from "../sql/instance-statements.ts";
import type { Schema } from "../sql/schema.ts";
import type { Lease, LeaseRequest } from "../storage.ts";
import type { Connection, PreparedAll } from "./connection.ts";

export class Leases {
  readonly #connection: Connection;
  readonly #leases: PreparedAll<ReturnType<typeof leaseStatements>>;

  constructor(connection: Connection, db: Kysely<Schema>) {
    this.#connection = connection;
    this.#leases = connection.prepareAll(leaseStatements(db));
  }

  /** Does not ask for the write lock while nothing changes. */
  async lease(request: LeaseRequest): Promise<readonly Lease[]> {
    const found = await this.#connection.read(() => this.#plan(request));
    if (found.put.length === 0 && found.remove.length === 0) return found.held;
    return this.#connection.write(() => {
      const { held, put, remove } = this.#plan(request);
      for (const lease of put) this.#leases.put.run({ ...lease });
      for (const name of remove) this.#leases.remove.run({ name });
      return held;
    });
  }

  #plan(request: LeaseRequest): ReturnType<typeof planLeases> {
    return planLeases(
      request,
      request.names.flatMap((name) => this.#leases.named.all({ name })),
    );
  }
}
