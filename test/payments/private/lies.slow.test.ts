/** M2, M3, M6, M17, C4: nodes that lie about payments delay them, and cost at most what an order may; nobody is paid twice. */
// modules: private
import { expect } from "vitest";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { BY } from "../../kit/by.ts";
import { sampled } from "../../kit/thorough.ts";
import {
  failsBytes,
  hidesAccounts,
  inventsBlockhash,
  isAhead,
  reportsFinalized,
  simulatesAnything,
  swallowsBytes,
  tellsRent,
  withoutHistoryBefore,
  type Lie,
  type LyingNode,
} from "./lying-nodes.ts";
import { HOUR, MINUTE, orderedAs, SOL, transfersOf, type Ordered } from "./scene.ts";
import { twoNodesTest as test, type TwoNodes } from "./two-nodes.ts";

const NOTHING = [0n, 0n, 0n];

/** Has some of the nodes tell some lies. Returns what ends them. */
function tell(liars: readonly LyingNode[], ...lies: readonly Lie[]): () => void {
  const ends = liars.flatMap((node) => lies.map((lie) => node.tell(lie)));
  return () => {
    for (const end of ends) end();
  };
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

/** Whether an account is a marker of the order's first two chunks. */
function isMarker(world: TwoNodes, { address }: Ordered): (account: string) => Promise<boolean> {
  const markers = new Set(["0", "1"].map((seed): string => world.ledger.markerOf(address as never, seed)));
  return async (account) => markers.has(account);
}

/** The signatures of what was signed for the order's chunks, or for its rests. */
async function attemptsOf(
  world: TwoNodes,
  order: Ordered,
  kind: "chunk" | "rest" = "chunk",
): Promise<readonly string[]> {
  const transfers = await transfersOf(world, order, kind);
  return (await world.storage.attemptsOfAny(transfers.map(({ id }) => id))).map(({ id }) => id);
}

/** The kinds of what waits for a person about it. */
async function mattersOf(world: TwoNodes, { id }: Ordered): Promise<readonly string[]> {
  const matters = await world.service.operator.attention();
  return matters.filter(({ transactionId }) => transactionId === id).map(({ kind }) => kind);
}

/** The first payee's token account is somebody else's: so the chain says of the instruction that makes it in the first chunk. */
const FIRST_PAYEE = { InstructionError: [5, { Custom: 0 }] };
const SECOND_PAYEE = { InstructionError: [7, { Custom: 0 }] };

/** Lets so many minutes pass as a service lives through them. */
async function live(world: TwoNodes, minutes: number): Promise<void> {
  for (let passed = 0; passed < minutes; passed += 3) await world.passAndSettle(3 * MINUTE, 2);
}

test("M2: the preferred of two nodes says of a payout that landed that it is final with an error: its payees are paid once", async ({
  world,
}) => {
  const { nodes } = world;
  const { order, payees } = await payroll(world, 3);
  tell([nodes[0]], reportsFinalized(SECOND_PAYEE), simulatesAnything);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(10);
  await live(world, 15);
  expect(await world.shown(order)).toMatchObject({ status: "completed", reason: null });
  expect(await gotten(world, payees)).toEqual([2_000_000n, 2_000_000n, 2_000_000n]);
  // Nothing else was even tried.
  expect(await attemptsOf(world, order)).toHaveLength(1);
  expect(await world.held(order.address)).toEqual(NOTHING);
  await world.judge();
});

test("M2: it denies the marker, too, and is far ahead: nothing is decided and nothing signed until both tell the same", async ({
  world,
}) => {
  const { nodes } = world;
  const { order, payees } = await payroll(world, 3);
  const end = tell(
    [nodes[0]],
    reportsFinalized(SECOND_PAYEE),
    hidesAccounts(isMarker(world, order)),
    isAhead(1_000),
  );
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(10);
  await live(world, HOUR / MINUTE);
  expect((await world.shown(order)).status).not.toMatch(/completed|failed/);
  expect(await gotten(world, payees)).toEqual([2_000_000n, 2_000_000n, 2_000_000n]);
  expect(await attemptsOf(world, order)).toHaveLength(1);
  end();
  await live(world, 15);
  expect(await world.shown(order)).toMatchObject({ status: "completed", reason: null });
  expect(await gotten(world, payees)).toEqual([2_000_000n, 2_000_000n, 2_000_000n]);
  expect(await attemptsOf(world, order)).toHaveLength(1);
  expect(await world.held(order.address)).toEqual(NOTHING);
  await world.judge();
});

const SAID_TO_FAIL = [
  ["a send", 1, FIRST_PAYEE],
  ["an order of one chunk", 3, SECOND_PAYEE],
  ["an order of two", 8, SECOND_PAYEE],
] as const;

test.for(sampled(SAID_TO_FAIL, "payouts said to fail"))(
  "M3: of payouts that landed in %s both nodes say for an hour that one payee's instruction failed, deny their markers and are far ahead: nobody is paid twice, and with the truth everybody is shown paid",
  async ([_, count, error], { world }) => {
    const { nodes } = world;
    const { order, payees } = await payroll(world, count);
    const everybody = payees.map(() => 2_000_000n);
    const isPayout = async (signature: string): Promise<boolean> =>
      (await attemptsOf(world, order)).includes(signature);
    const end = tell(
      nodes,
      reportsFinalized(error, isPayout),
      hidesAccounts(isMarker(world, order)),
      simulatesAnything,
      isAhead(1_000),
    );
    await world.deposit(order.address, { usdc: order.due });
    await world.settle(10);
    await live(world, HOUR / MINUTE);
    // They were believed: the chunk was signed with another outcome, and the chain refused that.
    expect((await attemptsOf(world, order)).length).toBeGreaterThan(1);
    expect(await gotten(world, payees.slice(0, 6))).toEqual(everybody.slice(0, 6));
    end();
    await live(world, 2 * (HOUR / MINUTE));

    const shown = await world.shown(order);
    expect(shown).toMatchObject({ status: "completed", reason: null });
    expect(shown.recipients.map(({ status }) => status)).toEqual(payees.map(() => "paid"));
    expect(await gotten(world, payees)).toEqual(everybody);
    expect(await world.held(order.address)).toEqual(NOTHING);
    await world.judgeDeceived();
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
  expect(await world.held(order.address)).toEqual(NOTHING);
  await world.judge();
});

test("M17: nodes that answer every attempt with an error at once: after three it is tried once an hour, and the operator is told", async ({
  world,
}) => {
  const { nodes } = world;
  const order = await world.sendTo();
  const end = tell(nodes, failsBytes({ InstructionError: [1, { Custom: 999 }] }));
  await world.deposit(order.address, { usdc: order.due });
  // However often they are asked, while no slot passes there is one attempt.
  await world.pass(20 * MINUTE);
  expect(await attemptsOf(world, order)).toHaveLength(1);
  await live(world, 4 * (HOUR / MINUTE));
  const { length } = await attemptsOf(world, order);
  expect(length).toBeGreaterThan(3);
  expect(length).toBeLessThanOrEqual(8);
  expect(await mattersOf(world, order)).toEqual(["stuck_payment"]);
  expect(await world.shown(order)).toMatchObject({ status: "processing" });
  end();
  await world.service.operator.resolve(order.id, { action: "retry" }, BY);
  await live(world, 15);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  expect(await mattersOf(world, order)).toEqual([]);
  expect(await world.held(order.address)).toEqual(NOTHING);
  await world.judge();
});

test("M3: a refund that landed and that both nodes said failed is followed by another that moves nothing twice, and all is explained", async ({
  world,
}) => {
  const { nodes, alice } = world;
  const order = await world.sendTo();
  const isRest = async (signature: string): Promise<boolean> =>
    (await attemptsOf(world, order, "rest")).includes(signature);
  const end = tell(nodes, reportsFinalized(FIRST_PAYEE, isRest), simulatesAnything, isAhead(1_000));
  const [, before] = await world.held(alice.address);
  await world.deposit(order.address, { usdc: order.due + 4_000_000n });
  await live(world, 15);
  await world.deposit(order.address, { usdc: 4_000_000n });
  end();
  await live(world, 3 * (HOUR / MINUTE));
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(alice.address))[1]).toBeGreaterThan(before + 7_000_000n);
  expect(await world.held(order.address)).toEqual(NOTHING);
  expect((await mattersOf(world, order)).filter((kind) => kind !== "missing")).toEqual([]);
});

