/** What is asked, and what goes through everything, beside a thousand, a hundred thousand and, with `--sizes`, a million finished orders. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { paymentStorage, type PaymentStorage } from "../../src/payments/payment-storage.ts";
import { SCOPES } from "../../src/payments/accounts/caller.ts";
import { postgresStorage } from "../../storage/postgres.ts";
import { postgresPrograms, startPostgres, type PostgresServer } from "../kit/postgres-server.ts";
import { serviceFixture } from "../kit/service-fixture.ts";
import { sqliteStorage } from "../kit/storages.ts";
import { copyOfId, fillPostgres, fillSqlite, type Filling } from "./copy-orders.ts";
import { median, type Report, timed } from "./figures.ts";
import { type FinishedOrders, finishedOrders } from "./finished-orders.ts";
import { operations, type Opened } from "./scale-operations.ts";
import { passesThroughAll } from "./scale-passes.ts";
import { storedBytes } from "./stored-bytes.ts";

const SIZES = [1_000, 100_000];
const ROUNDS = 5;
const CALLS_A_ROUND = 7;
/** Of many accounts, so many orders each: a page of one is as long beside any number of others. */
const ORDERS_OF_EACH = 100;
const MOST_ACCOUNTS = 10_000;

/** One more than a round number, which is prime to the number of finished orders: each account gets copies of all of them. */
const accountsFor = (orders: number): number =>
  Math.min(MOST_ACCOUNTS, Math.ceil(orders / ORDERS_OF_EACH)) + 1;

/** A database that is filled before its service opens it. */
interface Database {
  readonly name: string;
  fill(place: string, finished: FinishedOrders, filling: Filling): Promise<void>;
  open(place: string): Promise<PaymentStorage>;
  /** The path of its file; null on a server. */
  file(place: string): string | null;
  /** Bytes of each table and index. */
  bytes(place: string): ReturnType<typeof storedBytes>;
}

const sqlite = (folder: string): Database => {
  const file = (place: string): string => join(folder, `${place}.db`);
  return {
    name: "SQLite",
    fill: (place, finished, filling) => fillSqlite(file(place), finished, filling),
    open: (place) => sqliteStorage(file(place)),
    file,
    bytes: (place) => storedBytes({ file: file(place) }),
  };
};

const postgres = ({ url }: PostgresServer): Database => ({
  name: "PostgreSQL",
  fill: (schema, finished, filling) => fillPostgres({ url, schema }, finished, filling),
  async open(schema) {
    const storage = paymentStorage(await postgresStorage(url, { schema, clock: "caller" }));
    // Tables are made before their first use.
    await storage.fact("");
    return storage;
  },
  file: () => null,
  bytes: (schema) => storedBytes({ url, schema }),
});

/** Ratios of each operation, then the rates of what goes through everything. */
export async function benchScale(report: Report, { sizes }: { readonly sizes?: string }): Promise<void> {
  const wanted = sizes === undefined ? SIZES : sizes.split(",").map(Number);
  if (!wanted.every((size) => Number.isSafeInteger(size) && size > 0)) {
    throw new Error(`--sizes ${sizes ?? ""}: expected numbers of orders, such as 1000,100000,1000000`);
  }
  const finished = await finishedOrders();
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  try {
    await within(report, sqlite(folder), { finished, sizes: wanted });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (postgresPrograms() === null) return;
  const server = await startPostgres({
    fsync: "on",
    full_page_writes: "on",
    max_wal_size: "4GB",
    shared_buffers: "512MB",
  });
  try {
    await within(report, postgres(server), { finished, sizes: wanted });
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
    for (const { world, storage } of worlds) {
      await world.fixture.close();
      await storage.close();
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
  const storage = await database.open(place);
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
  return { name, orders, file: database.file(place), storage, world };
}

/** Milliseconds of each call. */
async function measured(
  { world }: Opened,
  operation: (typeof operations)[string],
  calls: number,
): Promise<readonly number[]> {
  const taken: number[] = [];
  for (let call = 0; call < calls; call++) {
    const act = await operation(world);
    taken.push((await timed(act)).seconds * 1e3);
    await world.fixture.service.settled();
  }
  return taken;
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
    const figures = worlds.map(({ orders }, index): [string, string] => {
      const times = (medians[index] ?? 0) / (medians[0] ?? 1);
      const first = (cold[index] ?? 0).toFixed(1);
      return [
        orders.toLocaleString("en"),
        `${(medians[index] ?? 0).toFixed(2)} ms, ${times.toFixed(2)} times, first ${first}`,
      ];
    });
    report({ name: `${name}: ${operation}`, ...Object.fromEntries<string>(figures) });
    for (const { world } of worlds) await world.fixture.finalize();
  }
}
