/** Retention of payments over rows of every kind: what is open or needed stays, whatever else is old, and wherever it dies. */
// modules: webhooks
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { knownAddress } from "../../../src/core/address.ts";
import type { NoticeRecord } from "../../../src/payments/frame/tables/notices.ts";
import type { TransactionRecord } from "../../../src/payments/frame/tables/orders.ts";
import {
  type PaymentStorage,
  type PaymentWrite,
  type PaymentContext,
  paymentTables,
} from "../../../src/payments/payment-storage.ts";
import type { ArchivedRow } from "../../../src/payments/frame/retention/removal.ts";
import { PaymentRetentionLoop } from "../../../src/payments/frame/retention/payment-retention.ts";
import { deliveryIdOf } from "../../../src/payments/webhooks/delivery-runs.ts";
import { goesWithNotice } from "../../../src/payments/webhooks/old-deliveries.ts";
import { oldRowsOf } from "../../../src/service/old-rows.ts";
import { silentLogger, systemRandom, type Clock } from "../../../src/core/runtime.ts";
import { fullRows } from "../../contracts/storage/rows.ts";
import { startOf, taskOf, webhookOf } from "../../contracts/storage/samples.ts";
import { turns } from "../../kit/engine-world.ts";
import { mortalProcess, type Death } from "../../kit/mortal.ts";
import { memoryStorage } from "../../kit/storages.ts";
import { EXPLORING_MS, THOROUGH } from "../../kit/thorough.ts";
import { virtualClock, type VirtualClock } from "../../kit/virtual-clock.ts";
import { passed } from "./passing.ts";

const DAY = 86_400_000;
const NOW = 400 * DAY;
const KEEP = {
  transactions: 30 * DAY,
  private: null,
  notices: 10 * DAY,
  quotes: DAY,
  idempotencyAnswers: 30 * DAY,
};
const SPONSOR = knownAddress("So11111111111111111111111111111111111111112");

/** One transaction, and what there is of it. */
const lives = fc.record({
  ageDays: fc.nat(60),
  restedDays: fc.nat(60),
  mode: fc.constantFrom("wallet" as const, "private" as const),
  type: fc.constantFrom("send" as const, "payroll" as const, "swap" as const),
  status: fc.constantFrom<TransactionRecord["status"]>(
    "pending",
    "confirmed",
    "processing",
    "completed",
    "failed",
    "cancelled",
  ),
  reason: fc.constantFrom(null, "expired", "program_error"),
  attention: fc.constantFrom(null, null, "unprovable" as const),
  landedAfterCancel: fc.boolean(),
  isOwn: fc.boolean(),
  isActive: fc.boolean(),
  hasTask: fc.boolean(),
  delivery: fc.constantFrom("none", "pending", "delivered", "abandoned", "again"),
  isUsed: fc.boolean(),
});
type Life = typeof lives extends fc.Arbitrary<infer L> ? L : never;

const idAt = (prefix: string, at: number, index: number): string =>
  `${prefix}_${at.toString(16).padStart(12, "0")}${index.toString(16).padStart(20, "0")}`;

/** The ids of what belongs to one life. */
function idsOf({ ageDays }: Life, index: number) {
  const at = NOW - ageDays * DAY;
  return {
    at,
    transaction: idAt("tx", at, index),
    quote: idAt("quote", at, index),
    notice: idAt("evt", at, index),
    delivery: idAt("dlv", at, index),
    answer: `answer ${index}`,
  };
}

