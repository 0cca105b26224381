/** What may go wrong between a decision and its landing: refusals, forks, forced attempts, stolen markers, dearer rent. */
// modules: private
import { VersionedTransaction } from "@solana/web3.js";
import { expect } from "vitest";
import { BY } from "../../kit/by.ts";
import { dropping } from "../../kit/odd-endpoints.ts";
import type { AttemptRecord } from "../../../src/payments/frame/tables/attempts.ts";
import { units } from "../../kit/money.ts";
import { lamportsAt } from "./photograph.ts";
import { signAs } from "./sign-as.ts";
import { MINUTE, orderedAs, SOL, transfersOf, type Ordered, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";

/** The signed bytes of what an order sends of this kind, oldest first. */
async function attemptsOf(
  world: Scene,
  order: Ordered,
  kind: "chunk" | "rest",
): Promise<readonly AttemptRecord[]> {
  const transfers = await transfersOf(world, order, kind);
  return world.storage.attemptsOfAny(transfers.map(({ id }) => id));
}

/** What a force that has every key could still send: the same message once more, over a new blockhash. */
async function forced(world: Scene, order: Ordered, { bytes }: AttemptRecord): Promise<string | null> {
  const { message } = VersionedTransaction.deserialize(bytes);
  const fresh = await world.ledger.buildTransaction({ feePayer: world.sponsor.address, moves: [] });
  message.recentBlockhash = fresh.blockhash;
  const signature = await signAs(world, order, message);
  world.chain.advance(35);
  const [status] = await world.ledger.statuses([signature]);
  return status?.error ?? null;
}

test("P29, K1: a second attempt of a payout signed by force is refused by the chain through its marker", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due + 9_000_000n });
  await world.service.settled();
  world.chain.advance(3);
  await world.service.settled();
  const [attempt] = await attemptsOf(world, order, "chunk");
  if (attempt === undefined) throw new Error("a payout is under way");
  expect(await forced(world, order, attempt)).toMatch(/Custom.*0|AlreadyInUse/);
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  // Ours is the one that counts, so what the force cost is the sponsor's fee and nothing else.
  await world.judge();
});

test("E7: nothing is signed anew before the first attempt is proved dead, and then it is paid once", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  const lift = world.chain.faults.add(dropping);
  await world.deposit(order.address, { usdc: order.due });
  await world.service.settled();
  const [first] = await attemptsOf(world, order, "chunk");
  for (let block = 0; block < 150; block += 30) {
    world.chain.advance(30);
    await world.service.settled();
    expect((await attemptsOf(world, order, "chunk")).map(({ id }) => id)).toEqual([first?.id]);
  }
  lift();
  world.chain.advance(80);
  await world.passAndSettle(10_000, 10);
  const attempts = await attemptsOf(world, order, "chunk");
  expect(attempts).toHaveLength(2);
  const ended = await world.shown(order);
  expect(ended).toMatchObject({ status: "completed" });
  const again = attempts.find(({ id }) => id !== first?.id);
  expect(ended.recipients[0]?.signature).toBe(again?.id);
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  await world.judge();
});

test("an attempt that landed while every node called it dead is recognised by its marker, and nothing is paid again", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due });
  await world.service.settled();
  const [attempt] = await attemptsOf(world, order, "chunk");
  // From here on the nodes deny every signature, though the bytes are there.
  const lift = world.chain.faults.add(({ method }) => {
    if (method !== "getSignatureStatuses") return undefined;
    return {
      kind: "lie",
      answer: (honest) => {
        const { context, value } = honest as { context: unknown; value: readonly unknown[] };
        return { context, value: value.map(() => null) };
      },
    };
  });
  world.chain.advance(35);
  await world.service.settled();
  world.chain.advance(200);
  await world.service.settled();
  lift();
  await world.settle(10);
  expect((await attemptsOf(world, order, "chunk")).map(({ id }) => id)).toEqual([attempt?.id]);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  await world.judge();
});

test("M4: a marker's address that somebody else funded stops nothing: the payment goes through under it", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  // Anybody can know the address: it follows from the order's.
  const marker = world.ledger.markerOf(order.address as never, "0");
  const thief = world.wallet("thief", { lamports: SOL });
  world.chain.advance(1);
  const rent = await world.ledger.rentMinimum(0);
  await world.pay(thief, marker, rent);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect(await attemptsOf(world, order, "chunk")).toHaveLength(1);
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  // What the thief gave stays there for ever, beside the rent.
  expect(await lamportsAt(world.chain, marker)).toBe(2n * rent);
  await world.judge();
});

