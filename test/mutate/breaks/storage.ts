/** Breaks of what a storage answers for each commit of a group, and of what is made of an answer that was lost. */
import type { Break } from "../break.ts";

const SQLITE = "storage/sqlite/commits.ts";
const CONNECTION = "storage/sqlite/connection.ts";
const POSTGRES = "storage/postgres/commits.ts";
const GUARD = "storage/sqlite/file-guard.ts";
const IN_FILES = ["storage/sqlite-replaced.test.ts"];
const IN_SQLITE = ["storage/sqlite-answers.test.ts"];
const IN_FAILOVER = ["storage/outages.postgres.test.ts"];
const IN_POSTGRES = ["storage/answers.postgres.test.ts"];
const IN_ENGINE = ["engine/unknown-answers.test.ts", "engine/group-commit.test.ts"];
const IN_HTTP = ["http/unknown-outcomes.test.ts"];

const ANSWERS_OF_SQLITE: readonly Break[] = [
  {
    property: "an answer of SQLite: a COMMIT that may have happened is not made again",
    file: SQLITE,
    text: "if (error instanceof UncertainCommitError) return batch.slice(0, tried).map(() => unknown(error.cause));",
    replacement: "",
    tests: IN_SQLITE,
  },
  {
    property: "an answer of SQLite: a COMMIT that the disk refused may have happened",
    file: CONNECTION,
    text: "throw isUncertain(error) ? new UncertainCommitError(error) : error;",
    replacement: "throw error;",
    tests: IN_SQLITE,
  },
  {
    property: "an answer of SQLite: a COMMIT without memory may have happened",
    file: "storage/sqlite/explain.ts",
    text: "/^SQLITE_(IOERR|NOMEM)/",
    replacement: "/^SQLITE_IOERR/",
    tests: IN_SQLITE,
  },
  {
    property: "an answer of SQLite: what was refused beside unknown items is unknown",
    file: SQLITE,
    text: '!answer.ok && answer.conflict === "failed" ? answer : unknown(cause);',
    replacement: "answer.ok ? unknown(cause) : answer;",
    tests: IN_SQLITE,
  },
  {
    property: "an answer of SQLite: the items of a transaction that has ended are carried out anew",
    file: SQLITE,
    text: "return committed(context, batch.slice(0, tried.length + 1), 1);",
    replacement: "return batch.map(() => failed(error));",
    tests: IN_SQLITE,
  },
  {
    property: "an answer of SQLite: what cannot be taken back alone is taken back with all",
    file: CONNECTION,
    text: '      this.#do("release item");\n    } catch (error) {\n      if (this.#database.inTransaction) this.#do("rollback");',
    replacement: '      this.#do("release item");\n    } catch (error) {',
    tests: IN_SQLITE,
  },
  {
    property: "an answer of SQLite: a disk that is full for one item may have room for another",
    file: "storage/commit-answers.ts",
    text: " && /^(unavailable|replica|busy)$/.test(answer.error.code)",
    replacement: "",
    tests: IN_SQLITE,
  },
];

const FILES: readonly Break[] = [
  {
    property: "a file of SQLite: what is deleted or replaced is noticed before a commit",
    file: GUARD,
    text: "!(areSame(seen, this.#seen) || this.#isSame())",
    replacement: "false",
    tests: IN_FILES,
  },
  {
    property: "a file of SQLite: one that was cut short is looked through",
    file: GUARD,
    text: "isShorter(file, this.#seen.file)",
    replacement: "false",
    tests: IN_FILES,
  },
  {
    property: "a file of SQLite: a log that was cut short is looked through",
    file: GUARD,
    text: "isShorter(log, this.#seen.log)",
    replacement: "false",
    tests: IN_FILES,
  },
  {
    property: "a file of SQLite: the log lies beside the file that a link leads to",
    file: "storage/sqlite/open.ts",
    text: "realpathSync(place)",
    replacement: "place",
    tests: IN_FILES,
  },
  {
    property: "a file of SQLite: an empty one is not opened, which would remove the log",
    file: GUARD,
    text: "isEmpty(seen) || ",
    replacement: "",
    tests: IN_FILES,
  },
  {
    property: "a file of SQLite: a log that is not under the name keeps nothing",
    file: GUARD,
    text: "if (!this.#isThere(name)) return false;",
    replacement: "",
    tests: IN_FILES,
  },
];