/** How a task of this instance went. */
async function put(storage: PaymentStorage, life: Life, index: number): Promise<void> {
  const ids = idsOf(life, index);
  const { at: createdAt, transaction: id } = ids;
  const restedAt = Math.max(createdAt, NOW - life.restedDays * DAY);
  const { mode, type, status, reason, attention, landedAfterCancel, delivery } = life;
  const own = { transactionId: id, accountId: "a" };
  const sender = life.isOwn ? SPONSOR : fullRows.transactions.sender;
  const told = { ...fullRows.notices, id: ids.notice, transactionId: id, createdAt } satisfies NoticeRecord;
  const sent = {
    ...fullRows.deliveries,
    ...own,
    id: ids.delivery,
    noticeId: ids.notice,
    webhookId: "gone",
    createdAt,
  };
  const ends = {
    none: null,
    pending: { status: "pending" as const, deliveredAt: null, abandonedAt: null },
    delivered: { status: "delivered" as const, deliveredAt: restedAt, abandonedAt: null },
    abandoned: { status: "abandoned" as const, deliveredAt: null, abandonedAt: restedAt },
    again: { status: "pending" as const, deliveredAt: null, abandonedAt: restedAt },
  }[delivery];
  const writes: PaymentWrite[] = [
    {
      table: "transactions",
      insert: {
        ...fullRows.transactions,
        id,
        accountId: "a",
        quoteId: ids.quote,
        mode,
        type,
        status,
        reason,
        attention,
        landedAfterCancel,
        sender,
        signature: `sig ${index}`,
        createdAt,
      },
    },
    { table: "recipients", insert: { ...fullRows.recipients, ...own, id: `${id}:0`, createdAt } },
    {
      table: "attempts",
      insert: { ...fullRows.attempts, id: `sig ${index}`, messageHash: `hash ${index}`, transactionId: id },
    },
    {
      table: "quotes",
      insert: {
        ...fullRows.quotes,
        id: ids.quote,
        version: 1,
        createdAt,
        expiresAt: createdAt + 30_000,
        closedAt: null,
        usedBy: life.isUsed ? id : null,
      },
    },
    { table: "notices", insert: told },
    { table: "announcements", insert: { id: ids.notice, accountId: "a", at: createdAt } },
    {
      table: "idempotency",
      insert: { id: ids.answer, fingerprint: "f", answer: JSON.stringify({ transactionId: id }), createdAt },
    },
    ...(ends === null
      ? []
      : ([
          { table: "deliveries", insert: { ...sent, ...ends } },
          {
            table: "deliveryAttempts",
            insert: { ...fullRows.deliveryAttempts, id: `${ids.delivery}:1`, deliveryId: ids.delivery },
          },
        ] as const)),
  ];
  const instance = { status: life.isActive ? ("active" as const) : ("done" as const), createdAt: restedAt };
  const runs = ends?.status === "pending" ? [startOf(ids.delivery, { createdAt: restedAt })] : [];
  const arms = life.hasTask ? [{ task: taskOf(`${id}:1:0`, { instance: id, dueAt: NOW * 2 }) }] : [];
  const starts = [startOf(id, instance), ...runs];
  expect(await storage.commit([{ starts, writes, arms }])).toEqual([{ ok: true }]);
}

/** Told independently of the code: what may be gone of a life once everything was looked at. */
function mayGo(life: Life) {
  const { ageDays, restedDays, status, reason, attention, landedAfterCancel, delivery } = life;
  const rested = Math.min(ageDays, restedDays);
  const isOver = status === "completed" || status === "failed" || status === "cancelled";
  const isSent = delivery === "none" || delivery === "delivered" || delivery === "abandoned";
  const isToldFor = (days: number): boolean =>
    ageDays >= days && isOver && isSent && (delivery === "none" || rested >= days);
  const isProven = attention === null && (status !== "failed" || reason !== "expired" || landedAfterCancel);
  const isForeign = life.mode === "wallet" && life.type !== "swap" && !life.isOwn;
  const isEnded = !life.isActive && !life.hasTask && rested >= 30;
  const transaction = isForeign && isOver && isProven && isEnded && (isToldFor(30) || isToldFor(10));
  return {
    transaction,
    notice: isToldFor(10) || transaction,
    quote: life.isUsed ? transaction : ageDays >= 1,
    answer: ageDays >= 30 && (isOver || transaction),
  };
}

async function whatIsGone(storage: PaymentStorage, life: Life, index: number) {
  const ids = idsOf(life, index);
  const transaction = await storage.transaction(ids.transaction);
  const [attempt] = await storage.attempts([`sig ${index}`]);
  const [recipient] = await storage.find({
    table: paymentTables.recipients,
    index: "ofTransaction",
    equals: { transactionId: ids.transaction },
  });
  const instance = await storage.load(ids.transaction);
  const gone = {
    transaction: transaction === null,
    notice: (await storage.notice(ids.notice)) === null,
    quote: (await storage.quote(ids.quote)) === null,
    answer: (await storage.idempotency(ids.answer)) === null,
  };
  // What belongs together is there, or gone, together.
  expect(attempt?.messageHash).toBe(`hash ${index}`);
  const parts = [attempt?.bytes.length === 0, recipient === undefined, instance === null];
  expect(parts).toEqual(parts.map(() => gone.transaction));
  const [announced = null] = await storage.find({ table: paymentTables.announcements, key: ids.notice });
  const told = [announced === null];
  if (life.delivery !== "none") {
    told.push((await storage.delivery(ids.delivery)) === null);
    told.push((await storage.deliveryAttempts(ids.delivery)).length === 0);
  }
  expect(told).toEqual(told.map(() => gone.notice));
  return gone;
}

