/**
 * Orders that were really carried out, row by row: what a filled database holds copies of. The rows are found by the
 * declared tables, so a changed schema changes what is copied.
 */
// modules: webhooks
import { join } from "node:path";
import Database from "better-sqlite3";
import { engineTables } from "../../storage/engine-tables.ts";
import { fieldsOf, type Field } from "../../storage/row.ts";
import type { AnyTable } from "../../storage/table.ts";
import { paymentTables } from "../../src/payments/payment-storage.ts";
import { passed } from "../payments/retention/passing.ts";
import { webhookWorld, type WebhookWorld } from "../payments/webhooks/webhook-world.ts";

/** A stored value, as SQLite has it. */
export type Cell = string | number | Uint8Array | null;

/** A row, and the table that declares it. */
export interface Row {
  readonly table: string;
  readonly fields: readonly Field[];
  readonly cells: Readonly<Record<string, Cell>>;
}

/** Rows that belong together, and the texts in them that a copy has to have of its own. */
export interface RowGroup {
  readonly rows: readonly Row[];
  readonly own: readonly string[];
}

/** A few finished orders of one account, and the account. */
export interface FinishedOrders {
  readonly orders: readonly RowGroup[];
  readonly account: RowGroup;
}

/** A table, under the name that a schema of PostgreSQL has it by. */
interface FoundTable {
  readonly name: string;
  readonly fields: readonly Field[];
  /** Fields whose value no other row has. */
  readonly identifying: readonly string[];
  /** Whether its rows count for a time only. */
  readonly isWindow: boolean;
}

const ORDERS = 10;
/** One of so many is cancelled by its caller. */
const CANCELLED_EVERY = 10;
/** Long enough to cancel one. */
const BROADCAST_DELAY_MS = 2_000;
const SLOTS_UNTIL_BYTES_EXPIRE = 300;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const FUNDS = { lamports: 1_000_000_000n, usdc: 50_000_000n };

/** Wallet sends of an account with one webhook, all of them over; one is cancelled, and some have a reference. */
export async function finishedOrders(): Promise<FinishedOrders> {
  const world = await webhookWorld({ broadcastDelayMs: BROADCAST_DELAY_MS });
  try {
    await world.register();
    const ids: string[] = [];
    for (let index = 0; index < ORDERS; index++) ids.push(await send(world, index));
    await world.fixture.pass(BROADCAST_DELAY_MS);
    await world.fixture.finalize();
    // Until then the chain might still take what was cancelled.
    world.fixture.chain.advance(SLOTS_UNTIL_BYTES_EXPIRE);
    await world.fixture.pass(MINUTE_MS);
    // What is let go by default is gone.
    world.fixture.clock.advance(2 * HOUR_MS);
    const { service, clock } = world.fixture;
    await passed(clock, async () => (await service.health()).retention?.lastPassAt);
    return readOrders(join(world.folder, "payments.db"), ids, world.caller.accountId);
  } finally {
    await world.close();
  }
}

async function send({ fixture, caller }: WebhookWorld, index: number): Promise<string> {
  const from = fixture.wallet("alice", FUNDS);
  const { address: to } = fixture.wallet("bob");
  const { body } = await fixture.prepareSend(caller, { from, to, amount: `1.${index + 1}` });
  const reference = index % 2 === 0 ? { reference: `invoice-${index}` } : {};
  const idempotencyKey = `order-${index}`;
  const request = { ...body, ...reference, recipients: [...body.recipients] };
  const { transactionId } = (await fixture.service.createTransaction(caller, request, { idempotencyKey }))
    .body;
  if (index % CANCELLED_EVERY === 0) await fixture.service.cancelTransaction(caller, transactionId);
  fixture.clock.advance(1_000);
  return transactionId;
}

function declaredTables(): readonly FoundTable[] {
  const engine = Object.entries(engineTables).map(([name, { columns, key = ["id"] }]) => ({
    name,
    fields: fieldsOf({ columns }),
    identifying: key.length === 1 ? key : [],
    isWindow: false,
  }));
  // Tasks that took long are told by the engine's own table: they tell of the machine, and not of the order.
  const given = Object.values<AnyTable>(paymentTables).map((table) => ({
    name: table.sqlName,
    fields: fieldsOf(table),
    identifying: [table.key, ...table.unique],
    isWindow: table.group !== null && "since" in table.group,
  }));
  return [...engine, ...given];
}

interface FoundRow extends Row {
  readonly isWindow: boolean;
  readonly identifying: readonly string[];
}

function rowsIn(path: string): readonly FoundRow[] {
  const database = new Database(path, { readonly: true });
  try {
    const names = database.prepare("select name from sqlite_master where type = 'table'").pluck().all();
    return declaredTables()
      .filter(({ name }) => names.includes(name))
      .flatMap(({ name: table, fields, identifying, isWindow }) =>
        database
          .prepare<[], Readonly<Record<string, Cell>>>(`select * from "${table}"`)
          .all()
          .map((cells) => ({ table, fields, cells, isWindow, identifying })),
      );
  } finally {
    database.close();
  }
}

function readOrders(path: string, ids: readonly string[], accountId: string): FinishedOrders {
  // What counts for a time only is forgotten with it, however many orders there were.
  const all = rowsIn(path).filter(({ isWindow }) => !isWindow);
  const taken = new Set<FoundRow>();
  const orders = ids.map((id) => groupAround(all, id, taken));
  const rest = all.filter((row) => !isOfAny(row, ids));
  return { orders, account: groupAround(rest, accountId, taken) };
}

/** All rows that name this one, or that name what such a row alone is called. */
function groupAround(all: readonly FoundRow[], id: string, taken: Set<FoundRow>): RowGroup {
  const own = new Set([id]);
  const rows: FoundRow[] = [];
  for (let size = -1; size < rows.length;) {
    size = rows.length;
    for (const row of all) {
      if (taken.has(row) || !isOfAny(row, [...own])) continue;
      taken.add(row);
      rows.push(row);
      for (const name of namesOf(row)) if (!isMadeOf(name, own)) own.add(name);
    }
  }
  return { rows, own: [...own] };
}

const textsOf = ({ cells }: Row): readonly string[] =>
  Object.values(cells).filter((cell) => typeof cell === "string");

const isOfAny = (row: Row, names: readonly string[]): boolean =>
  textsOf(row).some((text) => names.some((name) => text.includes(name)));

const namesOf = ({ cells, identifying }: FoundRow): readonly string[] =>
  identifying.map((field) => cells[field] ?? null).filter((cell) => typeof cell === "string");

/** Such as `<transaction>:0`: a copy of the part makes a copy of the whole. */
const isMadeOf = (name: string, own: ReadonlySet<string>): boolean =>
  [...own].some((part) => name.includes(part));
