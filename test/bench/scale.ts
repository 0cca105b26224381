/** What is asked, and what goes through everything, beside a thousand, a hundred thousand and, with `--sizes`, a million finished orders. */
import BetterSqlite from "better-sqlite3";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { paymentStorage, type PaymentStorage } from "../../src/payments/payment-storage.ts";
import { SCOPES } from "../../src/payments/accounts/caller.ts";
import { postgresStorage } from "../../storage/postgres.ts";
import { postgresPrograms, startPostgres, type PostgresServer } from "../kit/postgres-server.ts";
import { serviceFixture } from "../kit/service-fixture.ts";
import { sqliteStorage } from "../kit/storages.ts";
import { quoted } from "../../storage/sql/statement.ts";
import { serverCpuMs } from "./server-cpu.ts";
import { copyOfId, fillPostgres, fillSqlite, type Filling } from "./copy-orders.ts";
import { median, type Report, timed } from "./figures.ts";
import { type FinishedOrders, finishedOrders } from "./finished-orders.ts";
import { type Operation, operations, type Opened } from "./scale-operations.ts";
import { passesThroughAll } from "./scale-passes.ts";
import { storedBytes } from "./stored-bytes.ts";
import { COUNTED, type Counting, pagesOfFile, pagesOfServer, type Touched } from "./touched.ts";

const SIZES = [1_000, 100_000];
const ROUNDS = 5;
const CALLS_A_ROUND = 7;
const COUNTED_CALLS = 5;
/** Of many accounts, so many orders each: a page of one is as long beside any number of others. */
const ORDERS_OF_EACH = 100;
const MOST_ACCOUNTS = 10_000;

/** One more than a round number, which is prime to the number of finished orders: each account gets copies of all of them. */
const accountsFor = (orders: number): number =>
  Math.min(MOST_ACCOUNTS, Math.ceil(orders / ORDERS_OF_EACH)) + 1;

/** An open database, and what counts what is touched of it. */
interface OpenedDatabase {
  readonly storage: PaymentStorage;
  readonly counting: Counting;
  close(): Promise<void>;
}

/** A database that is filled before its service opens it. */
interface Database {
  readonly name: string;
  fill(place: string, finished: FinishedOrders, filling: Filling): Promise<void>;
  open(place: string): Promise<OpenedDatabase>;
  /** The path of its file; null on a server. */
  file(place: string): string | null;
  drop(place: string): Promise<void>;
  /** What this process, and the server, have computed so far. */
  cpuMs(): number;
  /** Bytes of each table and index. */
  bytes(place: string): ReturnType<typeof storedBytes>;
}

function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

const sqlite = (folder: string): Database => {
  const file = (place: string): string => join(folder, `${place}.db`);
  return {
    name: "SQLite",
    fill: (place, finished, filling) => fillSqlite(file(place), finished, filling),
    async open(place) {
      const handle = new BetterSqlite(file(place), { timeout: 0 });
      const storage = await sqliteStorage(handle);
      const close = async (): Promise<void> => {
        await storage.close();
        handle.close();
      };
      return { storage, counting: pagesOfFile(handle), close };
    },
    file,
    async drop(place) {
      for (const ending of ["", "-wal", "-shm"]) rmSync(`${file(place)}${ending}`, { force: true });
    },
    cpuMs: ownCpuMs,
    bytes: (place) => storedBytes({ file: file(place) }),
  };
};

const postgres = ({ url, process: server }: PostgresServer): Database => ({
  name: "PostgreSQL",
  fill: (schema, finished, filling) => fillPostgres({ url, schema }, finished, filling),
  async open(schema) {
    const storage = paymentStorage(await postgresStorage(url, { schema, clock: "caller" }));
    // Tables are made before their first use.
    await storage.fact("");
    return { storage, counting: pagesOfServer(url), close: () => storage.close() };
  },
  file: () => null,
  async drop(schema) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(`drop schema ${quoted(schema)} cascade`);
    await client.end();
  },
  cpuMs: () => ownCpuMs() + (serverCpuMs(server().pid ?? 0) ?? 0),
  bytes: (schema) => storedBytes({ url, schema }),
});

/** Ratios of each operation, then the rates of what goes through everything. */
export async function benchScale(
  report: Report,
  { sizes, database }: { readonly sizes?: string; readonly database?: string },
): Promise<void> {
  const wanted = sizes === undefined ? SIZES : sizes.split(",").map(Number);
  if (!wanted.every((size) => Number.isSafeInteger(size) && size > 0)) {
    throw new Error(`--sizes ${sizes ?? ""}: expected numbers of orders, such as 1000,100000,1000000`);
  }
  const finished = await finishedOrders();
  if (database !== "postgres") await withinSqlite(report, { finished, sizes: wanted });
  if (database === "sqlite" || postgresPrograms() === null) return;
  await withinPostgres(report, { finished, sizes: wanted });
}

