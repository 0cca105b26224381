/** What SQLite answers for each commit of a group when a statement, or COMMIT itself, fails: always what is true. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import type { CommitAnswer } from "../../storage/storage.ts";
import { type PaymentCommit, range } from "../contracts/storage/samples.ts";
import { sqliteStorage } from "../kit/storages.ts";

let folder: string;
let database: Database.Database;
let storage: PaymentStorage;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "paystate-"));
  database = new Database(join(folder, "test.db"));
  storage = await sqliteStorage(database);
});

afterEach(async () => {
  await storage.close();
  database.close();
  await rm(folder, { recursive: true });
});

const fact = (id: string, value = id): PaymentCommit => ({
  writes: [{ table: "facts", insert: { id, value } }],
});
const IDS = range(255).map((index) => `f${index}`);
const wordOf = (answer: CommitAnswer): string => (answer.ok ? "ok" : answer.conflict);

/** Which of the facts are there. */
const there = async (): Promise<string[]> => {
  const found = await Promise.all(IDS.map(async (id) => ((await storage.fact(id)) === null ? [] : id)));
  return found.flat();
};

/** A group of 255 facts with this one among them: its answer, and the words for the others. */
async function among(bad: PaymentCommit): Promise<{ bad: CommitAnswer | undefined; others: Set<string> }> {
  const good = IDS.map((id) => fact(id));
  const answers = await storage.commit([...good.slice(0, 100), bad, ...good.slice(100)]);
  return { bad: answers[100], others: new Set(answers.toSpliced(100, 1).map(wordOf)) };
}

test("D12: a statement that ends the whole transaction fails its own item, and those before it are carried out anew", async () => {
  database.exec(
    "create trigger ends before insert on paystateFacts when new.id = 'bad' begin select raise(rollback, 'ends all'); end",
  );
  const { bad, others } = await among(fact("bad"));
  expect(bad).toMatchObject({ conflict: "failed", error: { message: "ends all" } });
  expect(others).toEqual(new Set(["ok"]));
  expect(await there()).toEqual(IDS);
});

test("D12: a constraint that is broken at COMMIT fails its own item, and the transaction is not left open", async () => {
  database.exec(`
    create table children (parent text references "paystateFacts" (id) deferrable initially deferred);
    create trigger late after insert on "paystateFacts" when new.id = 'bad' begin insert into children values ('none'); end`);
  const { bad, others } = await among(fact("bad"));
  expect(bad).toMatchObject({ conflict: "failed", error: { code: "SQLITE_CONSTRAINT_FOREIGNKEY" } });
  expect(others).toEqual(new Set(["ok"]));
  expect(await there()).toEqual(IDS);
  expect(database.inTransaction).toBe(false);
});

test("D12: one that is too large for the disk fails alone, and the others of its group have room", async () => {
  const pages = Number(database.pragma("page_count", { simple: true }));
  database.pragma(`max_page_count = ${pages + 40}`);
  const { bad, others } = await among(fact("bad", "x".repeat(1_000_000)));
  expect(bad).toMatchObject({ conflict: "failed", error: { code: "disk_full" } });
  expect(others).toEqual(new Set(["ok"]));
  expect(await there()).toEqual(IDS);
  expect(await storage.fact("bad")).toBeNull();
});

/** A storage on the same file that counts what it inserts. No time ends a transaction of it. */
async function counting(): Promise<{
  counted: PaymentStorage;
  inserts: () => number;
  commits: () => number;
}> {
  let inserts = 0;
  let commits = 0;
  const counted = await sqliteStorage(
    {
      get inTransaction() {
        return database.inTransaction;
      },
      prepare(sql) {
        const prepared = database.prepare(sql);
        const isInsert = /^insert .*"paystateFacts"/.test(sql);
        if (!isInsert && sql !== "commit") return prepared;
        const run = (...values: unknown[]) => {
          if (isInsert) inserts += 1;
          else commits += 1;
          return prepared.run(...values);
        };
        return new Proxy(prepared, {
          get(_, name): unknown {
            const member: unknown = name === "run" ? run : Reflect.get(prepared, name, prepared);
            return typeof member === "function" ? (member.bind(prepared) as unknown) : member;
          },
        });
      },
      pragma: (source) => database.pragma(source),
      close: () => {},
    },
    { elapsed: () => 0 },
  );
  [inserts, commits] = [0, 0];
  return { counted, inserts: () => inserts, commits: () => commits };
}

