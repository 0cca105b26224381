/** What an operator's word on a deposit address covers: the money that was there when it was given, and nothing later. */
import { describe, expect, test as base } from "vitest";
import { agreed } from "../../../src/ledger/agreed.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import type { FaultRule } from "../../../src/local/faults.ts";
import type { Address } from "../../../src/address.ts";
import { writePlan } from "../../../src/payments/outgoing/plans/stored-plan.ts";
import { leftOf } from "../../../src/payments/private/vouched-funds.ts";
import type { PaymentRecord } from "../../../src/payments/tables/payments.ts";
import type { ScreenAddress } from "../../../src/payments/recipients/recipients.ts";
import { adapters, type Adapter } from "../../kit/adapters.ts";
import { BY } from "../../kit/by.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { opener } from "../../kit/opener.ts";
import { drawn } from "../../kit/thorough.ts";
import { DAY, MINUTE, sceneOn, SOL, type Ordered, type Scene } from "../private/scene.ts";

/** A world that screens, with a payer who is served and two who are refused. */
interface Screened extends Scene {
  /** Everybody it was asked about, by role and address, since this was emptied. */
  readonly asked: string[];
  /** Whom it refuses. */
  readonly refused: Set<string>;
  readonly carol: Wallet;
  readonly dave: Wallet;
  readonly erin: Wallet;
}

async function worldOn(adapter: Adapter): Promise<Screened> {
  const asked: string[] = [];
  const refused = new Set<string>();
  const screen: ScreenAddress = async (address, { role }) => {
    asked.push(`${role} ${address}`);
    return refused.has(address) ? "refused" : "ok";
  };
  const world = await sceneOn(adapter, {}, { screen });
  const wealth = { lamports: 5n * SOL, usdc: 90_000_000n };
  const [carol, dave, erin] = [
    world.wallet("carol", wealth),
    world.wallet("dave", wealth),
    world.wallet("erin", wealth),
  ];
  for (const { address } of [dave, erin]) refused.add(address);
  return { ...world, asked, refused, carol, dave, erin };
}

const test = base.extend("open", ({ onTestFinished }) => opener(worldOn, onTestFinished));

/** Pays in to the associated account of the order's address, which it opens first. */
async function payIn(world: Screened, from: Wallet, order: Ordered, amount = order.due): Promise<void> {
  await world.openAccount({ ...from, address: order.address as Wallet["address"] }, "USDC");
  await world.payTokens(from, order.address, "USDC", amount);
}

const heldFor = async ({ storage }: Scene, { address }: Ordered): Promise<string | null | undefined> =>
  (await storage.deposits([address]))[0]?.heldReason;

const refundsOf = async (world: Scene, order: Ordered): Promise<readonly string[]> =>
  (await world.shown(order)).refunds?.map(({ status }) => status) ?? [];

const usdcAt = async (world: Scene, { address }: { readonly address: string }): Promise<bigint> =>
  (await world.held(address))[1];

/** Nodes show balances and list no transaction that made them. */
const LISTS_NOTHING: FaultRule = ({ method }) =>
  method === "getSignaturesForAddress" ? { kind: "lie", answer: () => [] } : undefined;

/** An order of dave's, who is refused: released, paid and at rest. */
async function releasedAndPaid(world: Screened): Promise<Ordered> {
  const order = await world.sendTo();
  await payIn(world, world.dave, order);
  await world.passAndSettle(10 * MINUTE, 4);
  expect(await heldFor(world, order)).toBe("screening");
  await world.service.operator.releaseDeposit(order.id, BY);
  await world.settle(12);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  return order;
}

/** Rewrites the address's instance as the first version of its chart kept it after a release: a word for good, without a row. */
async function asReleasedByFirstVersion(
  { storage, clock }: Scene,
  { address }: Ordered,
  refundTo: string | null = null,
): Promise<void> {
  const instance = await storage.load(address);
  if (instance === null) throw new Error("the address has an instance");
  const stored = JSON.parse(instance.snapshot) as { readonly context: object };
  const context = { ...stored.context, isReleased: true, refundTo };
  const workflow = "deposit-address@1";
  const step = {
    id: address,
    after: instance.stamp,
    stamp: `${instance.stamp}.next`,
    workflow,
    hash: "db58ff826a12229d",
    status: "active",
    snapshot: JSON.stringify({ ...stored, context }),
    at: clock.now(),
  } as const;
  const words = await storage.vouchings(address);
  const writes = words.map(({ id: remove, step: at }) => {
    return { table: "vouchings", remove, expected: { step: at } } as const;
  });
  const [result] = await storage.commit([{ step, adopts: [{ instance: address, workflow }], writes }]);
  expect(result?.ok).toBe(true);
}