interface Keeping {
  readonly storage: PaymentStorage;
  readonly clock: Clock;
  readonly archive?: (rows: readonly ArchivedRow[]) => void;
}

function retentionOn({ storage, clock, archive }: Keeping): PaymentRetentionLoop {
  const ledger = { time: async () => null } as unknown as PaymentContext["ledger"];
  const context = { storage, ledger, clock, random: systemRandom, log: silentLogger } as PaymentContext;
  const rows = oldRowsOf(
    { storage, clock, archive: archive ?? null, archiveDeadlineMs: 60_000 },
    {
      keep: KEEP,
      ownAddresses: [SPONSOR],
      ledger,
      modules: [{ goesWithNotice: goesWithNotice(storage) }],
    },
  );
  return new PaymentRetentionLoop(context, { keep: KEEP, rows });
}

const passOf = (retention: PaymentRetentionLoop, clock: VirtualClock): Promise<void> =>
  passed(clock, async () => (await retention.standing()).lastPassAt);

const prepared = async (all: readonly Life[]): Promise<PaymentStorage> => {
  const storage = await memoryStorage();
  for (const [index, life] of all.entries()) await put(storage, life, index);
  return storage;
};

/** A table of its own for each kind of life, so that a run of samples holds all of them. */
const OLD: Life = {
  ageDays: 50,
  restedDays: 45,
  mode: "wallet",
  type: "send",
  status: "completed",
  reason: null,
  attention: null,
  landedAfterCancel: false,
  isOwn: false,
  isActive: false,
  hasTask: false,
  delivery: "delivered",
  isUsed: true,
};

