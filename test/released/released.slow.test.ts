/** What released versions have left goes on under the present one: opened, migrated, and every order brought to its end. */
// modules: private, webhooks
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { paymentStorage, paymentTables } from "../../src/payments/payment-storage.ts";
import { postgresStorage } from "../../storage/postgres.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import type { EngineStorage } from "../../storage/storage.ts";
import { SCOPES } from "../../src/payments/frame/accounts/caller.ts";
import { BY } from "../kit/by.ts";
import { chainFixture } from "../kit/chain-fixture.ts";
import { brokenMoney } from "../kit/check-money.ts";
import { type HttpsReceiver, startHttpsReceiver } from "../kit/https-receiver.ts";
import { sharedCertificate } from "../kit/loopback-certificate.ts";
import { swapFixture, type SwapFixture } from "../kit/swap-fixture.ts";
import { HAS_POSTGRES, postgresUrl } from "../programs/ask-postgres.ts";
import { BRIEF, LASTING, RARE } from "./lasting-states.ts";
import { contentsOf, fileOf, type Released, SCHEMA, standingsIn, statesIn, VERSION } from "./released.ts";

const files = await readdir(import.meta.dirname);
const versions = files.filter((file) => file.endsWith(".json")).map((file) => file.slice(0, -".json".length));

/** What becomes of each order that was under way, by what it was. */
const ENDS: Readonly<Record<string, string>> = {
  'private send pending {"undecided":"waiting"}': 'private send failed {"over":{"idle":"late"}}',
  'private payroll pending {"undecided":"waiting"}': 'private payroll failed {"over":{"idle":"late"}}',
  'private send processing {"undecided":"deciding"}': 'private send completed {"over":{"idle":"late"}}',
  'private send confirmed {"undecided":"deciding"}': 'private send completed {"over":{"idle":"late"}}',
  'private swap processing {"undecided":"deciding"}': 'private swap completed {"over":{"idle":"late"}}',
  'private send processing {"undecided":"refusing"}': 'private send failed {"over":{"idle":"late"}}',
  // One of its payees is frozen.
  'private payroll processing "paying"': 'private payroll failed {"over":{"idle":"late"}}',
  'private send completed {"over":"resting"}': 'private send completed {"over":{"idle":"late"}}',
  'private send cancelled {"over":"refusing"}': 'private send cancelled {"over":{"idle":"late"}}',
  'private send failed {"over":{"idle":"recent"}}': 'private send failed {"over":{"idle":"late"}}',
  'wallet send pending "accepted"': 'wallet send completed "completed"',
  'wallet send pending "broadcasting"': 'wallet send completed "completed"',
  'wallet send pending "unprovable"': 'wallet send completed "completed"',
  'wallet send confirmed "confirmed"': 'wallet send completed "completed"',
  'wallet send confirmed "confirmedUnprovable"': 'wallet send completed "completed"',
  'wallet send cancelled "cancelled"': 'wallet send cancelled "cancelledForGood"',
  'wallet send cancelled "cancelledUnprovable"': 'wallet send cancelled "landedAfterCancel"',
};

/** Where orders and transfers come to that were under way; a delivery is gone then. */
const AT_THEIR_END = /^(order-transfer (done|booked|ended)|private-order over\.idle\..*)$/;

const stores: Readonly<Record<string, (of: string, folder: string) => Promise<EngineStorage>>> = {
  async SQLite(of, folder) {
    const path = join(folder, "payments.db");
    await writeFile(path, contentsOf("db", of));
    return sqliteStorage(path);
  },
  async PostgreSQL(of) {
    const url = await postgresUrl();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    // As a dump is read back: functions stand before the tables that they are about.
    await client.query(`drop schema if exists ${SCHEMA} cascade; set check_function_bodies = false`);
    await client.query(contentsOf("sql", of).toString());
    await client.end();
    return postgresStorage(url, { schema: SCHEMA, clock: "caller", listen: false });
  },
};

test("D39: the present version has left a database, too", () => {
  // Where this fails, run test/released/write.ts before this version is released.
  expect(versions).toContain(VERSION);
});

test("D39: what the present version has left has something in each state that lasts", async () => {
  const { states } = await releasedBy(VERSION);
  const there = new Set(Object.values(states));
  const missing = LASTING.filter((state) => !there.has(state) && !(state in BRIEF) && !(state in RARE));
  // A new state: have something in it (test/released/under-way.ts), and write the database anew while it is not released.
  expect(missing).toEqual([]);
  expect(
    [...Object.keys(BRIEF), ...Object.keys(RARE)].filter((state) => !LASTING.includes(state)),
    "no chart has these any more",
  ).toEqual([]);
});

