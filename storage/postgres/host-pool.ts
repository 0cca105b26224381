/** Servers named in a URL: one server is used, and the next as soon as that server is away or takes no writes. */
import type { PostgresClient } from "./driver.ts";

interface Connecting {
  connect(): Promise<PostgresClient>;
}

export class HostPool<Pool extends Connecting> {
  readonly #pools: readonly Pool[];
  readonly #poolOf = new WeakMap<PostgresClient, Pool>();
  #current = 0;

  /** @param pools At least one, in the order of trying. */
  constructor(pools: readonly [Pool, ...Pool[]]) {
    this.#pools = pools;
  }

  get areSeveral(): boolean {
    return this.#pools.length > 1;
  }

  get current(): Pool {
    return this.#pools[this.#current] as Pool;
  }

  async connect(): Promise<PostgresClient> {
    const pool = this.current;
    try {
      const client = await pool.connect();
      this.#poolOf.set(client, pool);
      return client;
    } catch (error) {
      this.#leave(pool);
      throw error;
    }
  }

  /** The server of this connection takes no writes, or was left behind: the next one is asked, unless it is already. */
  leave(client: PostgresClient): void {
    this.#leave(this.#poolOf.get(client));
  }

  #leave(pool: Pool | undefined): void {
    if (pool === this.current) this.#current = (this.#current + 1) % this.#pools.length;
  }
}
