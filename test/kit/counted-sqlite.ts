/** A storage on SQLite that counts what is carried out. */
import Database from "better-sqlite3";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import type { SqliteStatement } from "../../storage/sqlite/handle.ts";
import { sqliteStorage } from "./storages.ts";

/** Who looks at what is taken in turns, with orders or without. */
const IS_OF_LEASES = /paystateLeases/;
const IS_CONTROL = /^(begin|commit|rollback)/;

/** A storage, and what was carried out so far, but for leases; `begin` and `commit` are no statements. */
export interface CountedSqlite {
  readonly storage: PaymentStorage;
  readonly statements: string[];
  readonly commits: () => number;
  readonly close: () => void;
}

export async function countedSqlite(path: string): Promise<CountedSqlite> {
  const database = new Database(path);
  const statements: string[] = [];
  let commits = 0;
  let counted = 0;
  const storage = await sqliteStorage({
    get inTransaction() {
      return database.inTransaction;
    },
    prepare(sql) {
      const statement = database.prepare(sql);
      const counting =
        (act: "run" | "get" | "all") =>
        (...values: unknown[]) => {
          if (sql.startsWith("begin")) counted = statements.length;
          if (sql === "commit" && statements.length > counted) commits += 1;
          if (!IS_OF_LEASES.test(sql) && !IS_CONTROL.test(sql)) statements.push(sql);
          return statement[act](...values);
        };
      return {
        reader: statement.reader,
        run: counting("run"),
        get: counting("get"),
        all: counting("all"),
        safeIntegers: (toggle: boolean) => statement.safeIntegers(toggle),
      } as SqliteStatement;
    },
    pragma: (source) => database.pragma(source),
    close: () => database.close(),
  });
  return { storage, statements, commits: () => commits, close: () => database.close() };
}
