/** Copies of a database that go on beside or after the one that has paid: they read the chain, and adopt what stands there. */
// modules: private
import { createThawAccountInstruction } from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import { expect, onTestFinished, test } from "vitest";
import { keypairSigner, type Signer } from "../../../src/ledger/sign-transaction.ts";
import type { JournalLine, RecoveryJournal } from "../../../src/payments/private/recovery/journal.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { formatAmount } from "../../../src/core/amount.ts";
import { associatedTokenAddress } from "../../../src/local/funding.ts";
import { land } from "../../solana/signed-transaction.ts";
import { BY } from "../../kit/by.ts";
import { privateFixture } from "../../kit/private-fixture.ts";
import { solAt150, units } from "../../kit/money.ts";
import { memoryStorage } from "../../kit/storages.ts";
import { copyWith, keepCopies, restore } from "./kept-copies.ts";
import { swallowsBytes } from "./lying-nodes.ts";
import { forget, mattersOf, open, ordered, owned, served, shown, startOn } from "./restored-world.ts";
import { passTime } from "../../kit/pass-time.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const NOTHING = [0n, 0n, 0n];

test.for([
  ["have all of their history", false],
  ["have lost the history of then", true],
] as const)(
  "C1: a copy from before the payout, on a machine whose clock stands at that time, pays nobody again of new money, and tells what the lost copy told; the nodes %s",
  async ([, isPruned]) => {
    const world = await open();
    const order = await served(world);
    world.clock.advance(DAY);
    if (isPruned) forget(world, world.nodes);
    const before = await owned(world, world.alice);
    world.chain.fund(order.address, { usdc: order.due });
    world.chain.advance(40);

    const restored = await startOn(world, order.copy, world.clock.now() - order.copiedAt);
    for (let look = 0; look < 3; look++) await restored.pass(2 * MINUTE);
    // Without a history it takes an hour until the marker's length is believed.
    for (let look = 0; look < 8; look++) await restored.pass(11 * MINUTE);

    expect(await owned(world, world.bob)).toBe(3_000_001n);
    expect(await shown(restored, world, order)).toMatchObject({
      status: "completed",
      recipients: [{ status: "paid" }],
    });
    expect(await owned(world, world.alice)).toBe(before + order.due);
    expect(await world.held(order.address)).toEqual(NOTHING);
    expect(await mattersOf(restored)).toEqual([]);
    expect(await restored.service.reconcile()).toMatchObject({ findings: [] });
  },
);

test("M7: what the lost part of a database has given back is told as missing, and conclude ends it", async () => {
  const world = await open();
  const order = await served(world, 4_000_000n);
  world.clock.advance(MINUTE);
  const restored = await startOn(world, order.copy);
  for (let look = 0; look < 3; look++) await restored.pass(2 * MINUTE);
  expect(await shown(restored, world, order)).toMatchObject({
    status: "completed",
    recipients: [{ status: "paid" }],
  });
  // An order at rest looks at every thirtieth poll; what is missing is told by the second look that shows it.
  for (let look = 0; look < 5; look++) await restored.pass(2 * MINUTE);
  const [matter] = await restored.service.operator.attention();
  expect(matter).toMatchObject({
    kind: "missing",
    transactionId: order.id,
    message: expect.stringMatching(/^(4|3\.\d+) USDC/) as string,
  });
  expect(await restored.service.operator.resolve(order.id, { action: "conclude" }, BY)).toMatchObject({
    state: "done",
  });
  await restored.pass(2 * MINUTE);
  expect(await mattersOf(restored)).toEqual([]);
  expect(await owned(world, world.bob)).toBe(3_000_001n);
});

test("C18: a cancel on a copy that has seen nothing of the payout is refused by the marker, though the money is gone; it adopts what stands by a clock that is behind, too", async () => {
  const world = await open();
  const order = await served(world);
  const storage = await restore(order.copy);
  const ledger = world.ledgerOf(world.nodes.map(({ endpoint }) => endpoint));
  const service = world.another({ storage, ledger });
  onTestFinished(() => storage.close());
  await expect(service.cancelTransaction(world.customer, order.id)).rejects.toMatchObject({
    code: "ALREADY_PROCESSED",
    details: { reason: "deposit_detected", currentStatus: "pending" },
  });
  const restored = await startOn(world, order.copy, 60 * MINUTE);
  for (let look = 0; look < 3; look++) await restored.pass(2 * MINUTE);
  expect(await shown(restored, world, order)).toMatchObject({
    status: "completed",
    recipients: [{ status: "paid" }],
  });
  expect(await mattersOf(restored)).toEqual([]);
});

