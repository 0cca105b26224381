/** M2, M3, M6, M17: nodes that lie about payments delay them, and cost at most what an order may; nobody is paid twice. */
import { expect } from "vitest";
import { depositKeys } from "../../../src/payments/secrets/deposit-keys.ts";
import { proofOf, readPlan, type StoredPlan } from "../../../src/payments/outgoing/plans/stored-plan.ts";
import type { PaymentRecord } from "../../../src/payments/tables/payments.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import { sampled } from "../../kit/thorough.ts";
import { BY } from "../../kit/by.ts";
import {
  hidesAccounts,
  inventsBlockhash,
  isAhead,
  reportsFinalized,
  simulatesAnything,
  swallowsBytes,
  withoutHistoryBefore,
  type Lie,
  type LyingNode,
} from "./lying-nodes.ts";
import { HOUR, MINUTE, orderedAs, SOL, type Ordered } from "./scene.ts";
import { twoNodesTest as test, type TwoNodes } from "./two-nodes.ts";

/** Has some of the nodes tell some lies. Returns what ends them. */
function tell(liars: readonly LyingNode[], ...lies: readonly Lie[]): () => void {
  const ends = liars.flatMap((node) => lies.map((lie) => node.tell(lie)));
  return () => {
    for (const end of ends) end();
  };
}

async function paymentsOf(world: TwoNodes, { id }: Ordered): Promise<readonly PaymentRecord[]> {
  const { payments = [] } = (await world.storage.transaction(id)) ?? {};
  return payments.filter(({ kind }) => kind === "payout" || kind === "plan");
}

const heldFor = async (world: TwoNodes, { address }: Ordered): Promise<string | null | undefined> =>
  (await world.storage.deposits([address]))[0]?.heldReason;

/** How many attempts this order's payments have made. */
async function attemptsOf(world: TwoNodes, order: Ordered): Promise<number> {
  const { transactions } = await world.ledger.signedBy(order.address as never);
  return transactions.length;
}

/** A payroll of so many wallets that have an account for USDC, 2 USDC each. */
async function payroll(
  world: TwoNodes,
  count: number,
): Promise<{ readonly order: Ordered; readonly payees: readonly Wallet[] }> {
  const payees = Array.from({ length: count }, (_, index) =>
    world.wallet(`payee ${index}`, { lamports: SOL, usdc: 1n }),
  );
  const { body } = await world.order(world.customer, {
    sender: world.alice,
    to: payees.map(({ address }) => ({ address, amount: "2" })),
  });
  return { order: orderedAs(body), payees };
}

const gotten = (world: TwoNodes, payees: readonly Wallet[]): Promise<readonly bigint[]> =>
  Promise.all(payees.map(async ({ address }) => (await world.held(address))[1] - 1n));

/** The address of the marker of these words, as it is found with the key. */
function markerOf(world: TwoNodes, { address, id }: Ordered, words: string): string {
  const keys = depositKeys([TEST_MASTER_SECRET], () => world.chain.genesisHash);
  const seed = keys.seed({ masterVersion: 1, transactionId: id }, words);
  return world.ledger.markerAddress(address as never, seed);
}

/** Whether an account is the marker of a payout, or of what replaces one. The routing plan's are not among them. */
async function isMarkerOfPayout(world: TwoNodes, order: Ordered, account: string): Promise<boolean> {
  const payments = await paymentsOf(world, order);
  const words = payments
    .filter(({ kind, plan }) => kind === "payout" || !isRouting(readPlan(plan)))
    .map(({ plan }) => proofOf(readPlan(plan)))
    .flatMap((proof) => [proof?.words ?? "", proof?.planWords ?? ""]);
  return words.some((each) => markerOf(world, order, each) === account);
}

/** Whether a plan is the first one of an order of several payouts, which leaves nobody out. */
const isRouting = ({ leftOut = [] }: StoredPlan): boolean => leftOut.length === 0;

/** Whether a signature is that of a payout. */
async function isPayout(world: TwoNodes, order: Ordered, signature: string): Promise<boolean> {
  return (await paymentsOf(world, order)).some(
    (each) => each.kind === "payout" && each.signature === signature,
  );
}

/**
 * Somebody else owns a payee's token account: the chain says so of the instruction behind the compute budget and the
 * marker; the second payee's comes two later, and where a plan is followed one more.
 */
