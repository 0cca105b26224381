/** Retention of private orders: what is over and at rest for a year goes to the archive, and a stub stays. */
// modules: private
import { describe, expect, test } from "vitest";
import { setup } from "xstate";
import { createEngine, workflow, type Engine } from "../../../src/engine/index.ts";
import type { OrderFacts } from "../../../src/payments/private/protocol/facts.ts";
import { keepOption } from "../../../src/payments/frame/retention/keep.ts";
import { goesWithNotice } from "../../../src/payments/webhooks/old-deliveries.ts";
import { noticeRemovals } from "../../../src/payments/frame/retention/old-notices.ts";
import { oldOrders } from "../../../src/payments/private/old-orders.ts";
import type { ArchivedRow } from "../../../src/payments/frame/retention/removal.ts";
import type { PaymentStorage, PaymentWrite, PaymentTables } from "../../../src/payments/payment-storage.ts";
import type { TransactionRecord } from "../../../src/payments/frame/tables/orders.ts";
import type { OrderRecord } from "../../../src/payments/private/tables.ts";
import { silentLogger } from "../../../src/core/runtime.ts";
import { fullRows } from "../../contracts/storage/rows.ts";
import { memoryStorage } from "../../kit/storages.ts";
import { virtualClock, type VirtualClock } from "../../kit/virtual-clock.ts";
import { oldRows } from "../../../src/payments/frame/retention/old-rows.ts";
import { goneOf } from "./passing.ts";

const DAY = 86_400_000;
const YEAR = 365 * DAY;
const BEGAN = 100 * DAY;
const ID = `tx_${BEGAN.toString(16).padStart(12, "0")}${"0".repeat(20)}`;
const SENT = "tr_1";

/** Like the charts of orders and transfers: the first one hears of late money for ever, the second one ends. */
const order = workflow(
  setup({ types: { events: {} as { type: "LATE" | "EMPTY" } } }).createMachine({
    id: "private-order",
    initial: "idle",
    states: { idle: { on: { LATE: "resting" } }, resting: { on: { EMPTY: "idle" } } },
  }),
)({ version: 1 });
const transfer = workflow(
  setup({}).createMachine({ id: "order-transfer", initial: "done", states: { done: { type: "final" } } }),
)({ version: 1 });

/** What the chain shows at its address. */
type Shown = Pick<OrderFacts, "worth" | "levels" | "isUnclear">;

const BARE: Shown = { worth: "nothing", levels: [], isUnclear: false };

interface Drawn {
  readonly shown?: Shown;
  readonly transaction?: Partial<TransactionRecord>;
  readonly order?: Partial<OrderRecord>;
  readonly more?: readonly PaymentWrite[];
}

const ORDER: OrderRecord = {
  ...fullRows.orders,
  id: ID,
  state: "over",
  overState: "idle",
  ends: null,
  createdAt: BEGAN,
};

const OVER: TransactionRecord = {
  ...fullRows.transactions,
  id: ID,
  mode: "private",
  type: "send",
  status: "completed",
  attention: null,
  landedAfterCancel: false,
  createdAt: BEGAN,
};

const own = { order: ID };

const REST: readonly PaymentWrite[] = [
  { table: "recipients", insert: { ...fullRows.recipients, id: `${ID}:0`, transactionId: ID } },
  { table: "chunks", insert: { ...fullRows.chunks, ...own } },
  { table: "transfers", insert: { ...fullRows.transfers, ...own, id: SENT, state: "done" } },
  { table: "levels", insert: { ...fullRows.levels, ...own, missing: 0n, short: false } },
  { table: "deposits", insert: { ...fullRows.deposits, ...own } },
  { table: "holds", insert: { ...fullRows.holds, ...own, endedAt: 1 } },
  { table: "acts", insert: { ...fullRows.acts, ...own, state: "done" } },
  { table: "attempts", insert: { ...fullRows.attempts, transactionId: ID, transfer: SENT } },
  { table: "reservations", insert: { ...fullRows.reservations, id: ID, releasedAt: 1 } },
  { table: "reservations", insert: { ...fullRows.reservations, id: `${ID}:share`, releasedAt: 1 } },
  { table: "notices", insert: { ...fullRows.notices, transactionId: ID, createdAt: BEGAN } },
  // modules: webhooks
  { table: "announcements", insert: { id: fullRows.notices.id, accountId: "account", at: BEGAN } },
];

