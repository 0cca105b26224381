/** Servers named in a URL: one server is used, and the next as soon as that server is away or takes no writes. */
import { CLOSED, StorageUnusable } from "../storage-unusable.ts";
import type { PostgresClient, PostgresPool } from "./driver.ts";

/** The size of a pool of pg that does not tell its own. */
const DEFAULT_SIZE = 10;

export class HostPool {
  readonly #pools: readonly PostgresPool[];
  readonly #poolOf = new WeakMap<PostgresClient, PostgresPool>();
  #current = 0;
  #isShut = false;

  /** @param pools At least one, in the order of trying. */
  constructor(pools: readonly PostgresPool[]) {
    this.#pools = pools;
  }

  /** Whether a second server may take writes when the present server does not. */
  get areSeveral(): boolean {
    return this.#pools.length > 1;
  }

  /** How many connections there are at most. */
  get size(): number {
    const { options } = this.current;
    return "max" in options && typeof options.max === "number" ? options.max : DEFAULT_SIZE;
  }

  get current(): PostgresPool {
    return this.#pools[this.#current] as PostgresPool;
  }

  /** @throws StorageUnusable at once behind `shut`. */
  async connect(): Promise<PostgresClient> {
    if (this.#isShut) throw new StorageUnusable("unavailable", CLOSED);
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

  /** From now on nothing is asked any more. */
  shut(): void {
    this.#isShut = true;
  }

  async end(): Promise<void> {
    this.shut();
    await Promise.all(this.#pools.map((pool) => pool.end()));
  }
}