const OTHER_OWNER_IN_SEND = { InstructionError: [5, { Custom: 0 }] };
const OTHER_OWNER_IN_ORDER = { InstructionError: [7, { Custom: 0 }] };
const OTHER_OWNER_IN_CHUNK = { InstructionError: [8, { Custom: 0 }] };

/** Lets so many minutes pass as a service lives through them. */
async function live(world: TwoNodes, minutes: number): Promise<void> {
  for (let passed = 0; passed < minutes; passed += 3) await world.passAndSettle(3 * MINUTE, 2);
}

/** An operator lets go of the order until nothing holds it any more. */
async function released(world: TwoNodes, order: Ordered): Promise<number> {
  let releases = 0;
  while ((await heldFor(world, order)) !== null && releases < 20) {
    await world.service.operator.releaseDeposit(order.id, BY);
    releases += 1;
    await live(world, 12);
  }
  return releases;
}

test("M2: the preferred of two nodes says of a payout that landed that it is final with an error: its payees are paid once", async ({
  world,
}) => {
  const { nodes } = world;
  const { order, payees } = await payroll(world, 3);
  tell([nodes[0]], reportsFinalized(OTHER_OWNER_IN_ORDER), simulatesAnything);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(10);
  await live(world, 15);
  expect(await world.shown(order)).toMatchObject({ status: "completed", reason: null });
  expect(await gotten(world, payees)).toEqual([2_000_000n, 2_000_000n, 2_000_000n]);
  // Nothing else was even tried.
  expect((await paymentsOf(world, order)).map(({ mark, status }) => `${mark} ${status}`)).toEqual([
    "order finalized",
  ]);
  expect(await attemptsOf(world, order)).toBe(1);
  await world.sweep();
  await live(world, 6);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("M2: it denies the marker, too, and is far ahead: nothing is decided and nothing signed until both tell the same", async ({
  world,
}) => {
  const { nodes } = world;
  const { order, payees } = await payroll(world, 3);
  const end = tell(
    [nodes[0]],
    reportsFinalized(OTHER_OWNER_IN_ORDER),
    hidesAccounts((account) => isMarkerOfPayout(world, order, account)),
    isAhead(1_000),
  );
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(10);
  await live(world, HOUR / MINUTE);
  expect((await world.shown(order)).status).not.toMatch(/completed|failed/);
  expect(await gotten(world, payees)).toEqual([2_000_000n, 2_000_000n, 2_000_000n]);
  expect(await attemptsOf(world, order)).toBe(1);
  end();
  await live(world, 6);
  expect(await world.shown(order)).toMatchObject({ status: "completed", reason: null });
  expect(await gotten(world, payees)).toEqual([2_000_000n, 2_000_000n, 2_000_000n]);
  expect(await attemptsOf(world, order)).toBe(1);
  await world.sweep();
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

const SAID_TO_FAIL = [
  ["a send", 1, OTHER_OWNER_IN_SEND],
  ["an order of one payout", 3, OTHER_OWNER_IN_ORDER],
  ["an order of several", 8, OTHER_OWNER_IN_CHUNK],
] as const;

test.for(sampled(SAID_TO_FAIL, "payouts said to fail"))(
  "M3: of payouts that landed in %s both nodes say for an hour that one payee's instruction failed, deny their markers and are far ahead: nobody is paid twice, and with the truth everybody is shown paid",
  async ([_, count, error], { world }) => {
    const { nodes } = world;
    const { order, payees } = await payroll(world, count);
    const everybody = payees.map(() => 2_000_000n);
    const end = tell(
      nodes,
      reportsFinalized(error, (signature) => isPayout(world, order, signature)),
      hidesAccounts((account) => isMarkerOfPayout(world, order, account)),
      simulatesAnything,
      isAhead(1_000),
    );
    await world.deposit(order.address, { usdc: order.due });
    await world.settle(10);
    await live(world, HOUR / MINUTE);
    // They were believed: the payout counts as failed, and its replacement was sent, and refused by the chain. A plan is not
    // signed again, since the nodes still list what has made the marker.
    const meanwhile = (await world.storage.transaction(order.id))?.payments ?? [];
    expect(meanwhile.some(({ kind, status }) => kind === "payout" && status === "failed")).toBe(true);
    const replacements = meanwhile.filter(
      ({ kind, plan }) => kind === "refund" || (kind === "plan" && !isRouting(readPlan(plan))),
    );
    expect(replacements.length).toBeGreaterThan(0);
    expect(await attemptsOf(world, order)).toBeGreaterThanOrEqual(meanwhile.length);
    expect(await gotten(world, payees)).toEqual(everybody);
    end();
    await live(world, 30);
    await released(world, order);

    const shown = await world.shown(order);
    expect(shown).toMatchObject({ status: "completed", reason: null });
    expect(shown.recipients.map(({ status }) => status)).toEqual(payees.map(() => "paid"));
    expect(await gotten(world, payees)).toEqual(everybody);
    await world.sweep();
    expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
    expect(await gotten(world, payees)).toEqual(everybody);
    await world.judge();
  },
);

test("M6: one of two nodes says of bytes that never landed that they are final: the order is not completed, and pays once when they are dead", async ({
  world,
}) => {
  const { nodes } = world;
  const order = await world.sendTo();
  const end = tell(nodes, swallowsBytes);
  tell([nodes[0]], reportsFinalized(null));
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(10);
  await live(world, 15);
  expect(await world.shown(order)).toMatchObject({
    status: "processing",
    recipients: [{ status: "pending" }],
  });
  expect((await world.held(world.bob.address))[1]).toBe(0n);
  end();
  await live(world, 15);
  expect(await world.shown(order)).toMatchObject({ status: "completed", recipients: [{ status: "paid" }] });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  expect(await attemptsOf(world, order)).toBe(1);
  await world.sweep();
  await live(world, 6);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("M17: a node that answers every attempt with an error at once: attempts pause and end, and the operator is told", async ({
  world,
}) => {
  const { nodes } = world;
  const order = await world.sendTo();
  const end = tell(nodes, swallowsBytes, reportsFinalized({ InstructionError: [1, { Custom: 999 }] }));
  const signatures = new Set<string>();
  const look = async (): Promise<void> => {
    for (const { signature } of await paymentsOf(world, order)) {
      if (signature !== null) signatures.add(signature);
    }
  };
  await world.deposit(order.address, { usdc: order.due });
  // However often they are asked, while no slot passes there is one attempt.
  await world.pass(20 * MINUTE);
  await look();
  expect(signatures.size).toBe(1);
  for (let minute = 0; minute < 90; minute++) {
    await world.passAndSettle(MINUTE, 1);
    await look();
  }
  expect(signatures.size).toBe(5);
  expect(await heldFor(world, order)).toBe("payment_fails");
  expect((await world.service.reconcile()).findings.flatMap(({ findings }) => findings)).toContainEqual({
    finding: "held",
    reason: "payment_fails",
  });
  expect(await world.shown(order)).toMatchObject({ status: "processing" });
  end();
  await released(world, order);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  await world.sweep();
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("M3: a refund that landed and that both nodes said failed is found by its marker when more money comes, and both go back", async ({
  world,
}) => {
  const { nodes, alice } = world;
  const order = await world.sendTo();
  const refunds = async (): Promise<readonly PaymentRecord[]> => {
    const { payments = [] } = (await world.storage.transaction(order.id)) ?? {};
    return payments.filter(({ kind }) => kind === "refund");
  };
  const marker = markerOf(world, order, "excess 1");
  const isRefund = async (signature: string): Promise<boolean> =>
    (await refunds()).some((each) => each.signature === signature);
  const end = tell(
    nodes,
    reportsFinalized(OTHER_OWNER_IN_SEND, isRefund),
    hidesAccounts(async (account) => account === marker),
    simulatesAnything,
    isAhead(1_000),
  );
  const [, before] = await world.held(alice.address);
  await world.deposit(order.address, { usdc: order.due + 4_000_000n });
  await live(world, 15);
  expect(await refunds()).toMatchObject([{ mark: "refund 2: excess 1", status: "failed" }]);
  end();
  await released(world, order);
  await world.deposit(order.address, { usdc: 4_000_000n });
  await live(world, 60);
  await released(world, order);
  expect(await refunds()).toMatchObject([
    { mark: "refund 2: excess 1", status: "finalized" },
    { mark: "refund 3: excess 1", status: "failed", reason: "superseded" },
    { mark: "refund 4: excess 2", status: "finalized" },
  ]);
  expect((await world.held(alice.address))[1]).toBeGreaterThan(before + 7_000_000n);
  await world.sweep();
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test(
  "M17: nodes that deny every attempt and are far ahead at once: attempts end, and the operator is told",
  { timeout: 120_000 },
  async ({ world }) => {
    const { nodes } = world;
    const order = await world.sendTo();
    const marker = markerOf(world, order, "order");
    const end = tell(
      nodes,
      withoutHistoryBefore(Infinity),
      hidesAccounts(async (account) => account === marker),
      simulatesAnything,
      isAhead(1_000),
    );
    await world.deposit(order.address, { usdc: order.due });
    // One attempt takes a blockhash of its own.
    for (let attempt = 0; attempt < 21; attempt++) await world.passAndSettle(1_000, 2);
    const [payout] = await paymentsOf(world, order);
    expect(readPlan(payout?.plan ?? "{}").signatures?.length).toBe(20);
    expect(await heldFor(world, order)).toBe("payment_fails");
    end();
    await released(world, order);
    expect(await world.shown(order)).toMatchObject({ status: "completed" });
    expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
    await world.sweep();
    expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
    await world.judge();
  },
);

test("M17: attempts that really land with an error, one after the other, cost the sponsor no more than the order may", async ({
  world,
}) => {
  const { nodes } = world;
  const order = await world.sendTo();
  const own = { ...world.bob, address: order.address as never };
  const [before] = await world.held(world.sponsor.address);
  // Each simulation is well, each attempt fails: nothing can leave the address.
  const end = tell(nodes, simulatesAnything);
  world.chain.fund(order.address, { usdc: order.due });
  world.chain.advance(1);
  await world.freeze(own, "USDC");
  await world.settle(4);
  await live(world, 6 * (HOUR / MINUTE));
  const [meanwhile] = await world.held(world.sponsor.address);
  const allowed = BigInt((await allowanceOf(world, order)) ?? "0");
  expect(meanwhile).toBeLessThan(before);
  expect(before - meanwhile).toBeLessThanOrEqual(allowed);
  expect(await heldFor(world, order)).toMatch(/^(sponsor_cap|payment_fails|payment_cannot_be_made)$/);
  expect((await world.held(world.bob.address))[1]).toBe(0n);
  end();
  await world.thaw(own, "USDC");
  await released(world, order);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  const costs = (await paymentsOf(world, order)).flatMap(({ plan }) => readPlan(plan).costs ?? []);
  expect(costs.length).toBeGreaterThan(1);
  await world.sweep();
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

/** What the sponsor may spend on an order, in lamports. */
async function allowanceOf(world: TwoNodes, { address }: Ordered): Promise<string | undefined> {
  const instance = await world.storage.load(address);
  const { context } = JSON.parse(instance?.snapshot ?? "{}") as { context?: { allowance?: string } };
  return context?.allowance;
}

test("M3: a node that was far ahead while the markers got old keeps them from being closed while it says so, and not for ever", async ({
  world,
}) => {
  const { nodes } = world;
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  const end = tell([nodes[1]], isAhead(1_000_000));
  await world.sweep();
  await live(world, 30);
  expect((await world.held(order.address))[1]).toBeGreaterThan(0n);
  end();
  // They age once more.
  for (let hour = 0; hour < 4; hour++) await world.passAndSettle(HOUR + MINUTE, 3);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("M3: a node that gives a blockhash nobody knows, for a life without an end, delays a payment by a life and no more", async ({
  world,
}) => {
  const { nodes } = world;
  const order = await world.sendTo();
  const end = tell([nodes[0]], inventsBlockhash("11111111111111111111111111111112"), simulatesAnything);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(4);
  expect((await paymentsOf(world, order))[0]?.signature).not.toBeNull();
  end();
  await live(world, 30);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  expect(await attemptsOf(world, order)).toBe(1);
  await world.sweep();
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("M3: while all nodes say that nothing has to be left at an address, a loan of nothing is planned; afterwards it is planned again, and paid", async ({
  world,
}) => {
  const { nodes } = world;
  const order = await world.sendTo({ asset: "SOL", amount: "0.5" });
  const paidBefore = (await world.held(world.bob.address))[0];
  await world.pass(11_000);
  const end = tell(nodes, ({ method }) =>
    method === "getMinimumBalanceForRentExemption" ? Promise.resolve(0) : undefined,
  );
  await world.deposit(order.address, { lamports: order.due });
  await world.settle(4);
  expect((await paymentsOf(world, order))[0]).toMatchObject({ status: "planned", signature: null });
  end();
  await live(world, 30);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[0] - paidBefore).toBe(SOL / 2n);
  await world.sweep();
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});