test("M17: nodes that deny every attempt and are far ahead at once cost the order no second payout, and it ends by itself", async ({
  world,
}) => {
  const { nodes } = world;
  const order = await world.sendTo();
  const end = tell(
    nodes,
    withoutHistoryBefore(Infinity),
    hidesAccounts(isMarker(world, order)),
    simulatesAnything,
    isAhead(1_000),
  );
  await world.deposit(order.address, { usdc: order.due });
  for (let attempt = 0; attempt < 21; attempt++) await world.passAndSettle(1_000, 2);
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  end();
  await live(world, 2 * (HOUR / MINUTE));
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  expect(await world.held(order.address)).toEqual(NOTHING);
  await world.judge();
});

test("M17, R7: attempts that really land with an error, one after the other, cost the sponsor no more than the order has reserved", async ({
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
  const reserved = (await world.storage.reservation(order.id))?.amount ?? 0n;
  await world.settle(4);
  await live(world, 6 * (HOUR / MINUTE));
  const [meanwhile] = await world.held(world.sponsor.address);
  expect(before - meanwhile).toBeLessThanOrEqual(reserved);
  expect(await mattersOf(world, order)).toHaveLength(1);
  expect((await world.held(world.bob.address))[1]).toBe(0n);
  end();
  await world.thaw(own, "USDC");
  for (const action of ["release", "retry"] as const) {
    await world.service.operator.resolve(order.id, { action }, BY).catch(() => undefined);
  }
  await live(world, HOUR / MINUTE);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  expect(await world.held(order.address)).toEqual(NOTHING);
});

test("M3: a node that gives a blockhash nobody knows, for a life without an end, delays a payment by a life and no more", async ({
  world,
}) => {
  const { nodes } = world;
  const order = await world.sendTo();
  const end = tell([nodes[0]], inventsBlockhash("11111111111111111111111111111112"), simulatesAnything);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(4);
  expect(await attemptsOf(world, order)).toHaveLength(1);
  end();
  await live(world, 30);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  expect(await world.held(order.address)).toEqual(NOTHING);
  await world.judge();
});

/** A price of nothing is no answer: then the order is not even looked at. */
const RENTS = [
  ["nothing", 0n, "pending"],
  ["half", 50n, "processing"],
  ["ten times", 1_000n, "processing"],
] as const;

test.for(sampled(RENTS, "told rents"))(
  "C4: while all nodes say that storage costs %s of what it does nobody is paid at that price; afterwards everybody is, once",
  async ([_, percent, meanwhile], { world }) => {
    const { nodes } = world;
    const order = await world.sendTo({ asset: "SOL", amount: "0.5" });
    const [before] = await world.held(world.bob.address);
    await world.pass(11_000);
    const end = tell(nodes, tellsRent(percent));
    await world.deposit(order.address, { lamports: order.due });
    await world.settle(4);
    await live(world, 15);
    expect(await world.shown(order)).toMatchObject({ status: meanwhile });
    expect((await world.held(world.bob.address))[0]).toBe(before);
    end();
    await world.service.operator.resolve(order.id, { action: "retry" }, BY).catch(() => undefined);
    await live(world, 90);
    expect(await world.shown(order)).toMatchObject({ status: "completed" });
    expect((await world.held(world.bob.address))[0] - before).toBe(SOL / 2n);
    expect(await world.held(order.address)).toEqual(NOTHING);
    await world.judge();
  },
);
