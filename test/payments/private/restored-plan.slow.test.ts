/** M32: what becomes of a restored payroll that another copy has planned anew, since one payee could not be paid. */
import { expect, test } from "vitest";
import { BY } from "../../kit/by.ts";
import { units } from "../../kit/private-fixture.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { copyWith, isPlanned, type Progress } from "./kept-copies.ts";
import { swallowsBytes, type Lie } from "./lying-nodes.ts";
import {
  forget,
  open,
  owned,
  shown,
  startOn,
  type Ordered,
  type Restored,
  type World,
} from "./restored-world.ts";

const MINUTE = 60_000;

interface Payroll extends Ordered {
  readonly payees: readonly Wallet[];
}

/** An order of one unit for each of so many payees. */
async function payroll(world: World, payees: number): Promise<Payroll> {
  const wallets = Array.from({ length: payees }, (_, index) =>
    world.wallet(`payee ${index}`, { lamports: 1_000_000_000n, usdc: 1n }),
  );
  const to = wallets.map(({ address }) => ({ address, amount: "1" }));
  const { body } = await world.order(world.customer, { sender: world.alice, to });
  return {
    id: body.transactionId,
    address: body.ephemeralAddress,
    due: units(body.depositAmount, 6),
    copy: world.copies.at(-1) ?? new Uint8Array(),
    payees: wallets,
  };
}

/** The issuer freezes the accounts of these payees. */
async function freeze(world: World, { payees }: Payroll, indexes: readonly number[]): Promise<void> {
  const frozen = payees.filter((_, index) => indexes.includes(index));
  for (const payee of frozen) await world.freeze(payee, "USDC");
}

/** The money comes, and the copy that took the order does its part. */
async function serve(world: World, { address, due }: Payroll): Promise<void> {
  await world.deposit(address, { usdc: due });
  await world.settle(12);
  await world.service.stop();
}

/** The same money comes again, so that this copy has something to pay with; it is held. */
async function heldOn(world: World, order: Payroll): Promise<Restored> {
  world.chain.fund(order.address, { usdc: order.due });
  world.chain.advance(40);
  const restored = await startOn(world, order);
  await restored.pass(MINUTE);
  expect(await restored.heldReason()).toBe("unknown_spending");
  return restored;
}

/** The same, and an operator releases it. */
async function releasedOn(world: World, order: Payroll): Promise<Restored> {
  const restored = await heldOn(world, order);
  await restored.service.operator.releaseDeposit(order.id, BY);
  for (let look = 0; look < 5; look++) await restored.pass(11 * MINUTE);
  expect(await restored.heldReason()).toBeNull();
  return restored;
}

/** The order ends without these payees, and everybody else has exactly what is due. */
async function expectPaidInPart(
  world: World,
  { restored, order, without }: { restored: Restored; order: Payroll; without: readonly number[] },
): Promise<void> {
  const { status, reason, recipients } = await shown(restored, world, order);
  expect([status, reason]).toEqual(["failed", "PARTIAL_PAYOUT"]);
  const isLeftOut = (index: number): boolean => without.includes(index);
  expect(recipients.map((each) => each.status)).toEqual(
    order.payees.map((_, index) => (isLeftOut(index) ? "unpaid" : "paid")),
  );
  expect(await Promise.all(order.payees.map((payee) => owned(world, payee)))).toEqual(
    order.payees.map((_, index) => (isLeftOut(index) ? 1n : 1_000_001n)),
  );
}

const isSignedPlan = ({ kind, signature }: Progress): boolean => kind === "plan" && signature !== null;

const MOMENTS = [
  ["before its deposit", null],
  ["with its payout planned", isPlanned("payout")],
  ["with the plan made", isPlanned("plan")],
  ["with the plan signed", isSignedPlan],
] as const;
const PAYROLLS = [
  [3, [1]],
  [3, [0, 2]],
  [8, [1, 6]],
] as const;

test.each(
  MOMENTS.flatMap(([moment, wanted]) =>
    PAYROLLS.map(([payees, without]) => ({ moment, wanted, payees, without })),
  ),
)(
  "M32: a payroll restored $moment, which another copy has paid without an unpayable payee, ends once it is released, and nobody is paid twice ($payees payees without $without)",
  async ({ wanted, payees, without }) => {
    const world = await open();
    const order = await payroll(world, payees);
    await freeze(world, order, without);
    await serve(world, order);
    const copy = wanted === null ? order.copy : copyWith(world.copies, order.id, wanted);
    const restored = await releasedOn(world, { ...order, copy });
    await expectPaidInPart(world, { restored, order, without });
  },
);

