/** The connections of a storage: an own pool from a URL, or a given pool; and a listening connection. */
import { StorageUnusable } from "../storage-unusable.ts";
import { type ListeningClient, loadDriver, type PostgresPool } from "./driver.ts";
import { HostPool } from "./host-pool.ts";
import { OpenedConnections } from "./opened-connections.ts";

interface Opening {
  readonly connections?: number;
  readonly transactConnections?: number;
  readonly listen?: string | false;
}

export interface Connections {
  readonly servers: HostPool;
  /** Connections for handlers' transactions, in a pool of its own that the first call makes. */
  readonly transactions: () => HostPool;
  /** A connection outside the pool, which has not connected yet. */
  readonly listener: () => Promise<ListeningClient>;
  /** The same, whose statements may take as long as they do, whatever is set for the role; a pooler may refuse it. */
  readonly unhurried: () => Promise<ListeningClient>;
  /**
   * Closes what was opened here and nothing else, behind this. Connections that a silent server keeps are cut after some
   * seconds.
   */
  readonly close: (before?: () => Promise<void>) => Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;

/** Errors of an idle connection are found at its next use. */
const ignored = (): void => {};

/** Pools whose errors have a listener: without one they would end the process. */
const heard = new WeakSet<PostgresPool>();

/** A connection may end with the very piece of the stream that makes it: before its pool has handed it to anyone. */
function hear(pool: PostgresPool): PostgresPool {
  if (heard.has(pool)) return pool;
  heard.add(pool);
  pool.on("error", ignored);
  pool.on("connect", (client) => client.on("error", ignored));
  return pool;
}

/** @throws StorageUnusable when pg is missing, or what was given is no URL of PostgreSQL. */
export async function openConnections(
  urlOrPool: string | PostgresPool,
  { connections = 10, transactConnections = 10, listen }: Opening,
): Promise<Connections> {
  const { Pool, Client } = await loadDriver();
  const opened = new OpenedConnections();
  const direct = typeof listen === "string" ? optionsFrom(listen) : null;
  const isGiven = typeof urlOrPool !== "string";
  const places = isGiven ? [urlOrPool.options] : hostsOf(urlOrPool).map(optionsFrom);
  const pooled = (max: number): HostPool =>
    new HostPool(
      places.map((options) => {
        // Settings by `onConnect` would be gone after the first handler, whose own settings are reset.
        const limits = { max, allowExitOnIdle: true, ...("onConnect" in options && { maxUses: 1 }) };
        const pool = hear(new Pool(Object.assign(copyOf(options), limits)));
        pool.on("connect", (client) => opened.kept(client));
        return pool;
      }),
    );
  const servers = isGiven ? new HostPool([hear(urlOrPool)]) : pooled(connections);
  const place = (): object => direct ?? servers.current.options;
  let transactions: HostPool | null = null;
  let isShut = false;
  const ofHandlers = (): HostPool => {
    transactions ??= pooled(transactConnections);
    if (isShut) transactions.shut();
    return transactions;
  };
  const shut = (): void => {
    isShut = true;
    servers.shut();
    transactions?.shut();
  };
  const ended = async (): Promise<void> => {
    shut();
    // A handler that hears no signal may keep a connection: the pool ends when the handler's transaction has ended.
    void transactions?.end().catch(ignored);
    if (!isGiven) await servers.end();
  };
  return {
    servers,
    transactions: ofHandlers,
    listener: async () => opened.kept(new Client(place())),
    unhurried: async () => opened.kept(new Client(withoutLimits(place()))),
    close: (before = async () => {}) => opened.end(() => before().then(ended)).finally(shut),
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

/** The URL goes before all other options, and its last value for an option before the first. */
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
