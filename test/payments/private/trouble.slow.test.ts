/** What may go wrong between a plan and its landing: refusals, forks, forced attempts, stolen markers, dearer rent. */
import { expect } from "vitest";
import { keypairSigner, signTransaction } from "../../../src/ledger/sign-transaction.ts";
import { depositKeys } from "../../../src/payments/secrets/deposit-keys.ts";
import { readPlan, withSeeds } from "../../../src/payments/outgoing/plans/stored-plan.ts";
import type { PaymentRecord } from "../../../src/payments/tables/payments.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import { BY } from "../../kit/by.ts";
import { DAY, MINUTE, SOL, paymentsOf, type Ordered, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";
import { dropping } from "../../kit/odd-endpoints.ts";

const keys = (world: Scene) => depositKeys([TEST_MASTER_SECRET], () => world.chain.genesisHash);

/** What a force that has every key could still send: the payment's plan once more, over a new blockhash. */
async function forced(world: Scene, order: Ordered, payment: PaymentRecord): Promise<string | null> {
  const key = { masterVersion: 1, transactionId: order.id };
  const plan = withSeeds(readPlan(payment.plan), (mark) => keys(world).seed(key, mark));
  const unsigned = await world.ledger.buildTransaction(plan);
  const signed = await signTransaction(unsigned, [
    keypairSigner(world.sponsor.secretKey),
    keys(world).signer(key),
  ]);
  await world.ledger.broadcast(signed.bytes).catch(() => undefined);
  world.chain.advance(35);
  const [status] = await world.ledger.statuses([signed.signature]);
  return status?.error ?? null;
}

test("P29: a second attempt of a payout signed by force is refused by the chain through its marker", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due + 9_000_000n });
  await world.service.settled();
  world.chain.advance(3);
  await world.service.settled();
  const [payout] = await paymentsOf(world, order, "payout");
  if (payout === undefined) throw new Error("a payout is under way");
  expect(await forced(world, order, payout)).toMatch(/Custom.*0|AlreadyInUse/);
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  // Ours is the one that counts, so what the force cost is the sponsor's fee and nothing else.
  await world.judge();
});

test("E7: nothing is sent anew before the first attempt is proved dead, and then it is paid once", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  const lift = world.chain.faults.add(dropping);
  await world.deposit(order.address, { usdc: order.due });
  await world.service.settled();
  const [first] = await paymentsOf(world, order, "payout");
  for (let block = 0; block < 150; block += 30) {
    world.chain.advance(30);
    await world.service.settled();
    expect((await paymentsOf(world, order, "payout"))[0]?.signature).toBe(first?.signature);
  }
  lift();
  world.chain.advance(80);
  await world.settle(10);
  const [again] = await paymentsOf(world, order, "payout");
  expect(again).toMatchObject({ status: "finalized" });
  expect(again?.signature).not.toBe(first?.signature);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  // A dead attempt has cost nothing.
  expect(readPlan(again?.plan ?? "{}").costs).toHaveLength(1);
  await world.judge();
});

test("an attempt that landed while every node called it dead is recognised by its marker, and nothing is paid again", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due });
  await world.service.settled();
  const [payout] = await paymentsOf(world, order, "payout");
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
  const all = await paymentsOf(world, order, "payout");
  expect(all).toMatchObject([{ status: "finalized", signature: payout?.signature }]);
  const history = await world.storage.history(payout?.id ?? "", { after: 0, limit: 100 });
  expect(history.map(({ event }) => (JSON.parse(event) as { type: string }).type)).toEqual([
    ...["$started", "SIGNED", "BROADCAST", "EXPIRED", "MADE"],
  ]);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  await world.judge();
});

test("M4: a marker's address that somebody else funded stops nothing: the payment goes through under it", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  const lift = world.chain.faults.add(dropping);
  await world.deposit(order.address, { usdc: order.due });
  await world.service.settled();
  lift();
  // Whoever saw the first bytes on their way knows the address now, and is faster.
  const key = { masterVersion: 1, transactionId: order.id };
  const marker = world.ledger.markerAddress(order.address as never, keys(world).seed(key, "order"));
  const thief = world.wallet("thief", { lamports: SOL });
  world.chain.advance(1);
  await world.pay(thief, marker, await world.ledger.rentMinimum(0));
  await world.settle(4);
  await world.passAndSettle(2 * MINUTE, 14);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  const payouts = await paymentsOf(world, order, "payout");
  expect(payouts.map(({ mark, status }) => `${mark} ${status}`)).toEqual(["order finalized"]);
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  // The thief's lamports come back to the sponsor with the rest.
  await world.sweep();
  expect((await world.held(marker))[0]).toBe(0n);
  await world.judge();
});

