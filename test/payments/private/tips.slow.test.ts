/** Private orders through a relay that wants a tip. */
import { expect } from "vitest";
import { readPlan } from "../../../src/payments/outgoing/plans/stored-plan.ts";
import type { PaymentRecord } from "../../../src/payments/tables/payments.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import type { Address } from "../../../src/address.ts";
import { lastTransfer, tipRelay, type TipRelay } from "../../kit/tip-relay.ts";
import { orderedAs, paymentsOf, type Ordered, type Scene } from "./scene.ts";
import { sceneTest } from "./scene-test.ts";

const TIP = 100_000n;

/** A world with a relay, which new orders reserve a tip for while it is wanted. */
interface TippedScene extends Scene {
  readonly relay: TipRelay;
  readonly account: Address;
  readonly wanted: { tip: bigint };
}

const test = sceneTest.extend("tipped", async ({ open }) => {
  return async (funds: bigint = 1_000_000_000n): Promise<TippedScene> => {
    let made: Pick<TippedScene, "relay" | "account"> | undefined;
    const wanted = { tip: TIP };
    const world = await open({}, {}, (on): Ledger => {
      const { address: account } = on.wallet("relay", funds === 0n ? {} : { lamports: funds });
      const relay = tipRelay(on.chain, [account], TIP);
      made = { relay, account };
      const node = { url: "http://node.example", fetch: on.chain.fetch };
      const ledger = on.ledgerOf([node, relay.option]);
      return {
        ...ledger,
        time: async () => null,
        get tip() {
          return wanted.tip;
        },
      };
    });
    if (made === undefined) throw new Error("a world is opened with its ledger");
    return { ...world, ...made, wanted };
  };
});

/** The tips of the newest bytes of an order's payments of one kind; null for bytes that tip nobody. */
async function tipsOf(
  world: TippedScene,
  order: Ordered,
  kind: PaymentRecord["kind"],
): Promise<readonly (bigint | null)[]> {
  const payments = await paymentsOf(world, order, kind);
  const attempts = await world.storage.attempts(payments.flatMap(({ signature }) => signature ?? []));
  return attempts.map(({ bytes }) => {
    const last = lastTransfer(bytes);
    return last?.to === world.account ? last.lamports : null;
  });
}

async function payroll(world: Scene, count: number): Promise<Ordered> {
  const payees = Array.from({ length: count }, (_, index) => world.wallet(`payee ${index}`));
  const { body } = await world.order(world.customer, {
    sender: world.alice,
    to: payees.map(({ address }) => ({ address, amount: "0.5" })),
  });
  return orderedAs(body);
}

async function expectExplained(world: TippedScene): Promise<void> {
  expect(await world.service.operator.attention()).toEqual([]);
  expect(await world.service.reconcile()).toMatchObject({ isExplained: true });
}

test("N16: a payout tips the relay once, out of what its order has reserved, and all of it is explained", async ({
  tipped,
}) => {
  const world = await tipped();
  const [before] = await world.held(world.account);
  const order = await world.sendTo();
  const { amount: reserved = 0n } = (await world.storage.reservation(order.id)) ?? {};
  await world.deposit(order.address, { usdc: order.due });
  await world.settle();
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect(await tipsOf(world, order, "payout")).toEqual([TIP]);
  expect(world.relay.sent.size).toBe(1);
  expect(await world.held(world.account)).toEqual([before + TIP, 0n, 0n]);
  const [payout] = await paymentsOf(world, order, "payout");
  const [cost = "0"] = readPlan(payout?.plan ?? "{}").costs ?? [];
  expect(BigInt(cost)).toBeGreaterThan(TIP);
  // A tip for each of four attempts, and one for each refund that may be due.
  world.wanted.tip = 0n;
  const other = await world.sendTo({ to: world.wallet("carol") });
  const { amount: untipped = 0n } = (await world.storage.reservation(other.id)) ?? {};
  expect(reserved - untipped).toBe(TIP * 6n);
  await world.sweep();
  // Nobody waits for a sweep.
  expect(await tipsOf(world, order, "sweep")).toEqual([null]);
  expect(world.relay.sent.size).toBe(1);
  await expectExplained(world);
  await world.judge();
});

test("N16: the fullest payout and an order that was taken before the relay wanted anything go without a tip, and past the relay", async ({
  tipped,
}) => {
  const world = await tipped();
  world.wanted.tip = 0n;
  const earlier = await world.sendTo();
  world.wanted.tip = TIP;
  const full = await payroll(world, 6);
  for (const order of [earlier, full]) await world.deposit(order.address, { usdc: order.due });
  await world.settle();
  for (const order of [earlier, full]) {
    expect(await world.shown(order)).toMatchObject({ status: "completed" });
    expect(await tipsOf(world, order, "payout")).toEqual([null]);
  }
  expect(world.relay.sent.size).toBe(0);
  await expectExplained(world);
  await world.judge();
});

test("N16: chunks that have room tip, each once, and the plan that they follow", async ({ tipped }) => {
  const world = await tipped();
  const order = await payroll(world, 12);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  const tips = await tipsOf(world, order, "payout");
  expect(tips).toEqual([TIP, TIP, TIP]);
  expect(await tipsOf(world, order, "plan")).toEqual([TIP]);
  await expectExplained(world);
  await world.judge();
});

test("N16: a relay whose account does not exist is tipped nothing, and nobody waits for it", async ({
  tipped,
}) => {
  const world = await tipped(0n);
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due });
  await world.settle();
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect(await tipsOf(world, order, "payout")).toEqual([null]);
  await expectExplained(world);
  await world.judge();
});

test("N16: a refund withholds the tip and pays it", async ({ tipped }) => {
  const world = await tipped();
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due + 5_000_000n });
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect(await tipsOf(world, order, "refund")).toEqual([TIP]);
  await expectExplained(world);
  await world.judge();
});
