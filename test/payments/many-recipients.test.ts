/** Checks of many recipients: they take milliseconds each time, and nobody waits for all of them. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import bs58 from "bs58";
import { expect, test } from "vitest";
import { privateKeyOf, publicKeyOf } from "../../src/ed25519.ts";
import { parseAddress } from "../../src/address.ts";
import { checkRecipientsOnChain } from "../../src/payments/recipients/recipients.ts";
import { chainFixture } from "../kit/chain-fixture.ts";
import type { SqliteStatement } from "../../storage/sqlite/driver.ts";
import { privateFixture } from "../kit/private-fixture.ts";
import { sqliteStorage } from "../kit/storages.ts";

const freshAddress = (): string => bs58.encode(publicKeyOf(privateKeyOf(randomBytes(32))));

/** Who looks at what is taken in turns, with orders or without. */
const IS_OF_LEASES = /paystateLeases/;

/** How many statements were carried out on a database. */
async function countedSqlite(path: string) {
  const database = new Database(path);
  let count = 0;
  const storage = await sqliteStorage({
    get inTransaction() {
      return database.inTransaction;
    },
    prepare(sql) {
      const statement = database.prepare(sql);
      const counted =
        (act: "run" | "get" | "all" | "iterate") =>
        (...values: unknown[]) => {
          if (!IS_OF_LEASES.test(sql)) count += 1;
          return statement[act](...values);
        };
      return {
        reader: statement.reader,
        run: counted("run"),
        get: counted("get"),
        all: counted("all"),
        iterate: counted("iterate"),
      } as SqliteStatement;
    },
    pragma: (source) => database.pragma(source),
    close: () => database.close(),
  });
  return { storage, database, count: () => count };
}

test("L3: an order of a private payroll of 500 takes at most 100 statements on SQLite", async () => {
  const folder = await mkdtemp(join(tmpdir(), "paystate-payroll-"));
  const { storage, database, count } = await countedSqlite(join(folder, "payroll.db"));
  const world = await privateFixture({ storage }, { maxRecipients: 500 });
  try {
    const caller = await world.caller("enterprise");
    const sender = world.wallet("sender", { lamports: 1_000_000_000n, usdc: 1_000_000_000n });
    const to = Array.from({ length: 500 }, () => ({ address: freshAddress(), amount: "0.01" }));
    await world.service.settled();
    const before = count();
    const { body } = await world.order(caller, { sender, to });
    expect(count() - before).toBeLessThanOrEqual(100);
    const view = await storage.transaction(body.transactionId);
    expect(view?.recipients.map(({ address }) => address)).toEqual(to.map(({ address }) => address));
  } finally {
    await world.close();
    database.close();
    await rm(folder, { recursive: true });
  }
});

test("L3: a payroll's recipients are checked in turns, between which others go on", async () => {
  const world = await chainFixture();
  const recipients = Array.from({ length: 60 }, (_, n) => {
    const parsed = parseAddress(world.wallet(`payee ${n}`).address);
    if ("fault" in parsed) throw new Error(parsed.fault);
    return parsed.address;
  });
  let turns = 0;
  let goesOn = true;
  const others = (async () => {
    for (; goesOn; turns += 1) await new Promise(setImmediate);
  })();
  const during: number[] = [];
  const slow = {
    ...world.ledger,
    isOnCurve(address: (typeof recipients)[number]): boolean {
      during.push(turns);
      // As long as the curve takes on a slow machine.
      for (const end = performance.now() + 1; performance.now() < end;);
      return world.ledger.isOnCurve(address);
    },
  };
  await checkRecipientsOnChain(slow, recipients);
  goesOn = false;
  await others;
  expect(new Set(during).size).toBeGreaterThan(3);
  await world.close();
});
