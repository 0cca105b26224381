/** Recovery: an empty database, the master secret and the ids bring every deposit address and its money back. */
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  readRecoveryFile,
  recoveryFile,
  type RecoveryEntry,
} from "../../../src/payments/operator/recovery/journal.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { memoryStorage } from "../../kit/storages.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import type { PaymentServiceOptions } from "../../../src/service/payment-service-options.ts";
import { adapters } from "../../kit/adapters.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import { drawn } from "../../kit/thorough.ts";
import { DAY, MINUTE, scene, SOL, type Scene } from "../private/scene.ts";

const BY = { actor: "ann", reason: "the disk is gone" };

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A scene whose orders are written down. */
async function journaledScene(options: Partial<PaymentServiceOptions> = {}) {
  const entries: RecoveryEntry[] = [];
  const world = await scene({ recovery: async (entry) => void entries.push(entry), ...options });
  ends.push(() => world.close());
  return { world, entries };
}

/** Lets a service that is not the scene's own work until what is under way is final. */
async function settleOn(world: Scene, service: PaymentService, rounds = 8): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await service.settled();
    world.chain.advance(35);
    await service.settled();
  }
}

describe.each(drawn(adapters, "recovery"))("on $name", ({ make }) => {
  async function emptyDatabase() {
    const underTest = await make();
    const storage = await underTest.open();
    ends.push(async () => {
      await storage.close();
      await underTest.destroy();
    });
    return storage;
  }

  test("M15: with the master secret and the ids an empty database brings every address back, and its money goes where the operator says", async () => {
    const { world, entries } = await journaledScene();
    const [paid, empty, stray, done] = [
      await world.sendTo(),
      await world.sendTo({ amount: "3" }),
      await world.sendTo({ amount: "4" }),
      await world.sendTo({ amount: "2", asset: "SOL" }),
    ];
    await world.deposit(done.address, { lamports: done.due });
    await world.settle(10);
    expect(await world.shown(done)).toMatchObject({ status: "completed" });
    await world.sweep();
    await world.service.stop();
    // Nobody sees these come; the third to a token account of the address that is not the associated one.
    world.chain.fund(paid.address, { usdc: paid.due, lamports: 5_000_000n });
    await world.strayAccount(stray.address, "USDC", 4_000_000n);
    world.chain.advance(35);

    const storage = await emptyDatabase();
    const service = world.another({ storage });
    ends.push(() => service.stop());
    const recovered = await service.operator.recover(entries, BY);
    expect(recovered).toMatchObject([
      {
        transactionId: paid.id,
        address: paid.address,
        masterVersion: 1,
        state: "restored",
        heldReason: "recovered",
        holdings: [
          { asset: "SOL", amount: "0.005" },
          { asset: "USDC", amount: expect.any(String) as string },
        ],
      },
      { transactionId: empty.id, address: empty.address, state: "empty", heldReason: null, holdings: [] },
      {
        transactionId: stray.id,
        address: stray.address,
        state: "restored",
        holdings: [{ asset: "USDC", amount: "4" }],
      },
      { transactionId: done.id, address: done.address, state: "empty" },
    ]);
    const { operator } = service;
    expect(await operator.attention()).toMatchObject(
      [paid, stray]
        .map(({ id, address }) => ({ kind: "held", id: `held:${address}`, transactionId: id }))
        .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    );
    expect((await storage.transaction(paid.id))?.transaction).toMatchObject({
      status: "failed",
      reason: "RECOVERED",
    });
    // To whom it would go is not known: there is no sender to fall back on.
    const unknown = "its sender is not known";
    await expect(operator.releaseDeposit(paid.id, BY)).rejects.toThrow(unknown);
    await expect(operator.returnTokens(paid.id, { mint: world.bob.address }, BY)).rejects.toThrow(unknown);
    await service.start();
    await settleOn(world, service);
    expect((await world.held(paid.address))[1]).toBe(paid.due);

    const safe = world.wallet("safe", { lamports: SOL });
    for (const { address } of [paid, stray]) {
      await operator.resolve(`held:${address}`, { action: "refundTo", address: safe.address }, BY);
    }
    // Refunds and pauses, and then until markers may be closed.
    for (const minutes of [11, 11, 11, 16, 61, 11]) {
      await settleOn(world, service);
      world.chain.advance(200);
      world.clock.advance(minutes * MINUTE);
    }
    await settleOn(world, service);
    expect((await world.held(safe.address))[1]).toBeGreaterThan(paid.due + 4_000_000n - 2_000_000n);
    expect(await world.held(paid.address)).toEqual([0n, 0n, 0n]);
    expect(await operator.attention()).toEqual([]);
    // What was reserved for it ends as an order's does, and nothing of it fails and is tried for ever.
    expect(await storage.reservations(`sponsor ${world.sponsor.address}`)).toEqual([]);
    expect(await storage.tasks({ order: "failing", least: 1, limit: 9 })).toEqual([]);
    expect((await operator.auditLog()).map(({ act }) => act)).toEqual([
      ...["recover", "recover", "refund_to", "refund_to"],
    ]);
  });

  test("M15: an address that has paid already is held as unexplained, and nothing is signed for it", async () => {
    const { world, entries } = await journaledScene();
    const order = await world.sendTo();
    await world.deposit(order.address, { usdc: order.due });
    await world.settle(10);
    await world.sweep();
    await world.service.stop();
    world.chain.fund(order.address, { usdc: 9_000_000n });
    world.chain.advance(35);
    const storage = await emptyDatabase();
    const service = world.another({ storage });
    ends.push(() => service.stop());
    expect(await service.operator.recover(entries, BY)).toMatchObject([
      { state: "restored", heldReason: "unknown_spending", holdings: [{ asset: "USDC", amount: "9" }] },
    ]);
    expect(await service.operator.attention()).toMatchObject([
      { kind: "unexplained", id: `unexplained:${order.address}`, transactionId: order.id },
    ]);
    await service.start();
    await settleOn(world, service);
    world.clock.advance(DAY);
    await settleOn(world, service);
    expect((await world.held(order.address))[1]).toBe(9_000_000n);
    await expect(
      service.operator.resolve(`unexplained:${order.address}`, { action: "release" }, BY),
    ).rejects.toThrow("its sender is not known: say where its money goes by refundTo");
  });

  test("plain ids are tried with every master secret that is given, and recovering again changes nothing", async () => {
    const { world, entries } = await journaledScene();
    const order = await world.sendTo();
    await world.service.stop();
    world.chain.fund(order.address, { usdc: order.due });
    world.chain.advance(35);
    const storage = await emptyDatabase();
    const newer = { version: 2, secret: new Uint8Array(32).fill(9) };
    const service = world.another({ storage, masterSecrets: [newer, TEST_MASTER_SECRET] });
    const ids = [...entries.map(({ id }) => id), ...entries.map(({ id }) => id)];
    const first = await service.operator.recover(ids, BY);
    expect(first).toMatchObject([{ address: order.address, masterVersion: 1, state: "restored" }]);
    expect(await world.another({ storage }).operator.recover(ids, BY)).toEqual(first);
    expect(await service.operator.auditLog()).toHaveLength(1);
    expect(await service.operator.attention()).toHaveLength(1);
  });

  test("a restore that ended in its middle is completed by recovering again", async () => {
    const { world, entries } = await journaledScene();
    const order = await world.sendTo();
    await world.service.stop();
    world.chain.fund(order.address, { usdc: order.due });
    world.chain.advance(35);
    const storage = await emptyDatabase();
    // Dies behind the commit that restores, and before the order has ended.
    let commits = 0;
    const mortal: PaymentStorage = {
      ...storage,
      commit: (items) => {
        const starts = items.some((item) => (item.starts ?? []).length > 0);
        commits += starts || commits > 0 ? 1 : 0;
        return commits > 1 ? new Promise(() => {}) : storage.commit(items);
      },
    };
    const dying = world.another({ storage: mortal });
    void dying.operator.recover(entries, BY);
    while (commits < 2) await new Promise((resolve) => setImmediate(resolve));
    const service = world.another({ storage });
    ends.push(() => service.stop());
    expect(await service.operator.recover(entries, BY)).toMatchObject([{ state: "restored" }]);
    expect((await storage.transaction(order.id))?.transaction).toMatchObject({
      status: "failed",
      reason: "RECOVERED",
    });
    await service.start();
    await settleOn(world, service);
    expect(await service.operator.attention()).toMatchObject([{ kind: "held" }]);
  });

  test("M15: ids that are not ours are refused by name, and none of the list is restored", async () => {
    const { world, entries } = await journaledScene();
    const order = await world.sendTo();
    world.chain.fund(order.address, { usdc: order.due });
    world.chain.advance(35);
    const storage = await emptyDatabase();
    const service = world.another({ storage });
    const [entry] = entries;
    const foreign = [
      ...[...entries, "tx_short", "order 7", ""],
      { id: `tx_${"0".repeat(32)}`, masterVersion: 9, createdAt: 0 },
    ];
    await expect(service.operator.recover(foreign, BY)).rejects.toMatchObject({
      name: "OperatorRefused",
      message: [
        "tx_short is no transaction's id",
        "order 7 is no transaction's id",
        " is no transaction's id",
        `tx_${"0".repeat(32)} needs version 9 of the master secret, which is not given`,
      ].join("; "),
    });
    expect(await storage.heldDeposits(9)).toEqual([]);
    await expect(world.service.operator.recover([entry?.id ?? ""], BY)).rejects.toThrow(
      `${order.id} is known to this database: it needs no recovery`,
    );
    await expect(service.operator.recover(entries, { actor: "", reason: "x" })).rejects.toThrow(/^actor: /);
  });
});