describe("retention of payments", () => {
  test(
    "in random lives exactly what is old, over and needed by nothing goes, whole, and archived before",
    async () => {
      const property = fc.asyncProperty(fc.array(lives, { minLength: 1, maxLength: 80 }), async (drawn) => {
        const all = [OLD, ...drawn];
        const storage = await prepared(all);
        const clock = virtualClock(NOW);
        const archived = new Set<string>();
        const archive = (rows: readonly ArchivedRow[]): void => {
          for (const { table, row } of rows) archived.add(`${table} ${String(row["id"])}`);
        };
        const retention = retentionOn({ storage, clock, archive });
        retention.run();
        await passOf(retention, clock);
        await passOf(retention, clock);
        await retention.stop(0);
        for (const [index, life] of all.entries()) {
          const gone = await whatIsGone(storage, life, index);
          expect({ life, gone }).toEqual({ life, gone: mayGo(life) });
          const ids = idsOf(life, index);
          expect(archived.has(`transactions ${ids.transaction}`)).toBe(gone.transaction);
          expect(archived.has(`notices ${ids.notice}`)).toBe(gone.notice);
          expect(archived.has(`quotes ${ids.quote}`)).toBe(gone.quote);
          expect(archived.has(`idempotency ${ids.answer}`)).toBe(gone.answer);
        }
      });
      await fc.assert(property, { numRuns: THOROUGH ? 500 : 10 });
    },
    EXPLORING_MS,
  );

  test("R23: a swap is kept for good, however it ended: the desk may have signed it", async () => {
    const all = (["completed", "failed", "cancelled"] as const).map((status): Life => ({
      ...OLD,
      type: "swap",
      status,
    }));
    const storage = await prepared(all);
    await overtaken(storage);
    for (const [index, life] of all.entries()) {
      expect((await whatIsGone(storage, life, index)).transaction).toBe(false);
    }
  });

  async function dyingAt(death: Death | undefined) {
    const all = [
      OLD,
      { ...OLD, delivery: "abandoned" as const },
      { ...OLD, status: "pending" as const, isActive: true },
    ];
    const storage = await prepared(all);
    const clock = virtualClock(NOW);
    const archived = new Set<string>();
    const archive = (rows: readonly ArchivedRow[]): void => {
      for (const { row } of rows) archived.add(String(row["id"]));
    };
    const mortal = mortalProcess(death);
    const first = retentionOn({ storage: mortal.within(storage), clock: mortal.timedBy(clock), archive });
    first.run();
    clock.advance(600_000);
    for (let turn = 0; turn < 100 && !mortal.isDead(); turn++) {
      await turns(3);
      clock.advance(20);
    }
    mortal.kill();
    const unarchived: string[] = [];
    for (const [index, life] of all.entries()) {
      const { transaction, notice } = await whatIsGone(storage, life, index);
      const ids = idsOf(life, index);
      if (transaction && !archived.has(ids.transaction)) unarchived.push(ids.transaction);
      if (notice && !archived.has(ids.notice)) unarchived.push(ids.notice);
    }
    const second = retentionOn({ storage, clock, archive });
    second.run();
    await passOf(second, clock);
    await second.stop(0);
    const gone = await Promise.all(all.map((life, index) => whatIsGone(storage, life, index)));
    return { calls: mortal.calls.length, unarchived, gone: gone.map(({ transaction }) => transaction) };
  }

  test(
    "killed at any call of a pass: what belongs together goes together, and the next process goes on",
    async () => {
      const { calls } = await dyingAt(undefined);
      expect(calls).toBeGreaterThan(20);
      for (let call = 1; call <= calls; call += THOROUGH ? 1 : 7) {
        for (const moment of ["before", "after"] as const) {
          expect(await dyingAt({ call, moment })).toMatchObject({
            unarchived: [],
            gone: [true, true, false],
          });
        }
      }
    },
    EXPLORING_MS,
  );

  test("two processes at once: each row is archived once, by the one whose turn it is", async () => {
    const all = Array.from({ length: 40 }, () => OLD);
    const storage = await prepared(all);
    const clock = virtualClock(NOW);
    const archived: string[] = [];
    const archive = (rows: readonly ArchivedRow[]): void => {
      for (const { table, row } of rows) if (table === "transactions") archived.push(String(row["id"]));
    };
    const both = [retentionOn({ storage, clock, archive }), retentionOn({ storage, clock, archive })];
    for (const each of both) each.run();
    clock.advance(600_000);
    for (let turn = 0; turn < 300; turn++) {
      await turns(5);
      clock.advance(20);
    }
    expect(archived).toHaveLength(40);
    expect(new Set(archived).size).toBe(40);
    const standings = await Promise.all(both.map((each) => each.standing()));
    expect(standings.filter(({ removed }) => removed === 0)).toHaveLength(1);
    for (const each of both) await each.stop(0);
  });

  /** Lets one pass go by. Before the first commit that removes rows of this table somebody else is quicker. */
  async function overtaken(
    storage: PaymentStorage,
    table: string = "none",
    meanwhile: () => Promise<unknown> = async () => {},
  ): Promise<void> {
    let isAhead = true;
    const racing: PaymentStorage = {
      ...storage,
      async commit(items) {
        const writes = items.flatMap((item) => item.writes ?? []);
        if (isAhead && writes.some((write) => "remove" in write && write.table === table)) {
          isAhead = false;
          await meanwhile();
        }
        return storage.commit(items);
      },
    };
    const clock = virtualClock(NOW);
    const retention = retentionOn({ storage: racing, clock });
    retention.run();
    await passOf(retention, clock);
    expect((await retention.standing()).error).toBeNull();
    await retention.stop(0);
  }

  test("an idempotency key that is used again while its old answer is removed keeps the new answer", async () => {
    const storage = await prepared([OLD]);
    const { answer: id } = idsOf(OLD, 0);
    const answer = JSON.stringify({ transactionId: "tx_new" });
    const fresh = { id, fingerprint: "g", answer, createdAt: NOW };
    // The archive was slow, so that another process had its turn meanwhile: it removed the answer, and the key was used.
    await overtaken(storage, "idempotency", async () => {
      await storage.commit([{ writes: [{ table: "idempotency", remove: id }] }]);
      await storage.commit([{ writes: [{ table: "idempotency", insert: fresh }] }]);
    });
    expect(await storage.idempotency(id)).toEqual(fresh);
  });

  test("R22: a transaction that an operator settles while it is removed stays", async () => {
    const storage = await prepared([{ ...OLD, status: "cancelled" }]);
    const { transaction: id } = idsOf(OLD, 0);
    const set = { landedAfterCancel: true };
    await overtaken(storage, "transactions", () =>
      storage.commit([{ writes: [{ table: "transactions", id, set }] }]),
    );
    expect((await storage.transaction(id))?.transaction).toMatchObject(set);
  });

  test("a transaction that was given up as expired has no later pass go through all that is younger", async () => {
    const expired = { ...OLD, status: "failed" as const, reason: "expired" as const };
    const storage = await prepared([
      expired,
      ...Array.from({ length: 100 }, () => ({ ...OLD, isOwn: true })),
    ]);
    const clock = virtualClock(NOW);
    let looked = 0;
    const counted: PaymentStorage = {
      ...storage,
      async transactionsAfter(after, limit) {
        const page = await storage.transactionsAfter(after, limit);
        if (limit > 1) looked += page.length;
        return page;
      },
    };
    const retention = retentionOn({ storage: counted, clock });
    retention.run();
    await passOf(retention, clock);
    expect(looked).toBe(101);
    await passOf(retention, clock);
    expect(looked).toBe(101);
    expect(await storage.transactionsAfter("", 200)).toHaveLength(101);
    await retention.stop(0);
  });

  test("H31: a notice stays until it is announced", async () => {
    const storage = await prepared([{ ...OLD, status: "completed", delivery: "none" }]);
    const { notice: id } = idsOf(OLD, 0);
    const keepBody = async (body: string | null) =>
      storage.commit([{ writes: [{ table: "notices", id, set: { body } }] }]);
    await keepBody(null);
    await overtaken(storage);
    expect(await storage.notice(id)).not.toBeNull();
    await keepBody("{}");
    await overtaken(storage);
    expect(await storage.notice(id)).toBeNull();
  });

  test("a notice stays that a webhook begins to recover while it is removed, and none is recovered that is gone", async () => {
    const storage = await prepared([{ ...OLD, delivery: "none" }]);
    const { notice: id, transaction: transactionId } = idsOf(OLD, 0);
    const webhook = webhookOf("wh_1", { accountId: "a" });
    await storage.commit([{ writes: [{ table: "webhooks", insert: webhook }] }]);
    const insert = {
      ...fullRows.deliveries,
      id: deliveryIdOf({ id }, webhook),
      version: 1,
      accountId: "a",
      webhookId: "wh_1",
      noticeId: id,
      transactionId,
      status: "pending" as const,
      deliveredAt: null,
      abandonedAt: null,
    };
    const begin: PaymentWrite[] = [
      { table: "deliveries", insert },
      { table: "notices", id, set: {} },
    ];
    await overtaken(storage, "notices", () => storage.commit([{ writes: begin }]));
    expect(await storage.notice(id)).not.toBeNull();
    await storage.commit([{ writes: [{ table: "deliveries", remove: insert.id }] }]);
    await overtaken(storage);
    expect(await storage.notice(id)).toBeNull();
    expect((await storage.commit([{ writes: begin }]))[0]?.ok).toBe(false);
  });

  test("R24: a delivery that was given up is kept from its end, however old its notice", async () => {
    const storage = await prepared([{ ...OLD, delivery: "abandoned" }]);
    const { notice, delivery: id } = idsOf(OLD, 0);
    const abandon = (abandonedAt: number) =>
      storage.commit([{ writes: [{ table: "deliveries", id, set: { abandonedAt } }] }]);
    await abandon(NOW - KEEP.notices + DAY);
    await overtaken(storage);
    expect([await storage.notice(notice), await storage.delivery(id)]).not.toContain(null);
    await abandon(NOW - KEEP.notices - DAY);
    await overtaken(storage);
    expect([await storage.notice(notice), await storage.delivery(id)]).toEqual([null, null]);
  });

  test("a delivery that is begun once more while it is removed stays, with its notice", async () => {
    const storage = await prepared([{ ...OLD, status: "completed", mode: "private" }]);
    const { notice, delivery: id } = idsOf(OLD, 0);
    const set = { status: "pending" } as const;
    await overtaken(storage, "deliveries", () =>
      storage.commit([{ writes: [{ table: "deliveries", id, set }], starts: [startOf(id)] }]),
    );
    expect((await storage.delivery(id))?.status).toBe("pending");
    expect(await storage.notice(notice)).not.toBeNull();
  });
});