test.for([
  [200, [199], 216],
  [200, [0], 216],
  [200, [16, 31, 32], 232],
  [17, [15], 33],
  [16, [15], 32],
] as const)(
  "D55: of %i items, %j refused, at most %i are executed, in one transaction and true",
  async ([count, bad, most]) => {
    await storage.commit(bad.map((at) => fact(`f${at}`, "taken")));
    const { counted, inserts, commits } = await counting();
    const answers = await counted.commit(range(count).map((at) => fact(`f${at}`)));
    expect(answers.map(wordOf)).toEqual(
      range(count).map((at) => (bad.some((each) => each === at) ? "write" : "ok")),
    );
    expect(inserts()).toBeLessThanOrEqual(most);
    expect(commits()).toBe(1);
    expect(await there()).toEqual(IDS.slice(0, count));
    for (const at of bad) expect(await storage.fact(`f${at}`)).toBe("taken");
  },
);

/** A storage on the same file, whose COMMIT or ROLLBACK TO fails once in this way, when it is told to. */
async function withFailing(
  statement: "commit" | "rollback to item",
  run: (really: () => unknown) => void,
): Promise<{ failing: PaymentStorage; plan: () => void }> {
  let isPlanned = false;
  const driver: Parameters<typeof sqliteStorage>[0] = {
    get inTransaction() {
      return database.inTransaction;
    },
    prepare(sql) {
      const prepared = database.prepare(sql);
      if (sql !== statement) return prepared;
      const really = (): ReturnType<typeof prepared.run> => prepared.run();
      return Object.assign(Object.create(prepared) as typeof prepared, {
        run() {
          if (isPlanned) {
            isPlanned = false;
            run(really);
          }
          return really();
        },
      });
    },
    pragma: (source) => database.pragma(source),
    close: () => {},
  };
  // Time ends no transaction, so that a group of a few is one.
  const failing = await sqliteStorage(driver, { elapsed: () => 0 });
  return { failing, plan: () => (isPlanned = true) };
}

const error = (code: string): Error => Object.assign(new Error("disk I/O error"), { code });

test.for(["SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_NOMEM"])(
  "D12: a COMMIT that fails with %s has happened or has not: its items are unknown, and none behind them is tried",
  async (code) => {
    const { failing, plan } = await withFailing("commit", (really) => {
      really();
      throw error(code);
    });
    plan();
    const answers = await failing.commit([...IDS, "more", "again"].map((id) => fact(id)));
    const unknown = answers.filter((answer) => wordOf(answer) === "unknown").length;
    expect(unknown).toBeGreaterThan(0);
    expect(answers.map(wordOf)).toEqual(answers.map((_, index) => (index < unknown ? "unknown" : "failed")));
    expect(await there()).toEqual(IDS.slice(0, unknown));
    expect(answers[0]).toMatchObject({ error: { code } });
  },
);

test("D12: what was refused or failed beside items that are unknown has not happened", async () => {
  await storage.commit([fact("taken")]);
  const { failing, plan } = await withFailing("commit", () => {
    throw error("SQLITE_IOERR_WRITE");
  });
  plan();
  const bad: PaymentCommit = { writes: [{ table: "facts", insert: { id: "bad" } as never }] };
  const answers = await failing.commit([fact("f0"), bad, fact("taken"), fact("f1")]);
  // That "taken" is taken was seen in a transaction that may not be there.
  expect(answers.map(wordOf)).toEqual(["unknown", "failed", "unknown", "unknown"]);
  expect(await there()).toEqual([]);
  expect(await storage.fact("taken")).toBe("taken");
});

test("D12: a COMMIT that another connection keeps from ending is taken back, and made again", async () => {
  const { failing, plan } = await withFailing("commit", () => {
    throw error("SQLITE_BUSY");
  });
  plan();
  expect((await failing.commit(IDS.map((id) => fact(id)))).map(wordOf)).toEqual(IDS.map(() => "ok"));
  expect(await there()).toEqual(IDS);
});

test("D12: where an item cannot be taken back alone, its whole transaction is, and nothing half done is kept", async () => {
  const { failing, plan } = await withFailing("rollback to item", () => {
    throw error("SQLITE_IOERR_READ");
  });
  plan();
  const half: PaymentCommit = {
    writes: [
      { table: "facts", insert: { id: "half", value: "" } },
      { table: "facts", insert: { id: "half", value: "" } },
    ],
  };
  const answers = await failing.commit([fact("f0"), half, fact("f1")]);
  expect(answers).toEqual([{ ok: true }, { ok: false, conflict: "write", index: 1 }, { ok: true }]);
  expect(await there()).toEqual(["f0", "f1"]);
  expect(await storage.fact("half")).toBeNull();
});