async function withinSqlite(report: Report, given: Given): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  try {
    await within(report, sqlite(folder), given);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function withinPostgres(report: Report, given: Given): Promise<void> {
  const server = await startPostgres({
    fsync: "on",
    full_page_writes: "on",
    max_wal_size: "4GB",
    shared_buffers: "512MB",
    ...COUNTED,
  });
  try {
    await within(report, postgres(server), given);
  } finally {
    await server.stop();
  }
}

interface Given {
  readonly finished: FinishedOrders;
  readonly sizes: readonly number[];
}

async function within(report: Report, database: Database, { finished, sizes }: Given): Promise<void> {
  for (const isSpread of [false, true]) {
    const worlds: Opened[] = [];
    for (const orders of sizes) {
      const accounts = isSpread ? accountsFor(orders) : 1;
      worlds.push(await openFilled(report, database, { finished, filling: { orders, accounts } }));
    }
    const owners = isSpread ? "many accounts" : "one account";
    await compare(report, worlds, `${database.name}, ${owners}`);
    // Removals come last, and once: they leave nothing to read.
    if (!isSpread) for (const world of worlds) await passesThroughAll(report, world);
    for (const { place, world, close } of worlds) {
      await world.fixture.close();
      await close();
      await database.drop(place);
    }
  }
}

interface Wanted {
  readonly finished: FinishedOrders;
  readonly filling: Filling;
}

async function openFilled(
  report: Report,
  database: Database,
  { finished, filling }: Wanted,
): Promise<Opened> {
  const { orders, accounts } = filling;
  const place = `scale_${accounts}_${orders}`;
  const name = `${database.name}, ${orders.toLocaleString("en")} orders of ${accounts.toLocaleString("en")}`;
  await (await database.open(place)).close();
  const { seconds } = await timed(() => database.fill(place, finished, filling));
  const bytes = await database.bytes(place);
  report({
    name: `${name}: filled`,
    perSecond: orders / seconds,
    "bytes an order": Math.round(bytes.total / orders),
    "rows an order": finished.orders.reduce((sum, { rows }) => sum + rows.length, 0) / finished.orders.length,
  });
  report({ name: `${name}: bytes an order`, ...bytes.of(orders) });
  const { storage, counting, close } = await database.open(place);
  const fixture = await serviceFixture({ storage });
  const [order] = finished.orders.slice(1);
  const [accountId = ""] = finished.account.own;
  const whole = { accountId: copyOfId(accountId, { n: 0, orders: 0 }), tier: "enterprise" } as const;
  const caller = { ...whole, scopes: SCOPES };
  for (const { webhookId } of (await fixture.service.webhooks(caller)).webhooks) {
    // What is sent while it is measured is told to nobody.
    await fixture.service.deleteWebhook(caller, webhookId);
  }
  const half = orders / 2 - ((orders / 2) % accounts);
  const kind = (half - 1 + finished.orders.length) % finished.orders.length;
  const [transaction = ""] = (finished.orders[kind] ?? order)?.own ?? [];
  const middle = copyOfId(transaction, { n: half, orders });
  const { recipients } = await fixture.service.transaction(caller, middle);
  const world = { fixture, caller, middle, payee: recipients[0]?.address ?? "" };
  const file = database.file(place);
  return { name, place, orders, file, cpuMs: database.cpuMs, storage, counting, close, world };
}

/** Milliseconds of each call. */
async function measured({ world }: Opened, operation: Operation, calls: number): Promise<readonly number[]> {
  const taken: number[] = [];
  for (let call = 0; call < calls; call++) {
    const act = await operation(world);
    taken.push((await timed(act)).seconds * 1e3);
    await world.fixture.service.settled();
  }
  return taken;
}

/** The least of some calls: work that goes on behind a call before may touch something, too. */
async function touchedBy({ world, counting }: Opened, operation: Operation): Promise<string> {
  const counted: Touched[] = [];
  for (let call = 0; call < COUNTED_CALLS; call += 1) {
    counted.push(await counting(await operation(world)));
    await world.fixture.service.settled();
  }
  const least = (of: (touched: Touched) => number | null): number =>
    Math.min(...counted.map((each) => of(each) ?? 0));
  const rows = counted.some((each) => each.rows === null) ? "" : `, ${least((each) => each.rows)} rows`;
  return `${least(({ pages }) => pages)} pages${rows}`;
}

/** In turns, so that what else the machine does meets every size alike. */
async function compare(report: Report, worlds: readonly Opened[], name: string): Promise<void> {
  for (const [operation, act] of Object.entries(operations)) {
    if (act === undefined) continue;
    const cold: number[] = [];
    for (const world of worlds) cold.push(...(await measured(world, act, 1)));
    const warm = worlds.map((): number[] => []);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, world] of worlds.entries()) {
        warm[index]?.push(median(await measured(world, act, CALLS_A_ROUND)));
      }
    }
    const medians = warm.map(median);
    const touched: string[] = [];
    for (const world of worlds) touched.push(await touchedBy(world, act));
    const figures = worlds.map(({ orders }, index): [string, string] => {
      const times = (medians[index] ?? 0) / (medians[0] ?? 1);
      const first = (cold[index] ?? 0).toFixed(1);
      return [
        orders.toLocaleString("en"),
        `${(medians[index] ?? 0).toFixed(2)} ms, ${times.toFixed(2)} times, first ${first}, ${touched[index] ?? ""}`,
      ];
    });
    report({ name: `${name}: ${operation}`, ...Object.fromEntries<string>(figures) });
    for (const { world } of worlds) await world.fixture.finalize();
  }
}