interface Kept {
  readonly storage: PaymentStorage;
  readonly clock: VirtualClock;
  readonly engine: Engine<PaymentTables>;
  readonly archived: ArchivedRow[];
  /** The orders that were told to look. */
  readonly woken: string[];
  /** One pass over all orders: how many are gone. */
  pass(): Promise<number>;
}

/** An order that has ended at once, and its rows. */
async function kept({
  transaction = {},
  order: row = {},
  more = [],
  shown = BARE,
}: Drawn = {}): Promise<Kept> {
  const storage = await memoryStorage();
  const clock = virtualClock(BEGAN);
  const engine = createEngine<PaymentTables>({
    storage,
    workflows: [order, transfer],
    clock,
    logger: silentLogger,
  });
  await engine.start(order, { id: ID, input: undefined });
  await engine.start(transfer, { id: SENT, input: undefined });
  const writes: PaymentWrite[] = [
    { table: "transactions", insert: { ...OVER, ...transaction } },
    { table: "orders", insert: { ...ORDER, ...row } },
    ...REST,
    ...more,
  ];
  expect(await storage.commit([{ writes }])).toEqual([{ ok: true }]);
  const archived: ArchivedRow[] = [];
  const woken: string[] = [];
  const parts = {
    storage,
    clock,
    archive: async (each: readonly ArchivedRow[]) => void archived.push(...each),
    archiveDeadlineMs: 1_000,
    noticeRemovals: noticeRemovals({
      storage,
      goesWith: [
        goesWithNotice(storage), // modules: webhooks
      ],
    }),
    stopInstance: (id: string) => engine.stopInstance(id),
    look: async () => ({ facts: shown as OrderFacts }),
    wake: async (id: string) => woken.push(id),
  };
  const rows = oldRows(parts, oldOrders(parts, YEAR));
  return {
    storage,
    clock,
    engine,
    archived,
    woken,
    pass: () => goneOf(rows, clock.now() - YEAR),
  };
}

const STUB = {
  id: ID,
  address: ORDER.address,
  masterVersion: ORDER.masterVersion,
  createdAt: BEGAN,
  layout: 1,
  sender: ORDER.sender,
  mint: ORDER.mint,
  chunks: ORDER.cut.length,
  rentPerByte: ORDER.rentPerByte,
  windowEnds: ORDER.windowEnds,
  loanBack: ORDER.loanBack,
  status: "completed",
};