const FAILOVER: readonly Break[] = [
  {
    property: "a failover: a primary that was left behind is not written to",
    file: "storage/postgres/database.ts",
    text: "Number(timeline) < Number(knownTimeline)",
    replacement: "false",
    tests: IN_FAILOVER,
  },
  {
    property: "a failover: a primary that was left behind tells nothing of what became of a group",
    file: "storage/postgres/database.ts",
    text: "server !== null && this.#isLeftBehind(server)",
    replacement: "false",
    tests: IN_FAILOVER,
  },
  {
    property: "a failover: of several hosts a standby is not read",
    file: "storage/postgres/database.ts",
    text: "if (isStandby) throw readOnly();",
    replacement: "",
    tests: IN_FAILOVER,
  },
  {
    property: "a failover: of several hosts one that was left behind is left",
    file: "storage/postgres/database.ts",
    text: "if (isAway(error)) servers.leave(client);",
    replacement: "if (isAway(thrown)) servers.leave(client);",
    tests: IN_FAILOVER,
  },
  {
    property: "a connection that breaks while it is written to is a lost one",
    file: "storage/postgres/explain.ts",
    text: "^(?!E)[0-9A-Z]{5}$",
    replacement: "^[0-9A-Z]{5}$",
    tests: ["storage/answers.postgres.test.ts"],
  },
  {
    property: "a failover: on another server nothing is made again",
    file: "storage/postgres/prepare-schema.ts",
    text: 'if (row?.id === known.split("/")[0]) return;',
    replacement: "if (row !== null) return;",
    tests: IN_FAILOVER,
  },
  {
    property: "a failover: a table that is gone is made again for commits that are carried out one by one",
    file: "storage/postgres/functions/commit.ts",
    text: "when undefined_table or undefined_function or invalid_schema_name then raise;",
    replacement: "",
    tests: IN_FAILOVER,
  },
  {
    property: "a failover: what counts the versions of rows is not sent to another server",
    file: POSTGRES,
    text: "countsVersions(item) ? [failed(error)] : await grouped(context, [item])",
    replacement: "await grouped(context, [item])",
    tests: IN_FAILOVER,
  },
  {
    property: "a failover: a standby is waited for",
    file: "storage/postgres/explain.ts",
    text: "error instanceof UnsentError || isReadOnly(error)",
    replacement: "error instanceof UnsentError",
    tests: IN_FAILOVER,
  },
];

const ANSWERS_OF_POSTGRES: readonly Break[] = [
  {
    property: "a plan that a session keeps: what has no index is never chosen",
    file: "storage/postgres/functions/kept-plans.ts",
    text: "set enable_seqscan = off ",
    replacement: "",
    tests: ["storage/plans.postgres.test.ts"],
  },
  {
    property: "a plan that a session keeps: a join seeks each row, and goes through no index",
    file: "storage/postgres/functions/kept-plans.ts",
    text: "`${column} = any(array[${value}])`",
    replacement: "`${column} = ${value}`",
    tests: ["storage/plans.postgres.test.ts"],
  },
  {
    property: "an answer of PostgreSQL: without the row of its writer a group is unknown",
    file: "storage/postgres/writer-pool.ts",
    text: 'if (row === undefined) throw new AnswerLost(new Error("the row of the group\'s writer is gone"));',
    replacement: "if (row === undefined) return null;",
    tests: IN_POSTGRES,
  },
  {
    property: "an answer of PostgreSQL: a group that may have happened has not failed",
    file: POSTGRES,
    text: "group.items.map(() => unknown(error.cause))",
    replacement: "group.items.map(() => failed(error.cause))",
    tests: IN_POSTGRES,
  },
  {
    property: "an answer of PostgreSQL: what is behind an unknown group is not sent",
    file: POSTGRES,
    text: 'conflict === "unknown" ||',
    replacement: 'conflict !== "unknown" &&',
    tests: IN_POSTGRES,
  },
  {
    property: "an answer of PostgreSQL: the items of a group that the server took back are sent alone",
    file: POSTGRES,
    text: "return committed(context, items.slice(0, group.items.length), 1);",
    replacement: "return group.items.map(() => failed(error));",
    tests: IN_POSTGRES,
  },
  {
    property: "an answer of PostgreSQL: an item that meets a lock fails none behind it",
    file: POSTGRES,
    text: "(await grouped(context, [{}])).some(isTrouble)",
    replacement: "true",
    tests: IN_POSTGRES,
  },
];

