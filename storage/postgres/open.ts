/** The connections of a storage: an own pool from a URL, or a given pool; and a listening connection. */
import { StorageUnusable } from "../storage-unusable.ts";
import type { ConnectionSource } from "./database.ts";
import { type ListeningClient, loadDriver, type PostgresPool } from "./driver.ts";
import { HostPool } from "./host-pool.ts";

interface Opening {
  readonly connections?: number;
  readonly transactConnections?: number;
  readonly listen?: string | false;
}

export interface Connections {
  readonly servers: ConnectionSource;
  /** Connections for handlers' transactions, in a pool of its own that the first call makes. */
  readonly transactions: () => ConnectionSource;
  /** A connection outside the pool, which has not connected yet. */
  readonly listener: () => Promise<ListeningClient>;
  /** The same, whose statements may take as long as they do, whatever is set for the role; a pooler may refuse it. */
  readonly unhurried: () => Promise<ListeningClient>;
  /** Closes what was opened here and nothing else. */
  readonly close: () => Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;

/** Errors of an idle connection are found at its next use. */
const ignored = (): void => {};

/** Given pools whose errors have a listener: without one they would end the process. */
const heard = new WeakSet<PostgresPool>();

/** A connection may end with the very piece of the stream that makes it: before its pool has handed it to anyone. */
function hear(pool: PostgresPool): void {
  pool.on("error", ignored);
  pool.on("connect", (client) => client.on("error", ignored));
}

type Pools = readonly [PostgresPool, ...PostgresPool[]];

/** Connections that may never be needed, to the same places. */
function lazyPools(make: () => Pools): Pick<Connections, "transactions"> & { readonly end: () => void } {
  let made: { readonly pools: Pools; readonly servers: HostPool<PostgresPool> } | null = null;
  return {
    transactions() {
      if (made !== null) return made.servers;
      const pools = make();
      made = { pools, servers: new HostPool(pools) };
      return made.servers;
    },
    // A handler that hears no signal may keep a connection; it ends with its transaction, for which nobody waits.
    end() {
      for (const pool of made?.pools ?? []) void pool.end().catch(ignored);
    },
  };
}

/** @throws StorageUnusable when pg is missing, or what was given is no URL of PostgreSQL. */
export async function openConnections(
  urlOrPool: string | PostgresPool,
  { connections = 10, transactConnections = 10, listen }: Opening,
): Promise<Connections> {
  const { Pool, Client } = await loadDriver();
  const direct = typeof listen === "string" ? optionsFrom(listen) : null;
  const pooled = (options: object, max: number, limits: object = {}): PostgresPool => {
    const pool = new Pool(Object.assign(copyOf(options), { max, allowExitOnIdle: true, ...limits }));
    hear(pool);
    return pool;
  };
  if (typeof urlOrPool !== "string") {
    if (!heard.has(urlOrPool)) hear(urlOrPool);
    heard.add(urlOrPool);
    const options = direct ?? urlOrPool.options;
    const apart = lazyPools(() => {
      // What `onConnect` sets would be gone behind the first handler, whose own settings are reset.
      const limits = "onConnect" in urlOrPool.options ? { maxUses: 1 } : {};
      return [pooled(urlOrPool.options, transactConnections, limits)];
    });
    return {
      servers: urlOrPool,
      transactions: apart.transactions,
      listener: async () => new Client(options),
      unhurried: async () => new Client(withoutLimits(options)),
      close: async () => apart.end(),
    };
  }
  const places = hostsOf(urlOrPool).map(optionsFrom);
  const poolsOf = (max: number): Pools => {
    const [first, ...others] = places.map((place) => pooled(place, max));
    if (first === undefined) throw notOfPostgres();
    return [first, ...others];
  };
  const pools = poolsOf(connections);
  const servers = new HostPool(pools);
  const apart = lazyPools(() => poolsOf(transactConnections));
  return {
    servers,
    transactions: apart.transactions,
    listener: async () => new Client(direct ?? servers.current.options),
    unhurried: async () => new Client(withoutLimits(direct ?? servers.current.options)),
    async close() {
      apart.end();
      await Promise.all(pools.map((pool) => pool.end()));
    },
  };
}

/** A URL for each host: `postgres://user@first:5432,second:5432/name`. */
function hostsOf(url: string): string[] {
  const [, before = "", hosts = "", after = ""] = /^(\w+:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/.exec(url) ?? [];
  return hosts.includes(",") ? hosts.split(",").map((host) => `${before}${host}${after}`) : [url];
}

/** `URL.canParse` would do, but for a defect of Node 20 and 22 with letters such as ü. */
function isUrl(text: string): boolean {
  try {
    return new URL(text).href !== "";
  } catch {
    return false;
  }
}

function optionsFrom(url: string): object {
  if (!/^postgres(ql)?:\/\//.test(url) || !isUrl(url)) {
    throw notOfPostgres();
  }
  return {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    fallback_application_name: "paystate",
  };
}

/** The longest timeouts there are: zeros, which mean none, are not sent by pg. */
const NO_LIMITS = { statement_timeout: 2_147_483_647, lock_timeout: 2_147_483_647 };

/** A build says nothing for hours: a connection that a network has dropped meanwhile has to show. */
const KEPT_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 60_000 };

/** A pool hides its password from what lists its options. */
const copyOf = (options: object): object =>
  Object.defineProperties<object>({}, Object.getOwnPropertyDescriptors(options));

/** What a URL says goes before all other options, and the last of two that it says. */
function withoutLimits(options: { readonly connectionString?: string }): object {
  const copy = Object.assign(copyOf(options), KEPT_ALIVE);
  const { connectionString: url } = options;
  if (url === undefined) return Object.assign(copy, NO_LIMITS);
  const more = Object.entries(NO_LIMITS).map((limit) => limit.join("="));
  const connectionString = `${url}${url.includes("?") ? "&" : "?"}${more.join("&")}`;
  return Object.assign(copy, { connectionString });
}

/** Does not show it: a URL that is mistyped may hold a password. */
const notOfPostgres = (): StorageUnusable =>
  new StorageUnusable(
    "not_a_database",
    "PostgreSQL takes a URL such as postgres://user@host:5432/database; " +
      "for a file take sqliteStorage of paystate/storage/sqlite",
  );

/** Waits, without keeping the process alive. */
export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    // oxlint-disable-next-line paystate/no-ambient -- paces hints and decides nothing that is stored
    setTimeout(resolve, ms).unref();
  });
