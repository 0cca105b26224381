/** What is there costs nothing: what is asked beside a thousand finished orders, and beside many more. */
// modules: webhooks
import BetterSqlite from "better-sqlite3";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SCOPES } from "../../src/payments/frame/accounts/caller.ts";
import { paymentStorage, type PaymentStorage } from "../../src/payments/payment-storage.ts";
import { postgresStorage } from "../../storage/postgres.ts";
import { postgresPrograms, startPostgres } from "../kit/postgres-server.ts";
import { serviceFixture } from "../kit/service-fixture.ts";
import { sqliteStorage } from "../kit/storages.ts";
import { copyOfId, fillPostgres, fillSqlite, type Filling } from "../storage/copy-orders.ts";
import { finishedOrders, type FinishedOrders } from "../storage/finished-orders.ts";
import { median, report, timed } from "./figures.ts";
import { type FilledWorld, type Operation, operations } from "./scale-operations.ts";
import { COUNTED, type Counting, pagesOfFile, pagesOfServer } from "./touched.ts";

const SIZES = [1_000, 10_000];
const ROUNDS = 3;
const CALLS_A_ROUND = 5;
const COUNTED_CALLS = 3;
const SERVER = { fsync: "on", full_page_writes: "on", max_wal_size: "4GB", ...COUNTED };

/** A filled database, and what counts what is touched of it. */
interface Filled {
  readonly storage: PaymentStorage;
  readonly counting: Counting;
  close(): Promise<void>;
}

/** Makes one, under this name. */
type Fill = (name: string, filling: Filling) => Promise<Filled>;

/** A filled database with its service. */
interface Opened {
  readonly orders: number;
  readonly counting: Counting;
  readonly world: FilledWorld;
  close(): Promise<void>;
}

const inFile =
  (folder: string, finished: FinishedOrders): Fill =>
  async (name, filling) => {
    const file = join(folder, `${name}.db`);
    await (await sqliteStorage(file)).close();
    await fillSqlite(file, finished, filling);
    const handle = new BetterSqlite(file, { timeout: 0 });
    const storage = await sqliteStorage(handle);
    const close = async (): Promise<void> => {
      await storage.close();
      handle.close();
    };
    return { storage, counting: pagesOfFile(handle), close };
  };

const onServer =
  (url: string, finished: FinishedOrders): Fill =>
  async (schema, filling) => {
    const storage = paymentStorage(await postgresStorage(url, { schema, clock: "caller" }));
    // Tables are made before their first use.
    await storage.fact("");
    await fillPostgres({ url, schema }, finished, filling);
    return { storage, counting: pagesOfServer(url), close: () => storage.close() };
  };

async function opened(fill: Fill, finished: FinishedOrders, orders: number): Promise<Opened> {
  const { storage, counting, close } = await fill(`scale_${orders}`, { orders, accounts: 1 });
  const fixture = await serviceFixture({ storage });
  const accountId = copyOfId(finished.account.own[0] ?? "", { n: 0, orders: 0 });
  const caller = { accountId, tier: "enterprise", scopes: SCOPES } as const;
  for (const { webhookId } of (await fixture.service.webhooks(caller)).webhooks) {
    // What is sent while it is measured is told to nobody.
    await fixture.service.deleteWebhook(caller, webhookId);
  }
  const half = Math.floor(orders / 2);
  const kinds = finished.orders.length;
  const [transaction = ""] = finished.orders[(half - 1 + kinds) % kinds]?.own ?? [];
  const middle = copyOfId(transaction, { n: half, orders });
  const { recipients } = await fixture.service.transaction(caller, middle);
  const world = { fixture, caller, middle, payee: recipients[0]?.address ?? "" };
  return {
    orders,
    counting,
    world,
    async close() {
      await fixture.close();
      await close();
    },
  };
}

/** The median in milliseconds of some calls. */
async function measured({ world }: Opened, operation: Operation): Promise<number> {
  const taken: number[] = [];
  for (let call = 0; call < CALLS_A_ROUND; call += 1) {
    const act = await operation(world);
    taken.push((await timed(act)).seconds * 1e3);
    await world.fixture.service.settled();
  }
  return median(taken);
}

/** The least of some calls: work that goes on behind a call before may touch something, too. */
async function pagesOf({ world, counting }: Opened, operation: Operation): Promise<number> {
  const counted: number[] = [];
  for (let call = 0; call < COUNTED_CALLS; call += 1) {
    counted.push(await counting(await operation(world)));
    await world.fixture.service.settled();
  }
  return Math.min(...counted);
}

/** In turns, so that what else the machine does meets every size alike. */
async function compare(name: string, worlds: readonly Opened[]): Promise<void> {
  for (const [operation, act] of Object.entries(operations)) {
    const medians = worlds.map((): number[] => []);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [index, world] of worlds.entries()) medians[index]?.push(await measured(world, act));
    }
    const pages: string[] = [];
    for (const world of worlds) pages.push(String(await pagesOf(world, act)));
    const [first = NaN, ...others] = medians.map(median);
    report({
      name: `scale, ${name}: ${operation}`,
      ms: first,
      "times that beside more": others.map((ms) => (ms / first).toFixed(2)).join(", "),
      pages: pages.join(", "),
    });
    for (const { world } of worlds) await world.fixture.finalize();
  }
}

async function within(name: string, fill: Fill, { finished, sizes }: Given): Promise<void> {
  const worlds: Opened[] = [];
  for (const orders of sizes) {
    const { seconds, result } = await timed(() => opened(fill, finished, orders));
    report({ name: `scale, ${name}: ${orders.toLocaleString("en")} orders are there`, seconds });
    worlds.push(result);
  }
  await compare(name, worlds);
  for (const world of worlds) await world.close();
}

interface Given {
  readonly finished: FinishedOrders;
  readonly sizes: readonly number[];
}

/** Of one account, on both databases, beside each of `sizes`, as in "1000,1000000". */
export async function benchScale(sizes: string = SIZES.join(",")): Promise<void> {
  const given = { finished: await finishedOrders(), sizes: sizes.split(",").map(Number) };
  if (!given.sizes.every((size) => Number.isSafeInteger(size) && size > 0)) {
    throw new Error(`--sizes ${sizes}: expected numbers of orders, such as 1000,100000,1000000`);
  }
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  try {
    await within("SQLite", inFile(folder, given.finished), given);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (postgresPrograms() === null) return;
  const server = await startPostgres(SERVER);
  try {
    await within("PostgreSQL", onServer(server.url, given.finished), given);
  } finally {
    await server.stop();
  }
}