const IN_SET_BACK = ["engine/set-back.test.ts", "storage/contract.test.ts"];
const DELAYS: readonly Break[] = [
  {
    property: "a clock that was set back: an absolute moment stays",
    file: "storage/stored-task.ts",
    text: "task.delayMs ?? null,",
    replacement: "task.delayMs ?? 0,",
    tests: IN_SET_BACK,
  },
  {
    property: "a clock that was set back: a lease lasts no longer than its own length",
    file: "storage/stored-task.ts",
    text: "visibleAt: now + leaseMs, delayMs: leaseMs,",
    replacement: "visibleAt: now + leaseMs,",
    tests: IN_SET_BACK,
  },
];

const IN_OTHERS = ["storage/other-programs.postgres.test.ts"];
const IN_INDEXES = ["storage/changed-indexes.slow.test.ts"];

const OTHER_PROGRAMS: readonly Break[] = [
  {
    property: "another program: beside a migration that asks for a newer program none works",
    file: "storage/sql/migrations/index.ts",
    text: "?? Infinity) <= NEWEST;",
    replacement: "?? Infinity) < Infinity;",
    tests: IN_OTHERS,
  },
  {
    property: "another program: a table is used on only as its newer migrations allow",
    file: "storage/install-plan.ts",
    text: "migrations.length >= oldest &&",
    replacement: "",
    tests: IN_OTHERS,
  },
  {
    property: "a changed index: what is half built serves nothing",
    file: "storage/sql/table-indexes.ts",
    text: "if (there.valid === 0)",
    replacement: "if (there.valid === 2)",
    tests: IN_INDEXES,
  },
  {
    property: "a changed index: a new unique rule does not wait for a build",
    file: "storage/sql/install-statements.ts",
    text: "(index.isUnique && !isGuarded(index, left))",
    replacement: "false",
    tests: IN_INDEXES,
  },
  {
    property: "a changed index: a program of before changes nothing back",
    file: "storage/sql/install-statements.ts",
    text: "stored.migrations <= table.migrations.length;",
    replacement: "true;",
    tests: IN_INDEXES,
  },
  {
    property: "another program: what it does not know is not left behind in a move",
    file: "storage/move/held-file.ts",
    text: "      await assertAllOurs(database);",
    replacement: "",
    tests: IN_OTHERS,
  },
];

