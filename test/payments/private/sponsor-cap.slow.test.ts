/** R7: what the sponsor may spend on one order bounds all of its attempts together, also those that are signed at once. */
import { describe, expect, test as base } from "vitest";
import { readPlan } from "../../../src/payments/outgoing/plans/stored-plan.ts";
import { adapters } from "../../kit/adapters.ts";
import { BY } from "../../kit/by.ts";
import { opener } from "../../kit/opener.ts";
import { drawn } from "../../kit/thorough.ts";
import { MINUTE, orderedAs, sceneOn, type Ordered, type Scene } from "./scene.ts";
import { dropping } from "../../kit/odd-endpoints.ts";

const test = base.extend("open", ({ onTestFinished }) => opener(sceneOn, onTestFinished));

/** A payroll of three payouts that follow one plan. */
async function payroll(world: Scene): Promise<Ordered> {
  const payees = Array.from({ length: 12 }, (_, index) =>
    world.wallet(`payee ${index}`, { lamports: 1_000_000n, usdc: 1n }),
  );
  const { body } = await world.order(world.customer, {
    sender: world.alice,
    to: payees.map(({ address }) => ({ address, amount: "0.5" })),
  });
  return orderedAs(body);
}

/** What each payment's attempts cost the sponsor, by kind; the first one counts the rent, which one of them pays. */
async function costsOf(
  { storage }: Scene,
  { id }: Ordered,
): Promise<readonly { readonly kind: string; readonly cost: bigint }[]> {
  const { payments = [] } = (await storage.transaction(id)) ?? {};
  return payments.flatMap(({ kind, plan }) =>
    (readPlan(plan).costs ?? []).map((cost, index) => {
      const { rent = "0" } = readPlan(plan);
      return { kind, cost: BigInt(cost) + (index === 0 ? BigInt(rent) : 0n) };
    }),
  );
}

/** From now on no more may be spent on the order. */
async function allow({ storage, clock }: Scene, { address }: Ordered, allowance: bigint): Promise<void> {
  const instance = await storage.load(address);
  if (instance === null) throw new Error("the address has an instance");
  const { workflow, hash, stamp: after } = instance;
  const stored = JSON.parse(instance.snapshot) as { readonly context: object };
  const snapshot = JSON.stringify({
    ...stored,
    context: { ...stored.context, allowance: String(allowance) },
  });
  const step = {
    id: address,
    after,
    stamp: `${after}.next`,
    workflow,
    hash,
    status: "active",
    snapshot,
    at: clock.now(),
  } as const;
  const [result] = await storage.commit([{ step }]);
  expect(result?.ok).toBe(true);
}

const sumOf = (costs: readonly { readonly cost: bigint }[]): bigint =>
  costs.reduce((sum, { cost }) => sum + cost, 0n);

describe.each(drawn(adapters, "sponsor cap"))("on $name", (adapter) => {
  test("R7: payouts that are signed at once do not pass together what their order may cost", async ({
    open,
  }) => {
    const before = await open(adapter);
    const served = await payroll(before);
    await before.deposit(served.address, { usdc: served.due });
    await before.settle(12);
    const all = await costsOf(before, served);
    const payouts = all.filter(({ kind }) => kind === "payout");
    expect(payouts).toHaveLength(3);
    const [payout] = payouts;
    const plans = sumOf(all.filter(({ kind }) => kind === "plan"));

    const world = await open(adapter);
    const order = await payroll(world);
    const allowance = plans + ((payout?.cost ?? 0n) * 5n) / 2n;
    await allow(world, order, allowance);
    await world.deposit(order.address, { usdc: order.due });
    await world.settle(12);
    await world.passAndSettle(MINUTE, 4);
    const signed = await costsOf(world, order);
    expect(signed.filter(({ kind }) => kind === "payout")).toHaveLength(2);
    expect(sumOf(signed)).toBeLessThanOrEqual(allowance);
    expect((await world.storage.deposits([order.address]))[0]?.heldReason).toBe("sponsor_cap");
    // A word grants as much again as the order was reserved for.
    await world.service.operator.releaseDeposit(order.id, BY);
    await world.passAndSettle(MINUTE, 8);
    expect(await world.shown(order)).toMatchObject({ status: "completed" });
  });

  test("R7: an attempt that can land no more takes nothing of what its order may cost", async ({ open }) => {
    const world = await open(adapter);
    const order = await world.sendTo();
    const lift = world.chain.faults.add(dropping);
    await world.deposit(order.address, { usdc: order.due });
    for (let round = 0; round < 4; round++) {
      world.chain.advance(200);
      await world.passAndSettle(2 * MINUTE, 2);
    }
    lift();
    await world.settle(8);
    await world.passAndSettle(2 * MINUTE, 4);
    const taken = await world.storage.reservations(`costs of ${order.address}`);
    const [payment] = (await world.storage.transaction(order.id))?.payments ?? [];
    expect(payment?.status).toBe("finalized");
    const { signatures = [] } = readPlan(payment?.plan ?? "{}");
    expect(signatures.length).toBeGreaterThan(1);
    expect(taken.map(({ amount: cost }) => cost)).toEqual(
      (await costsOf(world, order)).map(({ cost }) => cost),
    );
    expect(taken).toHaveLength(1);
  });
});
