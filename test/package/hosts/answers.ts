/**
 * What a storage on SQLite answers where drivers differ, a line each, in the folder that it is given: the lines are the same
 * with every driver.
 */
import { writeFileSync } from "node:fs";
import { createEngine, defineTable } from "paystate/engine";
import type { EngineStorage } from "paystate/storage";
import { backupSqlite, readOnlySqlite, sqliteStorage } from "paystate/storage/sqlite";
import { handleClass } from "./sqlite-handle.ts";

const [folder = "."] = process.argv.slice(2);
process.chdir(folder);
const Handle = await handleClass();
const FILE = "answers.db";

const asText = (_: string, value: unknown): unknown => {
  if (typeof value === "bigint") return `${value}n`;
  if (value instanceof Uint8Array) return `${value.constructor.name} ${[...value].join(" ")}`;
  if (!(value instanceof Error)) return value;
  const { name, message, cause, code } = value as Error & { readonly code?: unknown };
  // Drivers have classes of their own for the errors of SQLite.
  const of = typeof code === "string" && code.startsWith("SQLITE") ? {} : { name };
  return { ...of, code, message, ...(cause instanceof Error && "code" in cause ? { cause } : {}) };
};

const told = (answer: unknown): string => JSON.stringify(answer, asText).replaceAll(process.cwd(), "");

async function say(name: string, act: () => unknown): Promise<void> {
  try {
    console.log(`${name}: ${told((await act()) ?? null)}`);
  } catch (error) {
    console.log(`${name}: throws ${told(error)}`);
  }
}

const notes = defineTable("notes", {
  columns: { id: "text", bytes: "bytes", whole: "integer", sum: "amount", any: "json", also: "text?" },
});
const note = (id: string) => ({
  id,
  bytes: Uint8Array.of(1, 0, 255),
  whole: Number.MAX_SAFE_INTEGER,
  sum: 2n ** 80n,
  any: { big: 2n ** 70n, list: ["a\0b", null] },
  also: null,
});

async function rows(storage: EngineStorage): Promise<void> {
  await storage.install([notes]);
  const write = (row: ReturnType<typeof note>) =>
    storage.commit([{ writes: [{ table: "notes", insert: row }] }]);
  await say("a row goes in", () => write(note("n")));
  await say("a row is refused twice", () => write(note("n")));
  const empty = { ...note("empty"), bytes: new Uint8Array(new ArrayBuffer(0)) };
  await say("no bytes are bytes", () => write(empty));
  await say("rows come back", async () => {
    const found = await storage.find({ table: notes, index: "key" });
    return found.map((row) => [row, Object.getPrototypeOf(row) === Object.prototype]);
  });
}

const HOSTS_TABLES = `
  create table shops (id integer primary key, name text not null unique, stock integer check (stock >= 0), bytes blob);
  create table sales (id integer primary key, shop integer references shops);
  create table late (id integer primary key, shop integer references shops deferrable initially deferred);
  create trigger closed before insert on sales when new.id = 13 begin select raise(abort, 'closed'); end;`;

const QUERIES: readonly (readonly [sql: string, ...parameters: readonly unknown[]])[] = [
  ["insert into shops values (?, ?, ?, ?)", 1, "one", 5, Uint8Array.of(7)],
  ["insert into shops values (2, 'it''s ? :x', ? /* ? */, x'00') -- ?", 2n],
  [`insert into shops (id, "name") values (?, ?)`, 3, "one"],
  ["insert into shops (id, name) values (1, 'again')"],
  ["insert into shops (id, name) values (4, null)"],
  ["insert into shops (id, name, stock) values (5, 'five', -1)"],
  ["insert into sales values (1, 99)"],
  ["insert into sales values (1, 99) returning id"],
  ["insert into late values (1, 99)"],
  ["insert into sales values (13, 1)"],
  ["insert or rollback into shops (id, name) values (1, 'ends it')"],
  ["insert into sales values (?, 1) returning id, 9223372036854775807 as most", 9_007_199_254_740_993n],
  ["insert into shops (id, name) values (?, ?)", 6],
  ["insert into shops (id, name) values (?, ?)", 6, "six", "more"],
  ["insert into shops (id, name) values (:id, ?)", "six"],
  ["insert into shops (id, name) values (?1, ?2)", 6, "six"],
  ["insert into shops (id, name) values (6, ?)", new Date(0)],
  ["insert into shops (id, name) values (?, 'six')", {}],
  ["insert into shops (id, name) values (6, ?)", true],
  ["insert into shops (id, name) values (6, ?)", undefined],
  ["insert into shops (id, name) values (?, 'six')", 2n ** 64n],
  ["insert into shops (id, name) values (7, 'seven'); delete from shops"],
  ["insert into shops (id, name) values (8, 'eight'); -- and no more"],
  ["with found as (select 1) select * from found"],
  ["with found as (select 9 as id) insert into shops (id, name) select id, 'nine' from found"],
  ["insert into nowhere values (1)"],
  ["insert inot"],
];

