/** Finds pg, an optional peer, and what is needed of it. */
import { StorageUnusable } from "../storage-unusable.ts";

/** The required part of an answer. */
export interface PostgresResult {
  /** The command that the server has carried out, such as INSERT. */
  readonly command?: string;
  readonly rows: readonly object[];
}

/** A query as pg takes it. */
export interface PostgresQuery {
  readonly text: string;
  readonly types: { readonly getTypeParser: (oid: number) => (text: string) => unknown };
  readonly query_timeout: number;
  /** Sent with the values beside the text: a single statement. */
  readonly values?: readonly unknown[];
  readonly queryMode?: "extended";
}

/** The socket of a connection: it can be cut without the server's word. */
export interface Cuttable {
  readonly connection?: {
    readonly stream?: { destroy(): unknown; once(event: "close", listener: () => void): unknown };
  };
}

/** The required part of a connection; a `Client` of pg is one. */
export interface PostgresClient extends Cuttable {
  query(query: PostgresQuery): Promise<PostgresResult | PostgresResult[]>;
  on(event: "error", listener: (error: Error) => void): unknown;
  release: (destroy?: boolean) => void;
}

/** A connection of its own, outside any pool. */
export interface ListeningClient extends Cuttable {
  connect(): Promise<unknown>;
  query(text: string): Promise<unknown>;
  on(event: "error" | "end", listener: () => void): unknown;
  on(event: "notification", listener: (message: { readonly payload?: string | undefined }) => void): unknown;
  end(): Promise<void>;
}

/** The required part of a pool; a `Pool` of pg 8 is one. */
export interface PostgresPool {
  readonly options: object;
  connect(): Promise<PostgresClient>;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "connect", listener: (client: PostgresClient) => void): unknown;
  end(): Promise<void>;
}

interface PostgresDriver {
  readonly Pool: new (options: object) => PostgresPool;
  readonly Client: new (options: object) => ListeningClient;
  readonly utils: { readonly prepareValue: (value: unknown) => string | Buffer | null };
}

/** @throws StorageUnusable `driver_missing`. */
export async function loadDriver(): Promise<PostgresDriver> {
  try {
    const driver = (await import("pg")) as unknown as { readonly default: PostgresDriver };
    return driver.default;
  } catch (error) {
    throw new StorageUnusable("driver_missing", "PostgreSQL needs its driver: `npm install pg`", {
      cause: error,
    });
  }
}