describe.each(drawn(adapters, "vouching"))("on $name", (adapter) => {
  test("M22: the row of a release names the transactions and the amounts that it vouches for, and none of their payers is asked about again", async ({
    open,
  }) => {
    const world = await open(adapter);
    const order = await world.sendTo();
    await payIn(world, world.dave, order, order.due + 4_000_000n);
    await world.passAndSettle(10 * MINUTE, 4);
    const { inflows } = await world.ledger.payersOf(order.address as Wallet["address"], [world.mints.USDC], {
      accounts: [],
      isExplained: () => false,
    });
    const named = inflows.filter(({ mint }) => mint === world.mints.USDC).map(({ signature }) => signature);
    expect(named).toHaveLength(1);
    world.asked.length = 0;
    const released = await world.service.operator.releaseDeposit(order.id, BY);
    const units = order.due + 4_000_000n;
    const vouchedFor = { signatures: named, amounts: { [world.mints.USDC]: String(Number(units) / 1e6) } };
    expect(released).toMatchObject({ vouchedFor });
    expect(await world.service.operator.auditLog()).toMatchObject([{ act: "release", what: { vouchedFor } }]);
    expect(await world.storage.vouchings(order.address)).toMatchObject([
      { address: order.address, signatures: named, refundTo: null },
    ]);
    await world.settle(14);
    expect(await world.shown(order)).toMatchObject({ status: "completed", refunds: [{ status: "paid" }] });
    expect(world.asked).toEqual([`recipient ${world.bob.address}`]);
    await world.passAndSettle(11 * MINUTE, 4);
    await world.judge();
  });

  test.for(["erin", "dave"] as const)(
    "M22: after a release money that comes later from %s, who is refused, is held, also when the first was vouched for",
    async (name, { open }) => {
      const world = await open(adapter);
      const order = await releasedAndPaid(world);
      await payIn(world, world[name], order, 3_000_000n);
      await world.passAndSettle(11 * MINUTE, 6);
      expect(await heldFor(world, order)).toBe("screening");
      expect(await refundsOf(world, order)).toEqual([]);
      expect(await usdcAt(world, world.alice)).toBe(1n);
      // The next word covers this money, too.
      await world.service.operator.releaseDeposit(order.id, BY);
      await world.settle(8);
      expect(await refundsOf(world, order)).toEqual(["paid"]);
      await world.passAndSettle(11 * MINUTE, 4);
      await world.judge();
    },
  );

  test("M22: after a release money of a payer who is served goes back by itself", async ({ open }) => {
    const world = await open(adapter);
    const order = await releasedAndPaid(world);
    await payIn(world, world.carol, order, 3_000_000n);
    await world.passAndSettle(11 * MINUTE, 8);
    expect(await heldFor(world, order)).toBeNull();
    expect(await refundsOf(world, order)).toEqual(["paid"]);
    expect(world.asked).toContain(`depositor ${world.carol.address}`);
    await world.passAndSettle(11 * MINUTE, 4);
    await world.judge();
  });

  test("M22: a release of an address at rest, where nothing is, vouches for nothing: a refused depositor who comes later is held", async ({
    open,
  }) => {
    const world = await open(adapter);
    const order = await world.sendTo();
    await world.passAndSettle(31 * MINUTE);
    await world.service.operator.releaseDeposit(order.id, BY);
    await world.settle(2);
    await payIn(world, world.dave, order);
    await world.passAndSettle(11 * MINUTE, 6);
    expect(await heldFor(world, order)).toBe("screening");
    expect(await refundsOf(world, order)).toEqual([]);
  });

  test("M22: a release of a closed address sends back what is there, and a refused depositor who comes later is held", async ({
    open,
  }) => {
    const world = await open(adapter);
    const order = await world.sendTo();
    for (const ms of [31 * MINUTE, DAY + MINUTE, 61 * DAY]) await world.passAndSettle(ms, 1);
    expect(await world.stateOf(order)).toBe("closed");
    await payIn(world, world.erin, order);
    await world.service.operator.releaseDeposit(order.id, BY);
    await world.settle(8);
    expect(await refundsOf(world, order)).toEqual(["paid"]);
    await world.passAndSettle(11 * MINUTE, 4);
    await payIn(world, world.dave, order, 3_000_000n);
    await world.passAndSettle(11 * MINUTE, 6);
    expect(await heldFor(world, order)).toBe("screening");
    expect(await refundsOf(world, order)).toEqual(["paid"]);
  });

  test("M22: while the chain does not show the last payment out of an address, or the address moves on meanwhile, nothing is vouched for and nothing is released", async ({
    open,
  }) => {
    const world = await open(adapter);
    const order = await releasedAndPaid(world);
    await world.service.stop();
    const before = await world.storage.vouchings(order.address);
    const releaseOn = (nodes: Partial<Ledger>) =>
      world.another({ ledger: { ...world.ledger, ...nodes } }).operator.releaseDeposit(order.id, BY);
    const behind = releaseOn({
      funds: async (...asked) => ({ ...(await world.ledger.funds(...asked)), slot: agreed(1) }),
    });
    await expect(behind).rejects.toThrow("is at work");
    expect(await world.storage.vouchings(order.address)).toEqual(before);
    const overtaken = releaseOn({
      async payersOf(...asked) {
        await world.another().operator.releaseDeposit(order.id, BY);
        return world.ledger.payersOf(...asked);
      },
    });
    await expect(overtaken).rejects.toThrow("is at work");
    expect(await world.storage.vouchings(order.address)).toHaveLength(before.length + 1);
  });

  test("M22: a release that the first version of the chart kept for good covers what had come by then, and a refused depositor who comes later is held", async ({
    open,
  }) => {
    const world = await open(adapter);
    const order = await world.sendTo();
    await payIn(world, world.carol, order);
    await world.settle(12);
    expect(await world.shown(order)).toMatchObject({ status: "completed" });
    await asReleasedByFirstVersion(world, order);
    await payIn(world, world.dave, order, 3_000_000n);
    await world.passAndSettle(11 * MINUTE, 6);
    expect(await heldFor(world, order)).toBe("screening");
    expect(await refundsOf(world, order)).toEqual([]);
    expect(await world.storage.vouchings(order.address)).toMatchObject([
      { signatures: [], came: { [world.mints.USDC]: String(order.due) }, refundTo: null },
    ]);
  });

  test("M35: a refund elsewhere that the first version of the chart had been told takes what was counted by then, and nothing later", async ({
    open,
  }) => {
    const world = await open(adapter);
    const frank = world.wallet("frank", { lamports: SOL, usdc: 1n });
    const order = await world.sendTo();
    await world.service.cancelTransaction(world.customer, order.id);
    await payIn(world, world.dave, order);
    await world.passAndSettle(11 * MINUTE, 6);
    expect(await heldFor(world, order)).toBe("screening");
    // The refund fails, and waits for its next try.
    await world.freeze(frank, "USDC");
    const id = `held:${order.address}`;
    await world.service.operator.resolve(id, { action: "refundTo", address: frank.address }, BY);
    await world.settle(6);
    await world.service.stop();
    await asReleasedByFirstVersion(world, order, frank.address);
    await world.thaw(frank, "USDC");
    // The word that is kept names no transaction: a payer who is refused is judged anew, and this one is no more.
    world.refused.delete(world.dave.address);
    await world.service.start();
    for (let look = 0; look < 3; look++) await world.passAndSettle(45 * MINUTE, 4);
    const allowed = { [world.mints.USDC]: String(order.due) };
    expect(await world.storage.vouchings(order.address)).toMatchObject([
      { came: allowed, refundTo: frank.address, allowed },
    ]);
    const sent = (await usdcAt(world, frank)) - 1n;
    expect(sent).toBeGreaterThan(0n);
    expect(sent).toBeLessThan(order.due);
    await payIn(world, world.erin, order, 3_000_000n);
    await world.passAndSettle(11 * MINUTE, 6);
    expect((await usdcAt(world, frank)) - 1n).toBe(sent);
    expect(await heldFor(world, order)).toBe("screening");
    expect(await usdcAt(world, world.alice)).toBe(1n);
  });

  test("M22: what no transaction explains is covered by its amount, and the next that none explains is held", async ({
    open,
  }) => {
    const world = await open(adapter);
    const order = await world.sendTo();
    const list = world.chain.faults.add(LISTS_NOTHING);
    await payIn(world, world.carol, order);
    await world.passAndSettle(10 * MINUTE, 6);
    expect(await heldFor(world, order)).toBe("screening");
    await world.service.operator.releaseDeposit(order.id, BY);
    expect(await world.storage.vouchings(order.address)).toMatchObject([
      { signatures: [], came: { [world.mints.USDC]: String(order.due) } },
    ]);
    await world.settle(12);
    expect(await world.shown(order)).toMatchObject({ status: "completed" });
    await payIn(world, world.carol, order, 3_000_000n);
    await world.passAndSettle(11 * MINUTE, 8);
    expect(await heldFor(world, order)).toBe("screening");
    expect(await refundsOf(world, order)).toEqual([]);
    list();
  });
});

