/**
 * A host that places orders, each in a transaction with the start of its run and a message to it, of which it takes back
 * every second one. It says each order before its transaction, and dies without a word after so many statements.
 */
// modules: host-sql
import Sqlite from "better-sqlite3";
import pg from "pg";
import { createEngine, type Engine } from "paystate/engine";
import { postgresStorage } from "../../../storage/postgres.ts";
import { sqliteStorage } from "../../../storage/sqlite.ts";
import { type HostTables, notes, runsThat } from "../host-runs.ts";

const [place = "", schema = "", orders = "", from = "0", to = "0", dieAfter = "0"] = process.argv.slice(2);

const runs = runsThat(() => {});
let left = Number(dieAfter);

function mayDie(): void {
  left -= 1;
  if (left === 0) process.kill(process.pid, "SIGKILL");
}

const idOf = (number: number): string => `o-${String(number).padStart(5, "0")}`;
const endOf = (number: number): "commit" | "rollback" => (number % 2 === 0 ? "commit" : "rollback");
const say = (id: string): Promise<void> =>
  new Promise((resolve) => {
    process.stdout.write(`${id}\n`, () => resolve());
  });

async function placeOnSqlite(engine: Engine<HostTables>): Promise<void> {
  const host = new Sqlite(place);
  for (let number = Number(from); number < Number(to); number += 1) {
    const id = idOf(number);
    await say(id);
    host.exec("begin immediate");
    mayDie();
    host.prepare(`insert into ${orders} (id) values (?)`).run(id);
    mayDie();
    engine.start(runs, { id, input: { shop: "mitte" } }, { within: host });
    mayDie();
    engine.send(runs, id, { type: "PART", part: id }, { within: host });
    mayDie();
    host.exec(endOf(number));
    mayDie();
  }
  host.close();
}

async function placeOnPostgres(engine: Engine<HostTables>): Promise<void> {
  const host = new pg.Client(place);
  await host.connect();
  for (let number = Number(from); number < Number(to); number += 1) {
    const id = idOf(number);
    await say(id);
    await host.query("begin");
    mayDie();
    await host.query(`insert into ${orders} (id) values ($1)`, [id]);
    mayDie();
    await engine.start(runs, { id, input: { shop: "mitte" } }, { within: host });
    mayDie();
    await engine.send(runs, id, { type: "PART", part: id }, { within: host });
    mayDie();
    await host.query(endOf(number));
    mayDie();
  }
  await host.end();
}

const isOnSqlite = schema === "";
const storage = isOnSqlite ? await sqliteStorage(place) : await postgresStorage(place, { schema });
// Short, so that what a killed process held is soon taken over.
const engine = createEngine<HostTables>({ storage, workflows: [runs], tables: { notes }, leaseMs: 1_000 });
await engine.ready();
engine.run();
await (isOnSqlite ? placeOnSqlite(engine) : placeOnPostgres(engine));
await engine.stop();
await storage.close();