const releasedBy = async (version: string): Promise<Released> =>
  JSON.parse(await readFile(fileOf("json", version), "utf8")) as Released;

/** The owners of webhooks have moved to this receiver, which takes all. */
async function moveWebhooks({ storage, service }: SwapFixture, { url }: HttpsReceiver): Promise<void> {
  for (const { id, accountId, deletedAt } of await storage.find({ table: paymentTables.webhooks })) {
    const caller = { accountId, tier: "pro", scopes: SCOPES } as const;
    if (deletedAt === null) await service.updateWebhook(caller, id, { url });
  }
}

/** An operator lets through what is held. */
async function releaseHeld({ service: { operator } }: SwapFixture): Promise<void> {
  for (const { id, kind } of await operator.attention()) {
    if (kind === "held") await operator.resolve(id, { action: "release" }, BY);
  }
}

describe.each(versions)("version %s", (version) => {
  test.each(HAS_POSTGRES ? ["SQLite", "PostgreSQL"] : ["SQLite"])(
    "D39: its database in %s is opened, everything is where it was, and goes on to its end",
    { timeout: 300_000 },
    async (name) => {
      const folder = await mkdtemp(join(tmpdir(), "paystate-"));
      const journal = join(folder, "chain");
      await writeFile(journal, contentsOf("chain", version));
      const { now, slot, orders, states } = await releasedBy(version);
      // Until a version is released, what it leaves is written anew where its tables change without a migration.
      const storage = await stores[name]?.(version, folder);
      if (storage === undefined) throw new Error("no storage");
      expect(await standingsIn(paymentStorage(storage))).toEqual(orders);
      expect(await statesIn(storage)).toEqual(states);

      const on = await chainFixture({ journal, now });
      expect(on.chain.slot()).toBeGreaterThanOrEqual(slot);
      const certificate = await sharedCertificate();
      const webhooks = { ca: certificate.ca, allowAddress: (ip: string) => ip === "127.0.0.1" };
      const world = await swapFixture({ options: { storage, on, broadcastDelayMs: 5_000, webhooks } });
      const receiver = await startHttpsReceiver({ certificate, now: () => on.clock.now() });
      await moveWebhooks(world, receiver);
      await releaseHeld(world);
      for (let round = 0; round < 4; round += 1) {
        await world.pass(5_000);
        await world.settle();
      }
      await world.pass(2 * 3_600_000);
      // The longest pause between two attempts of a delivery is six hours.
      for (let round = 0; round < 4; round += 1) {
        await world.pass(2 * 3_600_000);
        await world.settle();
      }
      const ends = Object.entries(orders).map(([id, order]) => [id, ENDS[order] ?? order]);
      expect(await standingsIn(world.storage)).toEqual(Object.fromEntries(ends));
      await expectAtEnds(world, states, receiver);
      await receiver.close();
      await world.close();
      await storage.close();
      await rm(folder, { recursive: true });
    },
  );
});

/** Orders, transfers and deliveries have come to their ends, and the sums are right. */
async function expectAtEnds(
  { storage, ledger, mints, service }: SwapFixture,
  before: Released["states"],
  receiver: HttpsReceiver,
): Promise<void> {
  const after = await statesIn(storage);
  const others = Object.values(after).filter((state) => !state.startsWith("wallet-transfer "));
  expect(others.filter((state) => !AT_THEIR_END.test(state))).toEqual([]);
  const waited = Object.keys(before).filter((id) => before[id] === "webhook-delivery pausing");
  const rowsOfWaited = await Promise.all(waited.map((id) => storage.delivery(id)));
  expect(new Set(rowsOfWaited.map((row) => row?.status))).toEqual(new Set(["delivered"]));
  const posts = receiver.requests.filter(({ method }) => method === "POST");
  expect(posts.length).toBeGreaterThanOrEqual(waited.length);
  const rows = await storage.find({ table: paymentTables.orders });
  const addresses = rows.map(({ address }) => address);
  expect(await brokenMoney({ storage, ledger, mints: Object.values(mints) }, addresses)).toEqual([]);
  expect((await service.health()).status).toBe("ok");
}