test("E9, K9: a payout that vanished with a fork after it was confirmed is sent again and finalized once", async ({
  open,
}) => {
  const world = await open();
  const payees = Array.from({ length: 8 }, (_, index) =>
    world.wallet(`payee ${index}`, { lamports: 1_000_000n, usdc: 1n }),
  );
  const { body } = await world.order(world.customer, {
    sender: world.alice,
    to: payees.map(({ address }) => ({ address, amount: "0.5" })),
  });
  const order = orderedAs(body);
  await world.deposit(order.address, { usdc: order.due });
  // The first chunk is final, the second one is on its way.
  await world.passAndSettle(1_000, 1);
  world.chain.advance(35);
  await world.service.settled();
  const fork = world.chain.slot();
  world.chain.advance(2);
  await world.service.settled();
  await world.passAndSettle(1_000, 1);
  expect(await world.shown(order)).toMatchObject({ status: "confirmed" });
  world.chain.rollback(fork - 1);
  world.chain.advance(1);
  expect(await world.shown(order)).toMatchObject({ status: "confirmed" });
  await world.settle(14);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  for (const { address } of payees) expect((await world.held(address))[1]).toBe(500_001n);
  const notices = await world.storage.notices(order.id);
  expect(notices.map(({ event }) => event).toSorted()).toEqual([
    "transaction.completed",
    "transaction.confirmed",
    "transaction.deposit_received",
    "transaction.pending",
  ]);
  await world.judge();
});

test.for(["USDC", "SOL"] as const)(
  "E15, K2: rent that nearly doubles between quote and payout strands no %s order",
  async (asset, { open }) => {
    const world = await open();
    const carol = world.wallet("carol", { lamports: SOL });
    const order = await world.sendTo({ to: carol, asset, amount: "0.5" });
    world.chain.setRent((19n * (await perByte(world))) / 10n);
    await world.deposit(order.address, asset === "SOL" ? { lamports: order.due } : { usdc: order.due });
    await world.settle(12);
    expect(await world.shown(order)).toMatchObject({ status: "completed" });
    expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
    await world.judge();
  },
);

/** Lamports of rent a byte. */
async function perByte({ ledger }: Scene): Promise<bigint> {
  return (await ledger.rentMinimum(0)) / 128n;
}

