/** Servers named in a URL: one server is used, and the next as soon as that server is away or takes no writes. */
import type { PostgresClient, PostgresPool } from "./driver.ts";

export class HostPool {
  readonly #pools: readonly PostgresPool[];
  readonly #poolOf = new WeakMap<PostgresClient, PostgresPool>();
  #current = 0;

  /** @param pools At least one, in the order of trying. */
  constructor(pools: readonly PostgresPool[]) {
    this.#pools = pools;
  }

  /** Whether a second server may take writes when the present server does not. */
  get areSeveral(): boolean {
    return this.#pools.length > 1;
  }

  get current(): PostgresPool {
    return this.#pools[this.#current] as PostgresPool;
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

  #leave(pool: PostgresPool | undefined): void {
    if (pool === this.current) this.#current = (this.#current + 1) % this.#pools.length;
  }

  async end(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.end()));
  }
}