test.each(MOMENTS.slice(0, 2))(
  "M32: a payroll restored %s, which another copy has paid without an unpayable payee, is told as paid in part when an operator sends what is left elsewhere",
  async (_, wanted) => {
    const world = await open();
    const order = await payroll(world, 3);
    await freeze(world, order, [1]);
    await serve(world, order);
    const copy = wanted === null ? order.copy : copyWith(world.copies, order.id, wanted);
    const restored = await heldOn(world, { ...order, copy });
    const safe = world.wallet("safe", { lamports: 1_000_000_000n });
    const command = { action: "refundTo", address: safe.address } as const;
    await restored.service.operator.resolve(`unexplained:${order.address}`, command, BY);
    for (let look = 0; look < 5; look++) await restored.pass(11 * MINUTE);
    await expectPaidInPart(world, { restored, order, without: [1] });
  },
);

test("M32: a payroll that another copy has paid without an unpayable payee is told as paid in part by its markers alone, where no node lists what was paid", async () => {
  const world = await open();
  const order = await payroll(world, 3);
  await freeze(world, order, [1]);
  await serve(world, order);
  forget(world, world.nodes);
  const restored = await startOn(world, order);
  for (let look = 0; look < 5; look++) await restored.pass(11 * MINUTE);
  await expectPaidInPart(world, { restored, order, without: [1] });
});

test("M32: a payroll restored while its refund is planned, whose markers another copy has closed, ends once it is released: nobody can be paid any more", async () => {
  const world = await open();
  const order = await payroll(world, 3);
  await freeze(world, order, [1]);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(12);
  await world.sweep();
  await world.service.stop();
  const copy = copyWith(world.copies, order.id, isPlanned("refund"));
  const restored = await releasedOn(world, { ...order, copy });
  await expectPaidInPart(world, { restored, order, without: [1] });
});

test("M32: several refunds that another copy has made hinder no release", async () => {
  const world = await open();
  const order = await payroll(world, 2);
  await world.deposit(order.address, { usdc: order.due + 2_000_000n });
  await world.settle(12);
  await world.deposit(order.address, { usdc: 2_000_000n });
  await world.pass(11 * MINUTE);
  await serve(world, order);
  const restored = await releasedOn(world, order);
  expect(await shown(restored, world, order)).toMatchObject({ status: "completed" });
});

/** From now on the nodes take the first transaction that they are sent, and lose all others; returns what ends this. */
function loseAllBut(count: 0 | 1, { nodes }: World): () => void {
  let taken: string | undefined;
  const lie: Lie = (asked) => {
    const bytes = String(asked.params[0]);
    if (count === 1 && asked.method === "sendTransaction") taken ??= bytes;
    return bytes === taken ? undefined : swallowsBytes(asked);
  };
  const ends = nodes.map((node) => node.tell(lie));
  return () => {
    for (const end of ends) end();
  };
}

test("M32: what another copy has planned and not paid is paid once, by the copy that is released", async () => {
  const world = await open();
  const order = await payroll(world, 3);
  await freeze(world, order, [1]);
  const mend = loseAllBut(1, world);
  await serve(world, order);
  expect(await owned(world, order.payees[0] as Wallet)).toBe(1n);
  mend();
  const copy = copyWith(world.copies, order.id, isPlanned("payout"));
  const restored = await releasedOn(world, { ...order, copy });
  await expectPaidInPart(world, { restored, order, without: [1] });
});

test("M32: a plan that was signed here and lost becomes the plan that another copy has made, which leaves out more payees", async () => {
  const world = await open();
  const order = await payroll(world, 3);
  await freeze(world, order, [1]);
  const mend = loseAllBut(0, world);
  await serve(world, order);
  mend();
  await freeze(world, order, [0]);
  const other = await startOn(world, {
    ...order,
    copy: copyWith(world.copies, order.id, isPlanned("payout")),
  });
  for (let look = 0; look < 3; look++) await other.pass(MINUTE);
  await other.service.stop();
  expect(await owned(world, order.payees[2] as Wallet)).toBe(1_000_001n);
  const copy = copyWith(world.copies, order.id, isSignedPlan);
  const restored = await releasedOn(world, { ...order, copy });
  await expectPaidInPart(world, { restored, order, without: [0, 1] });
});
