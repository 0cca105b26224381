/** Which open orders an operator can decline by sending their money elsewhere, and that their recipients are not paid then. */
import { expect, onTestFinished } from "vitest";
import { isDeclinedPayment } from "../../../src/payments/outgoing/declined.ts";
import type { VouchingRecord } from "../../../src/payments/tables/deposits.ts";
import { adapters } from "../../kit/adapters.ts";
import { BY } from "../../kit/by.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { memoryStorage } from "../../kit/storages.ts";
import { drawn } from "../../kit/thorough.ts";
import { MINUTE, SOL, type Ordered, type Scene } from "../private/scene.ts";
import { sceneTest as test } from "../private/scene-test.ts";
import { dropping } from "../../kit/odd-endpoints.ts";

const usdcAt = async (world: Scene, address: string): Promise<bigint> => (await world.held(address))[1];

async function payIn(world: Scene, order: Ordered, then: () => unknown = () => {}): Promise<void> {
  const erin = world.wallet("erin", { lamports: SOL, usdc: 90_000_000n });
  await world.openAccount({ ...erin, address: order.address as Wallet["address"] }, "USDC");
  await world.payTokens(erin, order.address, "USDC", order.due);
  then();
  await world.settle(4);
}

const heldFor = async ({ storage }: Scene, { address }: Ordered): Promise<string | null | undefined> =>
  (await storage.deposits([address]))[0]?.heldReason;

test("M10: an order whose recipient is refused when it is to be paid ends by a refund elsewhere, and pays nobody", async ({
  open,
}) => {
  let refused: string | null = null;
  const world = await open({}, { screen: async (address) => (address === refused ? "refused" : "ok") });
  const order = await world.sendTo();
  refused = world.bob.address;
  await payIn(world, order);
  expect(await heldFor(world, order)).toBe("screening");
  expect(await world.stateOf(order)).toBe("spending");
  const { address } = world.wallet("safe", { lamports: SOL });
  refused = null;
  await world.service.operator.resolve(`held:${order.address}`, { action: "refundTo", address }, BY);
  await world.settle(8);
  for (let look = 0; look < 3; look++) await world.passAndSettle(11 * MINUTE, 4);
  expect(await world.shown(order)).toMatchObject({ status: "failed", reason: "REFUNDED_BY_OPERATOR" });
  const { payments = [] } = (await world.storage.transaction(order.id)) ?? {};
  expect(payments.filter(({ kind }) => kind === "payout")).toEqual([]);
  expect(await usdcAt(world, world.bob.address)).toBe(0n);
  expect(await usdcAt(world, address)).toBeGreaterThan(4_000_000n);
  await world.judge();
});

test("M10: an order of which a payment to its recipient is signed is not sent elsewhere", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await payIn(world, order, () => world.chain.faults.add(dropping));
  const { payments = [] } = (await world.storage.transaction(order.id)) ?? {};
  expect(payments).toMatchObject([{ kind: "payout", signature: expect.any(String) as string }]);
  const set = { heldReason: "payment_fails" };
  await world.storage.commit([{ writes: [{ table: "deposits", id: order.address, set }] }]);
  const { address } = world.wallet("safe", { lamports: SOL });
  await expect(
    world.service.operator.resolve(`held:${order.address}`, { action: "refundTo", address }, BY),
  ).rejects.toThrow("a payment of its order is signed or planned");
  expect(await world.stateOf(order)).toBe("spending");
});

test.for(drawn(adapters, "declined while it is signed"))(
  "M10: a payout that is being signed while its order is sent elsewhere is not committed, and its recipient gets nothing (on $name)",
  async (adapter, { open }) => {
    let meanwhile: (() => Promise<unknown>) | null = null;
    const database = await adapter.make();
    onTestFinished(() => database.destroy());
    const world = await open({ storage: await database.open() }, {}, ({ chain, ledgerOf }) => {
      const ledger = ledgerOf([{ url: "http://local", fetch: chain.fetch }]);
      return {
        ...ledger,
        // Asked for between the signature and its commit.
        async heights(commitment) {
          const told = await ledger.heights(commitment);
          const act = commitment === "confirmed" ? meanwhile : null;
          if (act !== null) meanwhile = null;
          await act?.();
          return told;
        },
      };
    });
    const order = await world.sendTo();
    const { address } = world.wallet("safe", { lamports: SOL });
    let decisions = 0;
    const decide = async (): Promise<void> => {
      const set = { heldReason: "payment_fails" };
      await world.storage.commit([{ writes: [{ table: "deposits", id: order.address, set }] }]);
      await world.service.operator.resolve(`held:${order.address}`, { action: "refundTo", address }, BY);
      decisions += 1;
    };
    await payIn(world, order, () => {
      meanwhile = decide;
    });
    for (let look = 0; look < 4; look++) await world.passAndSettle(11 * MINUTE, 4);
    expect(decisions).toBe(1);
    const { payments = [] } = (await world.storage.transaction(order.id)) ?? {};
    expect(payments.filter(({ kind }) => kind === "payout")).toMatchObject([{ signature: null }]);
    expect(await world.shown(order)).toMatchObject({ status: "failed", reason: "REFUNDED_BY_OPERATOR" });
    expect(await usdcAt(world, world.bob.address)).toBe(0n);
    expect(await usdcAt(world, address)).toBeGreaterThan(4_000_000n);
    await world.judge();
  },
);

test("M22: the word that takes another receiver back does not bring back the recipients of a declined order", async () => {
  const storage = memoryStorage();
  const word = (step: number, refundTo: string | null): VouchingRecord => ({
    id: `address:${step}`,
    address: "address",
    step,
    at: step,
    signatures: [],
    came: {},
    slot: null,
    allowed: null,
    refundTo: refundTo as VouchingRecord["refundTo"],
  });
  const payout = { kind: "payout", mark: "order", address: "address" as never } as const;
  const give = (given: VouchingRecord) =>
    storage.commit([{ writes: [{ table: "vouchings", insert: given }] }]);
  await give(word(1, null));
  expect(await isDeclinedPayment(storage, payout)).toBe(false);
  await give(word(2, "safe"));
  await give(word(3, null));
  expect(await isDeclinedPayment(storage, payout)).toBe(true);
  expect(await isDeclinedPayment(storage, { ...payout, kind: "refund" })).toBe(false);
});