describe("retention of private orders", () => {
  test("after a year of rest all rows go, archived before, and a stub stays by which late money is sent back", async () => {
    const { storage, clock, archived, pass } = await kept();
    clock.advance(YEAR - 1);
    expect(await pass()).toBe(0);
    expect(await storage.orderStub(ID)).toBeNull();
    clock.advance(1);
    expect(await pass()).toBe(1);
    expect(await storage.orderStub(ID)).toEqual(STUB);
    expect([await storage.transaction(ID), await storage.order(ID), await storage.load(ID)]).toEqual([
      null,
      null,
      null,
    ]);
    expect([await storage.load(SENT), await storage.transfer(SENT), await storage.reservation(ID)]).toEqual([
      null,
      null,
      null,
    ]);
    expect(await storage.reservation(`${ID}:share`)).toBeNull();
    expect(await storage.notices(ID)).toEqual([]);
    // The chain is compared with what was signed for as long as there is a database.
    expect(await storage.attempts([fullRows.attempts.id])).toMatchObject([{ transfer: null, legs: null }]);
    const tables = new Set(archived.map(({ table }) => table));
    const told = REST.map(({ table }): string => table).filter((table) => table !== "announcements");
    expect([...tables]).toEqual(expect.arrayContaining(told));
    for (const table of ["transactions", "orders", "instances", "history"]) expect(tables).toContain(table);
  });

  const stays: Readonly<Record<string, Drawn>> = {
    "is not over": { transaction: { status: "processing" } },
    "waits for a person": { transaction: { attention: "unprovable" } },
    "is still returning money": { order: { overState: "resting" } },
    "has an end that nobody was told": { order: { ends: { status: "failed", reason: null } } },
    "is held": {
      more: [{ table: "holds", insert: { ...fullRows.holds, ...own, id: "open", endedAt: null } }],
    },
    "misses money": {
      more: [
        { table: "levels", insert: { ...fullRows.levels, ...own, id: "short", missing: 1n, short: true } },
      ],
    },
    "has something to send": {
      more: [{ table: "transfers", insert: { ...fullRows.transfers, ...own, id: "out", state: "out" } }],
    },
    "has money in an account that does not count": {
      more: [
        {
          table: "deposits",
          insert: { ...fullRows.deposits, ...own, id: "stray", leftAt: null, decimals: 6, amount: 1_000n },
        },
      ],
    },
    "has an act that a person has approved": {
      more: [{ table: "acts", insert: { ...fullRows.acts, ...own, id: "open", state: "open" } }],
    },
    "was just told": {
      more: [
        {
          table: "notices",
          insert: { ...fullRows.notices, id: "new", transactionId: ID, createdAt: BEGAN + YEAR },
        },
      ],
    },
  };
  for (const [why, drawn] of Object.entries(stays)) {
    test(`an order stays that ${why}`, async () => {
      const { storage, clock, archived, pass } = await kept(drawn);
      clock.advance(YEAR);
      expect(await pass()).toBe(0);
      expect(await storage.order(ID)).not.toBeNull();
      expect((await storage.load(ID))?.status).toBe("active");
      expect(archived).toEqual([]);
    });
  }

  test.for([
    ["something lies there", { ...BARE, worth: "worth" }],
    ["something waits there for a price", { ...BARE, worth: "waiting_for_price" }],
    ["endpoints differ about it", { ...BARE, worth: null }],
    ["more has come than its rows know", { ...BARE, levels: [{ judgement: { news: "deposit" } }] as never }],
    ["its markers are unclear", { ...BARE, isUnclear: true }],
  ] as const)("an order stays, and looks itself, where %s", async ([, shown]) => {
    const { storage, clock, woken, archived, pass } = await kept({ shown });
    clock.advance(YEAR);
    expect([await pass(), woken, archived]).toEqual([0, [ID], []]);
    expect((await storage.load(ID))?.status).toBe("active");
  });

  test("dust that is not worth its cost goes with its order", async () => {
    const { clock, pass } = await kept({ shown: { ...BARE, worth: "not_worth" } });
    clock.advance(YEAR);
    expect(await pass()).toBe(1);
  });

  test.for([
    [999n, 1],
    [1_000n, 0],
  ] as const)(
    "C73: %s base units of a stranger's in an account that does not count keep no order, as nobody is told of them: %s",
    async ([amount, gone]) => {
      const insert = { ...fullRows.deposits, ...own, id: "stray", leftAt: null, decimals: 6, amount };
      const { clock, pass } = await kept({ more: [{ table: "deposits", insert }] });
      clock.advance(YEAR);
      expect(await pass()).toBe(gone);
    },
  );

  test("late money begins the year anew", async () => {
    const { storage, clock, engine, pass } = await kept();
    clock.advance(300 * DAY);
    await engine.send(order, ID, { type: "LATE" });
    await engine.send(order, ID, { type: "EMPTY" });
    clock.advance(100 * DAY);
    expect(await pass()).toBe(0);
    expect((await storage.load(ID))?.status).toBe("active");
  });

  test("a pass that dies between the end of the chart and the removal is gone on with by the next", async () => {
    const { storage, clock, engine, pass } = await kept({ shown: { ...BARE, worth: "worth" } });
    clock.advance(YEAR);
    await engine.stopInstance(ID);
    expect(await pass()).toBe(1);
    expect(await storage.orderStub(ID)).toEqual(STUB);
  });

  test("a change between the look and the removal keeps the order", async () => {
    const { storage, clock, pass, archived } = await kept();
    clock.advance(YEAR);
    const write: PaymentWrite = {
      table: "orders",
      id: ID,
      set: { reason: "found" },
      expectedVersion: ORDER.version,
    };
    // The archive is asked behind the look and before the removal.
    archived.push = (...rows) => {
      void storage.commit([{ writes: [write] }]);
      return rows.length;
    };
    expect(await pass()).toBe(0);
    expect(await storage.order(ID)).toMatchObject({ reason: "found" });
    expect(await storage.orderStub(ID)).toBeNull();
    expect((await storage.load(ID))?.status).toBe("active");
  });

  test("an order whose rows the archive does not take hears of late money as before", async () => {
    const { storage, clock, archived, pass } = await kept();
    clock.advance(YEAR);
    archived.push = () => {
      throw new Error("the archive is full");
    };
    await expect(pass()).rejects.toThrow("the archive is full");
    expect((await storage.load(ID))?.status).toBe("active");
  });

  test("orders are kept for good by default, and for a year at least", () => {
    expect(keepOption.parse({}).private).toBeNull();
    expect(keepOption.parse({ private: "365d" }).private).toBe(YEAR);
    expect(() => keepOption.parse({ private: "364d" })).toThrow(/365d|year|at least/);
  });
});
