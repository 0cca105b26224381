/** The handle of a database as the adapter uses it, of whatever driver: the form is that of better-sqlite3. */

/** The required part of a prepared statement. Values are given one by one, or as one array. */
export interface SqliteStatement {
  /** Whether `all` carries it out, since it may answer rows. */
  readonly reader: boolean;
  /** Whether it changes nothing. */
  readonly readonly: boolean;
  run(...parameters: unknown[]): { readonly changes: number };
  get(...parameters: unknown[]): unknown;
  all(...parameters: unknown[]): unknown[];
  /** Whether integers are read as bigints. */
  safeIntegers(toggle: boolean): unknown;
}

/** The required part of an open database; a `Database` of better-sqlite3 is one. */
export interface SqliteDatabase {
  readonly inTransaction: boolean;
  prepare(sql: string): SqliteStatement;
  pragma(source: string): unknown;
  close(): unknown;
}

/** How far a copy has come. */
export interface BackupPages {
  readonly totalPages: number;
  readonly remainingPages: number;
}

export interface BackupOptions {
  /** The number of pages that `node:sqlite` copies in each turn. */
  readonly rate: number;
  /** Called between two turns; better-sqlite3 takes from its answer the number of pages of the next one. */
  readonly progress: (pages: BackupPages) => number;
}

/** A database that was opened here. */
export interface OpenedDatabase extends SqliteDatabase {
  /** Copies page by page. */
  backup(target: string, options: BackupOptions): Promise<unknown>;
}

export interface OpenOptions {
  readonly readonly?: boolean;
  readonly fileMustExist?: boolean;
}