async function queries(storage: EngineStorage): Promise<void> {
  const host = new Handle(FILE);
  host.exec(HOSTS_TABLES);
  for (const [sql, ...parameters] of QUERIES) {
    await say(sql, async () => {
      const [answer] = await storage.commit([{ queries: [{ sql, parameters }] }]);
      if (answer?.ok !== false || answer.conflict !== "failed") return answer;
      // How a value or a text is refused that a driver does not take is its own affair, but not that it is.
      const { message, ...rest } = answer.error as Error;
      return { conflict: "failed", ...rest, message: message.split(/[:(]/)[0] };
    });
  }
  await say("what the host has", () => [
    host.prepare("select id, name, stock, hex(bytes) as bytes from shops order by id").all(),
    host.prepare("select shop, cast(id as text) as id from sales").all(),
    host.prepare("select count(*) as late from late").all(),
  ]);
  host.close();
}

async function transactions(storage: EngineStorage): Promise<void> {
  const host = new Handle(FILE);
  const add = (id: string): unknown =>
    storage.within?.(host, { writes: [{ table: "notes", insert: note(id) }] });
  await say("within none", () => add("w-0"));
  host.exec("begin immediate");
  await say("within one", () => [add("w-1"), add("w-1"), add("w-2")]);
  await say("while another writes", () =>
    Promise.all([
      storage.commit([{ writes: [] }]),
      storage.load("nobody"),
      sqliteStorage(FILE).catch((error: unknown) => error),
    ]),
  );
  host.exec("rollback");
  await say("taken back", () => storage.find({ table: notes, key: "w-1" }));
  host.close();
  await say("within a closed one", () => add("w-3"));
  const memory = new Handle(":memory:");
  memory.exec("begin");
  await say("within another database", () => storage.within?.(memory, {}));
  memory.close();
}

async function handles(): Promise<void> {
  const host = new Handle("handed.db");
  const storage = await sqliteStorage(host);
  await say("an open handle", () => storage.load("nobody"));
  await say("within that of the storage", () => storage.within?.(host, {}));
  host.exec("begin");
  await say("while the host is in a transaction", async () => (await storage.commit([{ writes: [] }]))[0]);
  await say("a claim meanwhile", () =>
    storage.lease({ names: ["n"], holder: "h", now: () => 1, leaseMs: 1_000 }),
  );
  host.exec("commit");
  await say("and behind it", () =>
    storage.lease({ names: ["n"], holder: "h", now: () => 1, leaseMs: 1_000 }),
  );
  await storage.close();
  await say("the host's is still open", () => host.prepare("select 1 as one").all());
  host.close();
  await say("the host has closed it", () => storage.load("nobody"));
  await say("a handle that is closed", () => sqliteStorage(host));
}

async function opening(): Promise<void> {
  await say("no file, and none is made", () => sqliteStorage("none.db", { create: false }));
  await say("no folder", () => sqliteStorage("no/none.db"));
  await say("a folder", () => sqliteStorage("."));
  writeFileSync("text.txt", "no database at all ".repeat(100));
  await say("no database", () => sqliteStorage("text.txt"));
  await say("nothing to read", () => readOnlySqlite("none.db"));
  const read = await readOnlySqlite(FILE);
  await read.install([notes]);
  await say("reading alone", () => read.find({ table: notes, key: "n" }));
  await say("which writes nothing", () => read.commit([{ writes: [] }]));
  await say("nor leases", () => read.lease({ names: ["n"], holder: "h", now: () => 1, leaseMs: 1 }));
  await read.close();
  const memory = await sqliteStorage(":memory:");
  const engine = createEngine({ storage: memory, workflows: [] });
  await say("in memory", () => engine.read("nobody"));
  await memory.close();
}

const storage = await sqliteStorage(FILE);
await rows(storage);
await queries(storage);
await transactions(storage);
await opening();
await storage.close();
await say("closed twice", () => storage.close());
await say("asked behind its close", () => storage.load("nobody"));
await handles();
if (process.argv[3] !== "no copies") {
  await say("a copy", () => backupSqlite(FILE, "copy.db"));
  await say("a copy of nothing", () => backupSqlite("none.db", "nothing.db"));
  await say("a copy over a file", () => backupSqlite(FILE, "copy.db"));
}