test("E15, K2: above twice the order's rent nothing is signed until a person's retry takes the rent of that moment", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  world.chain.setRent(3n * (await perByte(world)));
  await world.deposit(order.address, { usdc: order.due });
  await world.passAndSettle(5 * MINUTE, 6);
  expect(await world.shown(order)).toMatchObject({
    status: "processing",
    attention: "waiting_for_funds",
  });
  expect(await attemptsOf(world, order, "chunk")).toEqual([]);
  const [matter] = await world.service.operator.attention();
  expect(matter).toMatchObject({ kind: "waiting_for_funds", transactionId: order.id });
  await world.service.operator.resolve(matter?.id ?? "", { action: "retry" }, BY);
  await world.settle(12);
  expect(await world.shown(order)).toMatchObject({ status: "completed", attention: null });
  expect(await world.service.operator.attention()).toEqual([]);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test.for([
  ["USDC", 19],
  ["SOL", 19],
  ["USDC", 20],
  ["SOL", 20],
] as const)(
  "C49: rent that rises between a %s order and its refund to %s tenths is withheld of it, and doubled waits for a person's retry",
  async ([asset, tenths], { open }) => {
    const world = await open();
    const order = await world.sendTo({ asset, amount: "0.5" });
    const before = await world.held(world.sponsor.address);
    const part = order.due - 1n;
    await world.deposit(order.address, asset === "SOL" ? { lamports: part } : { usdc: part });
    const rate = (BigInt(tenths) * (await perByte(world))) / 10n;
    world.chain.setRent(rate);
    await world.passAndSettle(31 * MINUTE, 8);
    if (tenths === 20) {
      const [matter] = await world.service.operator.attention();
      expect(matter).toMatchObject({ kind: "waiting_for_funds", transactionId: order.id });
      await world.service.operator.resolve(matter?.id ?? "", { action: "retry" }, BY);
      await world.passAndSettle(MINUTE, 8);
    }
    const ended = await world.shown(order);
    expect(ended).toMatchObject({ status: "failed", refunds: [{ asset, status: "paid" }], unreturned: [] });
    if (asset === "SOL") expect(units(ended.refunds[0]?.cost ?? "0", 9)).toBeGreaterThan(129n * rate);
    expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
    expect((await world.held(world.sponsor.address))[0]).toBeGreaterThanOrEqual(before[0]);
    expect(await world.service.operator.attention()).toEqual([]);
    await world.judge();
  },
);

test("E15: rent that rises between a chunk's reading and its run is read again", async ({ open }) => {
  const world = await open();
  const order = await world.sendTo({ asset: "SOL", amount: "0.001" });
  const before = await perByte(world);
  let runs = 0;
  world.chain.faults.add(({ method }) => {
    if (method === "simulateTransaction" && runs++ === 0) world.chain.setRent((3n * before) / 2n);
    return undefined;
  });
  await world.deposit(order.address, { lamports: order.due });
  await world.passAndSettle(2 * MINUTE, 10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect(runs).toBeGreaterThan(1);
  expect((await world.held(world.bob.address))[0]).toBe(SOL + 1_000_000n);
  await world.judge();
});

test("P23: a refund that does not land is tried again, one at a time, is shown all the while, and arrives in the end", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due - 1n });
  // The refusal lands, and nothing after it.
  let refusal: unknown;
  const lift = world.chain.faults.add(({ method, params }) => {
    if (method !== "sendTransaction") return undefined;
    refusal ??= params[0];
    return params[0] === refusal ? undefined : { kind: "drop" };
  });
  await world.passAndSettle(31 * MINUTE, 8);
  for (let round = 0; round < 8; round++) {
    await world.passAndSettle(MINUTE, 2);
    const now = await world.ledger.heights("finalized");
    const alive = (await attemptsOf(world, order, "rest")).filter(
      ({ lastValidBlockHeight }) => lastValidBlockHeight >= now.agreed,
    );
    expect(alive.length).toBeLessThanOrEqual(1);
    expect(await world.shown(order)).toMatchObject({
      status: "failed",
      reason: "INCOMPLETE_DEPOSIT",
      refunds: [{ asset: "USDC", status: "pending" }],
    });
  }
  expect((await attemptsOf(world, order, "rest")).length).toBeGreaterThan(1);
  expect((await world.held(order.address))[1]).toBe(order.due - 1n);
  lift();
  await world.passAndSettle(5 * MINUTE, 8);
  expect(await world.shown(order)).toMatchObject({ refunds: [{ status: "paid" }] });
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("P23, K11: a refund that its sender cannot take is held for the operator, visible and not lost, and the order ends", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.freeze(world.alice, "USDC");
  await world.deposit(order.address, { usdc: order.due - 1n });
  await world.passAndSettle(31 * MINUTE, 8);
  await world.passAndSettle(10 * MINUTE, 4);
  const stuck = await world.shown(order);
  expect(stuck).toMatchObject({
    status: "failed",
    reason: "INCOMPLETE_DEPOSIT",
    fee: "0",
    attention: "held",
    unreturned: [{ asset: "USDC", reason: "held" }],
  });
  expect(await attemptsOf(world, order, "rest")).toEqual([]);
  const [matter] = await world.service.operator.attention();
  expect(matter).toMatchObject({ kind: "held", transactionId: order.id });
  await world.thaw(world.alice, "USDC");
  await world.service.operator.resolve(matter?.id ?? "", { action: "release" }, BY);
  await world.settle(10);
  expect((await world.shown(order)).refunds).toMatchObject([{ asset: "USDC", status: "paid" }]);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("a deposit address whose own account the issuer froze holds its order for the operator instead of trying for ever", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  const address = { address: order.address, secretKey: new Uint8Array() } as never;
  world.chain.fund(order.address, { usdc: order.due });
  world.chain.advance(1);
  await world.freeze(address, "USDC");
  await world.settle(4);
  await world.passAndSettle(40 * MINUTE, 2);
  expect(await world.shown(order)).toMatchObject({ status: "processing", attention: "held" });
  const view = await world.storage.orderedTransaction(order.id);
  expect(view?.order?.holds).toMatchObject([{ reason: "address_frozen", endedAt: null }]);
  await world.thaw(address, "USDC");
  await world.service.operator.resolve(`held:${order.id}`, { action: "release" }, BY);
  await world.passAndSettle(2 * MINUTE, 10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await world.judge();
});

test("lamports that arrive at a token order's address by mistake, and that its sender's empty wallet cannot hold, are dust on its books", async ({
  open,
}) => {
  const world = await open();
  const poor = world.wallet("poor", { usdc: 1n });
  const { body } = await world.order(world.customer, {
    sender: poor,
    to: [{ address: world.bob.address, amount: "5" }],
  });
  const order = orderedAs(body);
  const account = world.tokenAccountOf({ ...poor, address: order.address as never }, "USDC");
  await world.openAccount({ ...poor, address: order.address as never }, "USDC");
  await world.pay(world.alice, account, 900n);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(12);
  expect(await world.shown(order)).toMatchObject({
    status: "completed",
    refunds: [],
    unreturned: [{ asset: "SOL", amount: "0.0000009", reason: "dust" }],
  });
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});