test("C54: what the lost copy has sent by an act that this copy has not read yet is not missing", async () => {
  const world = await open();
  const { service, chain, mints, copies } = world;
  const order = await ordered(world);
  const carol = world.wallet("carol", { lamports: 1_000_000_000n, usdc: 1n });
  await service.cancelTransaction(world.customer, order.id);
  await service.operator.resolve(order.id, { action: "hold" }, BY);
  await world.deposit(order.address, { usdc: 3_000_000n });
  await world.settle(8);
  await world.freeze(carol, "USDC");
  await service.operator.resolve(order.id, { action: "refundTo", address: carol.address }, BY);
  await service.operator.approve(order.id, { address: carol.address }, BY);
  await world.settle(2);
  const copy = copies.at(-1) ?? new Uint8Array();
  const thawed = createThawAccountInstruction(
    new PublicKey(associatedTokenAddress(carol.address, mints.USDC)),
    new PublicKey(mints.USDC),
    new PublicKey(chain.faucet.address),
  );
  await land(world, { signers: [chain.faucet], instructions: [thawed] });
  await service.operator.resolve(order.id, { action: "retry" }, BY);
  await world.settle(8);
  const sent = (await owned(world, carol)) - 1n;
  expect(sent).toBeGreaterThan(2_000_000n);
  await service.stop();

  const restored = await startOn(world, copy);
  for (let look = 0; look < 2; look++) {
    const { findings } = await restored.service.reconcile();
    expect(findings.flatMap(({ findings: found }) => found)).toEqual([{ finding: "held", reason: "hold" }]);
    expect(await mattersOf(restored)).toEqual(["held"]);
    await restored.pass(1_000);
  }
  await restored.pass(11 * MINUTE);
  expect(await shown(restored, world, order)).toMatchObject({
    refunds: [{ to: carol.address, status: "paid" }],
  });
  expect((await owned(world, carol)) - 1n).toBe(sent);
});

/** A signer that keeps whoever asks it waiting until it is let go. */
function waiting(signer: Signer): { readonly signer: Signer; isAsked(): boolean; go(): void } {
  let isAsked = false;
  let go = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    go = resolve;
  });
  return {
    signer: {
      ...signer,
      async sign(...message) {
        isAsked = true;
        await released;
        return signer.sign(...message);
      },
    },
    isAsked: () => isAsked,
    go: () => go(),
  };
}