test("E9: a payout that vanished with a fork after it was confirmed is sent again and finalized once", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due });
  await world.service.settled();
  const fork = world.chain.slot();
  world.chain.advance(2);
  await world.service.settled();
  expect(await world.shown(order)).toMatchObject({ status: "confirmed" });
  world.chain.rollback(fork - 1);
  expect((await world.held(world.bob.address))[1]).toBe(0n);
  world.chain.advance(1);
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
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
  "E15: rent that rises between quote and payout strands no %s order",
  async (asset, { open }) => {
    const world = await open();
    const carol = world.wallet("carol", { lamports: SOL });
    const order = await world.sendTo({ to: carol, asset, amount: "0.5" });
    const before = await world.ledger.rentMinimum(0);
    world.chain.setRent(3n * (before / 128n));
    await world.deposit(order.address, asset === "SOL" ? { lamports: order.due } : { usdc: order.due });
    await world.settle(8);
    expect(await world.shown(order)).toMatchObject({ status: "completed" });
    await world.sweep();
    expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
    await world.judge();
  },
);

test("E15: rent that rises between a payout's plan and its signature is lent anew", async ({ open }) => {
  const world = await open({}, { maxMarkerRent: SOL });
  const order = await world.sendTo({ asset: "SOL", amount: "0.001" });
  const before = await world.ledger.rentMinimum(0);
  // Planned with the old price, simulated with the new one.
  let isPlanned = false;
  world.chain.faults.add(({ method }) => {
    if (method === "simulateTransaction" && !isPlanned) {
      isPlanned = true;
      world.chain.setRent(40n * (before / 128n));
    }
    return undefined;
  });
  await world.deposit(order.address, { lamports: order.due });
  await world.settle(10);
  await world.passAndSettle(2 * MINUTE, 10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[0]).toBe(SOL + 1_000_000n);
  const payouts = await paymentsOf(world, order, "payout");
  expect(payouts.map(({ status, reason }) => `${status} ${reason}`).toSorted()).toEqual([
    "failed source",
    "finalized null",
  ]);
  await world.passAndSettle(11 * MINUTE, 6);
  await world.judge();
});

test("P23: a refund that fails is tried again, one at a time, in growing pauses, is shown all the while, and arrives in the end", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.freeze(world.alice, "USDC");
  await world.deposit(order.address, { usdc: order.due - 1n });
  await world.passAndSettle(31 * MINUTE);
  for (let round = 0; round < 3; round++) {
    const underWay = (await paymentsOf(world, order, "refund")).filter(
      ({ status }) => status !== "failed" && status !== "finalized",
    );
    expect(underWay.length).toBeLessThanOrEqual(1);
    await world.passAndSettle(21 * MINUTE, 2);
  }
  expect(await world.shown(order)).toMatchObject({ status: "processing", reason: "INCOMPLETE_DEPOSIT" });
  expect((await world.held(order.address))[1]).toBe(order.due - 1n);
  await world.thaw(world.alice, "USDC");
  await world.passAndSettle(DAY / 8, 8);
  const ended = await world.shown(order);
  expect(ended).toMatchObject({
    status: "failed",
    reason: "INCOMPLETE_DEPOSIT",
    refunds: [{ status: "paid" }],
  });
  await world.sweep();
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("P23: a refund that can never be made is held for the operator, visible and not lost, and the order ends", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.freeze(world.alice, "USDC");
  await world.deposit(order.address, { usdc: order.due - 1n });
  await world.passAndSettle(31 * MINUTE);
  await world.passAndSettle(2 * DAY, 2);
  const stuck = await world.shown(order);
  expect(stuck).toMatchObject({ status: "failed", reason: "INCOMPLETE_DEPOSIT", fee: "0" });
  expect(stuck.refunds).toMatchObject([{ asset: "USDC", status: "held", signature: null }]);
  expect((await paymentsOf(world, order, "refund")).length).toBe(8);
  expect(await world.stateOf(order)).toBe("held");
  await world.thaw(world.alice, "USDC");
  expect(await world.service.operator.releaseDeposit(order.id, BY)).toMatchObject({
    heldReason: "payment_fails",
  });
  await world.settle(8);
  expect((await world.shown(order)).refunds).toMatchObject([{ asset: "USDC", status: "paid" }]);
  await world.sweep();
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
  expect(await world.shown(order)).toMatchObject({ status: "processing" });
  const [deposit] = await world.storage.deposits([order.address]);
  expect(deposit?.heldReason).toBe("payment_cannot_be_made");
  await world.thaw(address, "USDC");
  await world.service.operator.releaseDeposit(order.id, BY);
  await world.passAndSettle(2 * MINUTE, 10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await world.judge();
});

test("lamports that arrive at a token order's address by mistake and below the cost of a refund are dust on its books", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  world.chain.setRent(1n);
  await world.deposit(order.address, { lamports: 900n });
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed", refunds: [] });
  await world.sweep();
  const entries = await world.storage.entries(order.address);
  expect(entries.filter(({ kind }) => kind === "dust")).toMatchObject([{ amount: 900n }]);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});
