/** Checks of many recipients: they take milliseconds each time, and nobody waits for all of them. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import bs58 from "bs58";
import { expect, test } from "vitest";
import { privateKeyOf, publicKeyOf } from "../../src/core/ed25519.ts";
import { parseAddress } from "../../src/core/address.ts";
import { checkPayees } from "../../src/payments/frame/recipients/recipients.ts";
import { chainFixture } from "../kit/chain-fixture.ts";
import { countedSqlite } from "../kit/counted-sqlite.ts";
import { privateFixture } from "../kit/private-fixture.ts";

// modules: private
const freshAddress = (): string => bs58.encode(publicKeyOf(privateKeyOf(randomBytes(32))));

// modules: private
test("L3: an order of a private payroll of 500 takes at most 100 statements on SQLite", async () => {
  const folder = await mkdtemp(join(tmpdir(), "paystate-payroll-"));
  const { storage, statements, close } = await countedSqlite(join(folder, "payroll.db"));
  const world = await privateFixture({ storage }, { maxRecipients: 500 });
  try {
    const caller = await world.caller("enterprise");
    const sender = world.wallet("sender", { lamports: 1_000_000_000n, usdc: 1_000_000_000n });
    const to = Array.from({ length: 500 }, () => ({ address: freshAddress(), amount: "0.01" }));
    await world.service.settled();
    const before = statements.length;
    const { body } = await world.order(caller, { sender, to });
    expect(statements.length - before).toBeLessThanOrEqual(100);
    const view = await storage.transaction(body.transactionId);
    expect(view?.recipients.map(({ address }) => address)).toEqual(to.map(({ address }) => address));
  } finally {
    await world.close();
    close();
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
  const payees = recipients.map((recipient) => ({ recipient, allowOffCurve: false }));
  await checkPayees({ ledger: slow, assets: { tokens: [] } }, payees, null);
  goesOn = false;
  await others;
  expect(new Set(during).size).toBeGreaterThan(3);
  await world.close();
});