test("C2: a process that is thawed with its memory, its signer waiting, pays nobody of new money whom its successor has paid", async () => {
  const world = await open();
  const { chain, clock } = world;
  const order = await ordered(world);
  await world.service.stop();
  const frozen = waiting(keypairSigner(world.sponsor.secretKey));
  const storage = await restore(order.copy);
  const thawed = world.another({
    storage,
    privateRouting: { sponsor: frozen.signer, treasury: world.treasury.address, prices: solAt150(world) },
  });
  await thawed.start();
  chain.fund(order.address, { usdc: order.due });
  chain.advance(40);
  onTestFinished(async () => {
    frozen.go();
    await thawed.stop();
    await storage.close();
  });
  while (!frozen.isAsked()) {
    clock.advance(500);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  const successor = await startOn(world, order.copy);
  for (let look = 0; look < 3; look++) await successor.pass(2 * MINUTE);
  expect(await shown(successor, world, order)).toMatchObject({ status: "completed" });
  await successor.service.stop();
  const before = await owned(world, world.alice);
  chain.fund(order.address, { usdc: order.due });
  chain.advance(40);

  frozen.go();
  await thawed.settled();
  for (let look = 0; look < 20; look++) {
    chain.advance(40);
    await passTime({ clock, engine: thawed, storage, workflows: thawed.workflows }, clock.now() + MINUTE);
  }
  expect(await owned(world, world.bob)).toBe(3_000_001n);
  expect(await shown({ service: thawed }, world, order)).toMatchObject({ status: "completed" });
  expect(await owned(world, world.alice)).toBe(before + order.due);
  expect(await world.held(order.address)).toEqual(NOTHING);
  expect(await mattersOf({ service: thawed })).toEqual([]);
});

/** A database that is another one from one moment to the next, under the process that has it open. */
function turnedStorage(first: PaymentStorage): {
  readonly storage: PaymentStorage;
  readonly turnTo: (next: PaymentStorage) => PaymentStorage;
} {
  let current = first;
  const storage = new Proxy({} as PaymentStorage, {
    get: (_, name) => Reflect.get(current, name) as unknown,
    has: (_, name) => Reflect.has(current, name),
    ownKeys: () => Reflect.ownKeys(current),
    getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(current, name),
  });
  return { storage, turnTo: (next) => (current = next) };
}

test("C3: a process whose database is rolled back under it pays nobody of new money again, and tells the same as before", async () => {
  const { storage: turned, turnTo } = turnedStorage(await memoryStorage());
  let current: PaymentStorage;
  const world = await open();
  const order = await ordered(world);
  await world.service.stop();
  current = turnTo(await restore(order.copy));
  const service = world.another({ storage: turned });
  await service.start();
  const pass = async (minutes: number): Promise<void> => {
    for (let minute = 0; minute < minutes; minute++) {
      const { clock, chain } = world;
      chain.advance(40);
      await passTime(
        { clock, engine: service, storage: current, workflows: service.workflows },
        clock.now() + MINUTE,
      );
    }
  };
  world.chain.fund(order.address, { usdc: order.due });
  await pass(6);
  expect(await shown({ service }, world, order)).toMatchObject({ status: "completed" });

  current = turnTo(await restore(order.copy));
  const before = await owned(world, world.alice);
  world.chain.fund(order.address, { usdc: order.due });
  await pass(30);
  expect(await owned(world, world.bob)).toBe(3_000_001n);
  expect(await shown({ service }, world, order)).toMatchObject({ status: "completed" });
  expect(await owned(world, world.alice)).toBe(before + order.due);
  expect(await world.held(order.address)).toEqual(NOTHING);
  await service.stop();
});

test("C53: a copy that declines an order ends it only when the last block is final that takes what the lost copy signed right before", async () => {
  const world = await open();
  const { customer, bob, copies, nodes, chain, clock } = world;
  // What goes back has to bear the making of an account, which is more than all of the deposit.
  const sender = world.wallet("newcomer", { lamports: 1_000_000_000n });
  const { body } = await world.order(customer, { sender, to: [{ address: bob.address, amount: "0.01" }] });
  const id = body.transactionId;
  for (const node of nodes) node.tell(swallowsBytes);
  await world.deposit(body.ephemeralAddress, { usdc: units(body.depositAmount, 6) });
  const [go] = await world.storage.attemptsOf(`${id}:0`);
  const storage = await restore(copyWith(copies, id, { kind: "chunk", state: "planned" }));
  await world.service.stop();

  const service = world.another({ storage, ledger: world.ledgerOf(nodes.map(({ endpoint }) => endpoint)) });
  onTestFinished(async () => {
    await service.stop();
    await storage.close();
  });
  await service.operator.resolve(id, { action: "decline" }, BY);
  await service.start();
  await service.settled();
  const pass = async (slots: number): Promise<void> => {
    chain.advance(slots);
    await passTime({ clock, engine: service, storage, workflows: service.workflows }, clock.now() + MINUTE);
  };
  const statusOf = async (): Promise<unknown> => (await service.transaction(customer, id)).status;
  await pass(148);
  await world.ledger.broadcast(go?.bytes ?? new Uint8Array());
  // It has landed, and no finalized reading shows it yet.
  await pass(3);
  expect(await statusOf()).toBe("processing");
  for (let look = 0; look < 3; look++) await pass(35);
  expect(await owned(world, bob)).toBe(10_001n);
  expect(await statusOf()).toBe("completed");
  expect(await mattersOf({ service })).toEqual([]);
});

test("C62: a process whose database is set back under it ends a declined order only when the last block is final that takes what it had signed", async () => {
  const world = await open();
  const { customer, bob, copies, nodes, chain, clock } = world;
  const sender = world.wallet("newcomer", { lamports: 1_000_000_000n });
  const { body } = await world.order(customer, { sender, to: [{ address: bob.address, amount: "0.01" }] });
  const id = body.transactionId;
  await world.service.stop();
  for (const node of nodes) node.tell(swallowsBytes);
  const kept = await keepCopies(copies.at(-1));
  const { storage: turned, turnTo } = turnedStorage(kept.storage);
  let current = kept.storage;
  const ledger = world.ledgerOf(nodes.map(({ endpoint }) => endpoint));
  clock.advance(MINUTE);
  const service = world.another({ storage: turned, ledger });
  onTestFinished(() => service.stop());
  await service.start();
  const pass = async (slots: number): Promise<void> => {
    chain.advance(slots);
    const passing = { clock, engine: service, storage: current, workflows: service.workflows };
    await passTime(passing, clock.now() + MINUTE);
  };
  const statusOf = async (): Promise<unknown> => (await service.transaction(customer, id)).status;
  // Whatever another process has signed before this one began is dead by then.
  for (let look = 0; look < 4; look++) await pass(100);
  chain.fund(body.ephemeralAddress, { usdc: units(body.depositAmount, 6) });
  const goOf = async () => (await current.attemptsOf(`${id}:0`))[0];
  for (let look = 0; look < 40 && (await goOf()) === undefined; look++) {
    chain.advance(2);
    const passing = { clock, engine: service, storage: current, workflows: service.workflows };
    await passTime(passing, clock.now() + 1_000);
  }
  const go = await goOf();
  expect(go).toBeDefined();
  current = turnTo(await restore(copyWith(kept.copies, id, { kind: "chunk", state: "planned" })));
  await service.operator.resolve(id, { action: "decline" }, BY);
  await service.settled();
  await pass(120);
  expect(await statusOf()).toBe("processing");
  await world.ledger.broadcast(go?.bytes ?? new Uint8Array());
  for (let look = 0; look < 4; look++) await pass(35);
  expect(await owned(world, bob)).toBe(10_001n);
  expect(await statusOf()).toBe("completed");
  expect(await mattersOf({ service })).toEqual([]);
});

/** A journal that outlives every database. */
function keptJournal(): RecoveryJournal & { readonly lines: readonly JournalLine[] } {
  const lines: JournalLine[] = [];
  return {
    lines,
    write: async (line) => void lines.push(line),
    async endOf(id) {
      for (const line of lines) if (line.id === id && "status" in line) return line;
      return null;
    },
    async *read() {
      yield* lines;
    },
  };
}

test("C14: with an empty database and the journal, markers say who was paid, and all that is left goes back to the sender", async () => {
  const recovery = keptJournal();
  const world = await privateFixture({ storage: await memoryStorage(), recovery });
  const { chain, clock } = world;
  const customer = await world.caller("enterprise");
  const alice = world.wallet("alice", { lamports: 1_000_000_000n, usdc: 1n });
  const payees = Array.from({ length: 9 }, (_, n) => world.wallet(`payee ${n}`, { usdc: 1n }));
  const place = async (count: number) => {
    const to = payees.slice(0, count).map(({ address }) => ({ address, amount: "1" }));
    const { body } = await world.order(customer, { sender: alice, to });
    return { id: body.transactionId, address: body.ephemeralAddress, due: units(body.depositAmount, 6) };
  };
  const [unpaid, paid, cut] = [await place(1), await place(1), await place(9)];
  await world.deposit(paid.address, { usdc: paid.due });
  await world.settle();
  // Its go lands, and its second chunk is never sent.
  chain.fund(cut.address, { usdc: cut.due });
  chain.advance(35);
  await world.pass(10_000);
  await world.service.stop();
  const gotten = async (): Promise<bigint> =>
    (await Promise.all(payees.map(({ address }) => world.held(address)))).reduce(
      (sum, [, usdc]) => sum + usdc - 1n,
      0n,
    );
  clock.advance(DAY);
  chain.advance(200);
  expect(await gotten()).toBe(7_000_000n);

  const before = (await world.held(alice.address))[1];
  for (const { address } of [unpaid, paid]) chain.fund(address, { usdc: 5_000_000n });
  chain.advance(40);
  const storage = await memoryStorage();
  const service = world.another({ storage });
  await service.start();
  const recovered = await service.operator.recover(
    [unpaid, paid, cut].map(({ id }) => id),
    BY,
  );
  expect(recovered.map(({ state }) => state)).toEqual(["restored", "restored", "restored"]);
  for (let look = 0; look < 20; look++) {
    chain.advance(40);
    await passTime({ clock, engine: service, storage, workflows: service.workflows }, clock.now() + MINUTE);
  }
  expect(await gotten()).toBe(7_000_000n);
  for (const { address } of [unpaid, paid, cut]) expect(await world.held(address)).toEqual(NOTHING);
  const back = (await world.held(alice.address))[1] - before;
  const left = 10_000_000n + cut.due - 6_000_000n;
  // The chunk that was cut off has the fee with it.
  expect(back).toBeLessThanOrEqual(left);
  expect(back).toBeGreaterThan(11_500_000n);
  // What the lost database has paid is in no row: each of its orders says so, and a person ends it.
  const missing = (id: string, amount: string) => ({
    transactionId: id,
    findings: [{ finding: "missing", asset: "USDC", amount }],
  });
  const spent = [
    missing(paid.id, formatAmount(paid.due, 6)),
    missing(cut.id, formatAmount(6_000_000n + cut.due - 9_000_000n, 6)),
  ];
  const byId = (one: { transactionId: string }, other: { transactionId: string }): number =>
    one.transactionId < other.transactionId ? -1 : 1;
  const { findings } = await service.reconcile();
  expect(findings.toSorted(byId)).toMatchObject(spent.toSorted(byId));
  for (const { id } of [paid, cut]) {
    expect(await service.operator.resolve(id, { action: "conclude" }, BY)).toMatchObject({ state: "done" });
  }
  expect(await service.reconcile()).toMatchObject({ findings: [] });
  await service.stop();
  await storage.close();
  await world.close();
});