base(
  "M35: what may go elsewhere is used by what landed or may land, its cost included, and by nothing that failed or goes to the sender",
  () => {
    const word = { word: "address:7", to: "elsewhere" as Address, allowed: { usdc: "100" } };
    const refund = (status: PaymentRecord["status"], amount: string, under?: string): PaymentRecord => ({
      id: amount,
      transactionId: "tx_0",
      address: "address" as Address,
      kind: "refund",
      status,
      mark: "refund 1",
      mint: "usdc",
      legs: [],
      plan: writePlan({
        feePayer: "sponsor" as Address,
        moves: [],
        movements: [{ kind: "refund", mint: "usdc", amount }],
        indexes: [],
        withheld: "5",
        ...(under === undefined ? {} : { word: under }),
      }),
      signature: null,
      reason: null,
      createdAt: 0,
      stuckSince: null,
    });
    const others = [
      refund("failed", "90", word.word),
      refund("finalized", "80"),
      refund("finalized", "70", "address:3"),
    ];
    expect(leftOf(word, others, "usdc")).toBe(100n);
    expect(leftOf(word, others, "usdt")).toBe(0n);
    expect(leftOf(word, [...others, refund("finalized", "40", word.word)], "usdc")).toBe(55n);
    expect(leftOf(word, [...others, refund("broadcast", "98", word.word)], "usdc")).toBe(0n);
  },
);
