/** A refund to another address that a newer word takes back: nobody gets what the newest word does not send there. */
import { expect } from "vitest";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { BY } from "../../kit/by.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { heldOrder } from "../private/held-order.ts";
import { sceneTest as test } from "../private/scene-test.ts";
import { MINUTE, type Ordered, type Scene } from "../private/scene.ts";
import { dropping } from "../../kit/odd-endpoints.ts";

const usdcAt = async (world: Scene, { address }: Pick<Wallet, "address">): Promise<bigint> =>
  (await world.held(address))[1];

const paymentsOf = async ({ storage }: Scene, { id }: Ordered) =>
  (await storage.transaction(id))?.payments.map(({ kind, status }) => [kind, status]);

test("M35: a release that comes while a refund elsewhere is being planned takes it back: all goes to the sender", async ({
  open,
}) => {
  const { world, order, dave } = await heldOrder(open);
  await world.service.stop();
  const { operator } = world.another();
  let released = 0;
  // The plan looks at what the address has signed when it has concluded all else.
  const signedBy: typeof world.ledger.signedBy = async (...asked) => {
    const listed = await world.ledger.signedBy(...asked);
    if (released === 0) {
      released = 1;
      expect(await operator.releaseDeposit(order.id, BY)).toMatchObject({ allowed: null });
    }
    return listed;
  };
  await operator.resolve(`held:${order.address}`, { action: "refundTo", address: dave.address }, BY);
  const service = world.another({ ledger: { ...world.ledger, signedBy } });
  await service.start();
  for (let round = 0; round < 6; round++) {
    await service.settled();
    world.chain.advance(35);
  }
  expect(released).toBe(1);
  expect(await usdcAt(world, dave)).toBe(0n);
  expect(await usdcAt(world, world.alice)).toBeGreaterThan(5_000_000n);
  // The plan by the older word has started no payment.
  expect(await paymentsOf(world, order)).toEqual([["refund", "finalized"]]);
  await service.stop();
});

test("M35: while a refund elsewhere is under way no release says that it goes to the sender", async ({
  open,
}) => {
  const { world, order, dave } = await heldOrder(open);
  const { operator } = world.service;
  const lift = world.chain.faults.add(dropping);
  await operator.resolve(`held:${order.address}`, { action: "refundTo", address: dave.address }, BY);
  await world.service.settled();
  expect(await paymentsOf(world, order)).toEqual([["refund", "broadcast"]]);
  await expect(operator.releaseDeposit(order.id, BY)).rejects.toThrow("is at work");
  // A held address is no exception while the signed refund may still land.
  const held = {
    table: "deposits",
    id: order.address,
    set: { heldReason: "unknown_spending" },
  } as const;
  await world.storage.commit([{ writes: [held] }]);
  await expect(operator.releaseDeposit(order.id, BY)).rejects.toThrow("is at work");
  await world.storage.commit([{ writes: [{ ...held, set: { heldReason: null } }] }]);
  lift();
  await world.settle(10);
  expect(await usdcAt(world, dave)).toBeGreaterThan(5_000_000n);
  expect((await operator.auditLog()).map(({ act }) => act)).toEqual(["refund_to"]);
});

test("M35: a refund elsewhere that was planned and not signed before its address was held again is not signed once the address is released to the sender", async ({
  open,
}) => {
  const { world, order, dave } = await heldOrder(open);
  await world.service.stop();
  let isSilent = true;
  const buildTransaction: typeof world.ledger.buildTransaction = async (plan) => {
    if (isSilent) throw new Error("no blockhash now");
    return world.ledger.buildTransaction(plan);
  };
  const service = world.another({ ledger: { ...world.ledger, buildTransaction } });
  await service.start();
  const { operator } = service;
  await operator.resolve(`held:${order.address}`, { action: "refundTo", address: dave.address }, BY);
  await service.settled();
  expect(await paymentsOf(world, order)).toEqual([["refund", "planned"]]);
  await expect(operator.releaseDeposit(order.id, BY)).rejects.toThrow("is at work");
  const heldReason = "unknown_spending";
  await world.storage.commit([{ writes: [{ table: "deposits", id: order.address, set: { heldReason } }] }]);
  expect(await operator.releaseDeposit(order.id, BY)).toMatchObject({ heldReason, allowed: null });
  isSilent = false;
  for (let round = 0; round < 10; round++) {
    world.clock.advance(2 * MINUTE);
    world.chain.advance(35);
    await service.settled();
  }
  expect(await usdcAt(world, dave)).toBe(0n);
  expect(await usdcAt(world, world.alice)).toBeGreaterThan(5_000_000n);
  await service.stop();
});

test("M29: a step that the address makes after its money was read refuses the release", async ({ open }) => {
  const { world, order } = await heldOrder(open);
  await world.service.stop();
  const step = async (): Promise<void> => {
    const stored = await world.storage.load(order.address);
    if (stored === null) throw new Error("the address has an instance");
    const { id, stamp: after, workflow, hash, snapshot } = stored;
    const at = world.clock.now();
    await world.storage.commit([
      { step: { id, after, stamp: `${after}.next`, workflow, hash, status: "active", snapshot, at } },
    ]);
  };
  // It is read when all is known that the word says.
  const storage: PaymentStorage = {
    ...world.storage,
    async find(query) {
      if (query.table.name === "lives") await step();
      return world.storage.find(query);
    },
  };
  const { operator } = world.another({ storage });
  await expect(operator.releaseDeposit(order.id, BY)).rejects.toThrow("is at work");
  expect(await world.storage.vouchings(order.address)).toEqual([]);
  expect(await operator.auditLog()).toEqual([]);
});

test.for(["while it waits for its deposit", "once it was over"])(
  "M29: a release holds though a screening that began before it answers after it, of an order %s",
  async (when, { open }) => {
    let release = async (): Promise<void> => {};
    const world = await open(
      {},
      {
        screen: async (_address, { role }) => {
          if (role !== "depositor") return "ok";
          await release();
          return "refused";
        },
      },
    );
    const order = await world.sendTo();
    const heldFor: unknown[] = [];
    release = async () => {
      if (heldFor.length > 0) return;
      heldFor.push((await world.another().operator.releaseDeposit(order.id, BY)).heldReason);
    };
    if (when === "once it was over") await world.service.cancelTransaction(world.customer, order.id);
    world.chain.fund(order.address, { usdc: order.due });
    await world.passAndSettle(6 * MINUTE, 8);
    expect(heldFor).toEqual([null]);
    expect((await world.storage.deposits([order.address]))[0]?.heldReason).toBeNull();
    const { status, refunds } = await world.shown(order);
    expect([status, refunds?.length ?? 0]).toEqual(
      when === "once it was over" ? ["cancelled", 1] : ["completed", 0],
    );
  },
);

test("M29: a request that waits for a second person is not put over a decision that was committed meanwhile", async ({
  open,
}) => {
  const { world, order, dave } = await heldOrder(open, { approvals: 2 });
  const id = `held:${order.address}`;
  const accountKinds: typeof world.ledger.accountKinds = async (...asked) => {
    await world.another().operator.resolve(id, { action: "writeOff" }, BY);
    return world.ledger.accountKinds(...asked);
  };
  const { operator } = world.another({ ledger: { ...world.ledger, accountKinds } });
  const bea = { actor: "bea", reason: "checked" };
  await expect(operator.resolve(id, { action: "refundTo", address: dave.address }, bea)).rejects.toThrow(
    "somebody else has just decided",
  );
  expect((await world.storage.decision(id))?.proposal).toBeNull();
  expect((await operator.auditLog()).map(({ act }) => act)).toEqual(["write_off"]);
});