test("an order whose address cannot be written down is refused, and nothing of it is kept", async () => {
  let isFull = true;
  const { world, entries } = await journaledScene({
    recovery: async () => {
      if (isFull) throw new Error("the disk is full");
    },
  });
  await expect(world.sendTo()).rejects.toMatchObject({
    code: "ROUTING_UNAVAILABLE",
    details: { reason: "upstream", retryAfter: 30 },
  });
  expect(await world.storage.depositsAfter("", 9)).toEqual([]);
  expect(await world.storage.reservations(`sponsor ${world.sponsor.address}`)).toEqual([]);
  isFull = false;
  await world.sendTo();
  expect(entries).toEqual([]);
});

test("an address is written down before the commit that takes its order, and a journal that hangs is not waited for", async () => {
  const { world, entries } = await journaledScene({ storage: memoryStorage() });
  const order = await world.sendTo();
  const deposit = (await world.storage.deposits([order.address]))[0];
  expect(entries).toEqual([{ id: order.id, masterVersion: 1, createdAt: deposit?.createdAt }]);

  let wasAsked: () => void = () => {};
  const asked = new Promise<void>((resolve) => {
    wasAsked = resolve;
  });
  const hanging = await journaledScene({
    recovery: () => {
      wasAsked();
      return new Promise(() => {});
    },
  });
  const refused = hanging.world.sendTo().then(
    () => null,
    (error: unknown) => error,
  );
  await asked;
  expect(await hanging.world.storage.depositsAfter("", 9)).toEqual([]);
  hanging.world.clock.advance(10_000);
  expect(await refused).toMatchObject({ code: "ROUTING_UNAVAILABLE" });
});