export const STORAGE_BREAKS: readonly Break[] = [
  ...DELAYS,
  ...ANSWERS_OF_SQLITE,
  ...FILES,
  ...FAILOVER,
  ...ANSWERS_OF_POSTGRES,
  ...OTHER_PROGRAMS,
  {
    property: "an answer reaches the commit that it is for",
    file: "src/engine/commit-queue.ts",
    text: "decided(answers[index])",
    replacement: "decided(answers[0])",
    tests: IN_ENGINE,
  },
  {
    property: "an answer that was lost is an error of its own class",
    file: "storage/decided.ts",
    text: "throw new CommitUnknown(answer.error);",
    replacement: "throw answer.error;",
    tests: IN_ENGINE,
  },
  {
    property: "an answer that was lost: the instance is read anew",
    file: "src/engine/step-handler.ts",
    text: "const known = this.#recent.take(id);",
    replacement: "const known = lost > 0 ? this.#recent.take(id) : this.#recent.get(id);",
    tests: IN_ENGINE,
  },
  {
    property: "an answer that was lost is no failure of a task",
    file: "src/engine/held-task-list.ts",
    text: " || error instanceof CommitUnknown",
    replacement: "",
    tests: IN_ENGINE,
  },
  {
    property: "an answer that was lost is 503 over HTTP",
    file: "src/http/error-answer.ts",
    text: "if (thrown instanceof CommitUnknown) {",
    replacement: "if (thrown instanceof CommitUnknown && thrown.cause === null) {",
    tests: IN_HTTP,
  },
  {
    property: "an answer that was lost is not looked for where the database did not answer",
    file: "src/payments/accounts/answer-once.ts",
    text: "if (refusal instanceof CommitUnknown) throw refusal;",
    replacement: "",
    tests: IN_HTTP,
  },
  {
    property: "an answer that was lost: a quote that this very request has used is its order",
    file: "src/payments/transactions/create-transaction.ts",
    text: "if (transaction.requestHash === requestHash) {",
    replacement: "if (transaction.requestHash === requestHash && signedTransaction === undefined) {",
    tests: IN_HTTP,
  },
  {
    property: "L2: an index of PostgreSQL ends in the order of insertion, where its fields leave one",
    file: "storage/sql/table-indexes.ts",
    text: "index.on.includes(key) ? [] : insertionOrder",
    replacement: "index.on.length > 0 ? [] : insertionOrder",
    tests: ["storage/orders.postgres.test.ts"],
  },
  {
    property: "L6: a page that the index alone filters reads one row more than it shows",
    file: "src/payments/transactions/list-transactions.ts",
    text: "isFilteredOnce(filter) ? Math.min",
    replacement: "!isFilteredOnce(filter) ? Math.min",
    tests: ["payments/transactions/long-lists.test.ts"],
  },
  {
    property: "L1: a page of transactions looks through a thousand rows and no more",
    file: "src/payments/transactions/list-transactions.ts",
    text: "looked < MAX_ROWS_OF_A_PAGE",
    replacement: "looked < Infinity",
    tests: ["payments/transactions/long-lists.test.ts"],
  },
  {
    property: "L1: a page that ended early tells where the next one begins",
    file: "src/payments/transactions/list-transactions.ts",
    text: "const place = stoppedAt ?? (data.length === 0 ? wanted.at(-1) : undefined);",
    replacement: "const place = data.length === 0 ? wanted.at(-1) : undefined;",
    tests: ["payments/transactions/long-lists.test.ts"],
  },
  {
    property: "a text that PostgreSQL cannot keep refuses its own read of many alone",
    file: "storage/postgres/tables.ts",
    text: "json: jsonText,",
    replacement: "json: (list) => JSON.stringify(list),",
    tests: ["storage/refusals.postgres.test.ts"],
  },
  {
    property: "L1: a row that goes while its page is read is not shown in part",
    file: "src/payments/tables/orders.ts",
    text: "(byId.get(id) ?? []).map((transaction) => ({",
    replacement: "(byId.get(id) ?? [{ id } as TransactionRecord]).map((transaction) => ({",
    tests: ["payments/transactions/long-lists.test.ts"],
  },
  {
    property: "L1: for a caller who has gone no more rows are looked through",
    file: "src/payments/transactions/list-transactions.ts",
    text: "if (signal?.aborted === true) break;",
    replacement: "",
    tests: ["payments/transactions/long-lists.test.ts"],
  },
  {
    property: "L3: of rows that SQLite inserts together the first one that cannot be is told",
    file: "storage/sqlite/tables.ts",
    text: "records.findIndex((record) => !written.has(record[key] as string))",
    replacement: "0",
    tests: ["storage/contract.test.ts"],
  },
  {
    property: "L3: a payroll's recipients are checked in turns",
    file: "src/payments/recipients/recipients.ts",
    text: "if (isTurnOver()) await nextTurn();",
    replacement: "void [isTurnOver, nextTurn];",
    tests: ["payments/many-recipients.slow.test.ts"],
  },
  {
    property: "a renamed schema keeps totals of its own",
    file: "storage/sql/total-triggers.ts",
    text: "each.name === trigger && each.here === 1",
    replacement: "each.name === trigger",
    tests: ["storage/group-totals.postgres.test.ts"],
  },
  {
    property: "L4: what no longer counts gives its room back",
    file: "storage/sql/total-triggers.ts",
    text: 'const subtract = `${totals.change("old.", "-")}; ${totals.clearing("old.")}`;',
    replacement: 'const subtract = totals.clearing("old.");',
    tests: ["storage/group-totals.postgres.test.ts"],
  },
  {
    property: "L4: only rows that count are added to a total",
    file: "storage/sql/group-totals.ts",
    text: "where ${this.counts(row)} on conflict",
    replacement: "where true on conflict",
    tests: ["storage/contract.test.ts"],
  },
  {
    property: "L4: of a window the rows of its first hour count one by one",
    file: "storage/sql/group-totals.ts",
    text: "${time} > ${begins} and ${time}",
    replacement: "${time}",
    tests: ["storage/contract.test.ts"],
  },
  {
    property: "L4: the upper digits of an amount count",
    file: "storage/sql/group-totals.ts",
    text: "BigInt(high) * 10n ** 18n",
    replacement: "BigInt(high)",
    tests: ["storage/contract.test.ts"],
  },
  {
    property: "L4: totals that were never kept are counted when a table is installed",
    file: "storage/sql/total-triggers.ts",
    text: ", ...totals.counting(null)",
    replacement: "",
    tests: ["storage/group-totals.postgres.test.ts"],
  },
  {
    property: "L4: a total below nothing takes no row on SQLite",
    file: "storage/sqlite/tables.ts",
    text: "size >= 0n && size",
    replacement: "size",
    tests: ["storage/group-totals.postgres.test.ts"],
  },
  {
    property: "L4: a total below nothing takes no row on PostgreSQL",
    file: "storage/postgres/functions/commit.ts",
    text: "if size < 0 or size +",
    replacement: "if size +",
    tests: ["storage/group-totals.postgres.test.ts"],
  },
  {
    property: "L4: what has lapsed is promised to nobody",
    file: "src/payments/swap-provider/reserve.ts",
    text: "new Map([...over, ...back",
    replacement: "new Map([...back",
    tests: ["payments/swap/reservations.test.ts"],
  },
  {
    property: "L4: what is given back in the same commit is promised to nobody",
    file: "src/payments/swap-provider/reserve.ts",
    text: "new Map([...over, ...back.filter((row) => row !== null)]",
    replacement: "new Map([...over]",
    tests: ["payments/swap/reservations.test.ts"],
  },
  {
    property: "L4: reconcile counts a total anew that differs from its rows",
    file: "src/payments/reconcile/purses.ts",
    text: "const counted = await storage.recounted(resource);",
    replacement: "const counted = before;",
    tests: ["payments/private/reconcile.slow.test.ts"],
  },
  {
    property: "a file keeps the names that its tables were made under",
    file: "storage/sqlite/schema.ts",
    text: "noted === undefined ? plainName : prefixedName",
    replacement: "noted === undefined ? prefixedName : prefixedName",
    tests: ["storage/sqlite-beside-host.test.ts"],
  },
  {
    property: "a move takes no table of a host's for one of the engine's",
    file: "storage/move/held-file.ts",
    text: "Object.hasOwn(engineTables, name) ? nameOf(name) : name",
    replacement: "name",
    tests: ["storage/moving.postgres.test.ts"],
  },
];
