/** Commits in the transaction of a host: on the host's own connection to the file of the storage. */
import { realpathSync } from "node:fs";
import { takenBack } from "../commit-answers.ts";
import type { GivenTables } from "../sql/given-tables.ts";
import type { CommitAnswer, HostCommit, HostTransaction } from "../storage.ts";
import { applyCommit, CommitTarget } from "./apply-commit.ts";
import { Connection } from "./connection.ts";
import { usableHandle } from "./driver.ts";
import type { SqliteDatabase } from "./handle.ts";
import { hiding } from "./hiding.ts";
import type { NodeSqliteDatabase } from "./node-sqlite.ts";

/**
 * Commits to the file of a storage, given the storage's own connection, over one of the host's. A commit is
 * done when the call returns: a transaction of better-sqlite3 ends with the function that is its body.
 */
export function hostCommits(
  own: SqliteDatabase,
  tables: GivenTables,
): (host: HostTransaction, item: HostCommit) => CommitAnswer {
  const known = new WeakMap<HostTransaction, CommitTarget>();
  const targetOn = (host: HostTransaction): CommitTarget => {
    if (!isDatabase(host)) {
      throw new TypeError(
        "within: the storage is an SQLite file: give the Database whose transaction is open",
      );
    }
    const found = known.get(host);
    if (found !== undefined) return found;
    const handle = usableHandle(host);
    assertSameFile(own, handle);
    const made = new CommitTarget(new Connection(handle), tables);
    known.set(host, made);
    return made;
  };
  return (host, item) => {
    const target = targetOn(host);
    const { connection } = target;
    if (!connection.isInTransaction) throw notOpen();
    const hidden = hiding(connection);
    if (hidden !== undefined) throw hides(hidden);
    try {
      return connection.savepoint(
        () => {
          const result = applyCommit(item, target);
          // The holder of the only lock of the file may admit tasks that have room.
          target.tasks.settle();
          return result;
        },
        ({ ok }) => ok,
      );
    } catch (error) {
      return takenBack(error);
    }
  };
}

function assertSameFile(own: SqliteDatabase, host: SqliteDatabase): void {
  if (host === own) {
    throw new TypeError(
      "within: the storage works on this very connection: open it with the path of the file, so that it has one of its own",
    );
  }
  const [file, hostFile] = [fileOf(own), fileOf(host)];
  if (file === "" || hostFile === "") {
    throw new TypeError("within: a database in memory has one connection: give storage and host one file");
  }
  if (realpathSync(file) === realpathSync(hostFile)) return;
  throw new TypeError(
    `within: this transaction is on another file than the storage (${hostFile} in place of ${file}): ` +
      "open the storage on the host's own file",
  );
}

const isDatabase = (host: HostTransaction): host is SqliteDatabase | NodeSqliteDatabase =>
  "prepare" in host && ("pragma" in host || "exec" in host);

/** Empty for a database in memory. */
function fileOf(database: SqliteDatabase): string {
  const files = database.pragma("database_list") as readonly {
    readonly name: string;
    readonly file: string;
  }[];
  return files.find(({ name }) => name === "main")?.file ?? "";
}

const notOpen = (): TypeError =>
  new TypeError(
    "within: no transaction is open on this database, or it has ended before the call: call it in the body of " +
      "`database.transaction(…).immediate()`, without awaiting before it",
  );

const hides = (name: string): TypeError =>
  new TypeError(
    `within: this connection has a temporary table "${name}", which hides the engine's own of that name: rename it`,
  );