test("a journal in a file has one line for each order, survives a torn line, and names a line that is none", async () => {
  const folder = await mkdtemp(join(tmpdir(), "paystate-"));
  ends.push(() => rm(folder, { recursive: true }));
  const path = join(folder, "orders.jsonl");
  const journal = recoveryFile(path);
  const entry = (digit: string): RecoveryEntry => ({
    id: `tx_${digit.repeat(32)}`,
    masterVersion: 1,
    createdAt: 5,
  });
  await Promise.all(["1", "2", "3"].map((digit) => journal(entry(digit))));
  const read = await readRecoveryFile(path);
  expect(new Set(read)).toEqual(new Set(["1", "2", "3"].map(entry)));
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await writeFile(path, `${await readFile(path, "utf8")}\n  tx_4 \n{"id":"tx_`);
  expect(await readRecoveryFile(path)).toEqual([...read, "tx_4"]);
  await journal(entry("5"));
  expect(await readRecoveryFile(path)).toEqual([...read, "tx_4", entry("5")]);
  await writeFile(path, `{"id":"tx_1"}\ntx_2\n`);
  await expect(readRecoveryFile(path)).rejects.toThrow("line 1 is neither an id nor an entry");
  await expect(recoveryFile(join(folder, "nowhere", "x"))(entry("1"))).rejects.toThrow("ENOENT");
});
