/** M22, M32: what an operator's word may do with an order of a restored copy that another copy has paid. */
import { expect, onTestFinished, test } from "vitest";
import { BY } from "../../kit/by.ts";
import { passTime } from "../../kit/pass-time.ts";
import { units } from "../../kit/private-fixture.ts";
import { copyWith } from "./kept-copies.ts";
import { garbles, misdatesTransactions, omits, passesWhatNames } from "./lying-nodes.ts";
import {
  beforeThePayout,
  forget,
  open,
  ordered,
  owned,
  paid as paidElsewhere,
  served,
  shown,
  startOn,
  type Ordered,
  type Restored,
  type World,
} from "./restored-world.ts";

const MINUTE = 60_000;

interface Held extends Restored {
  readonly order: Ordered;
  /** What the recipient has been paid by the other copy. */
  readonly paid: bigint;
  /** What an operator is told who releases it. */
  readonly releasing: () => Promise<string>;
}

/** The order is paid, its markers are gone, new money is there, and one of two nodes knows of all that. */
async function heldForSpending(world: World): Promise<Held> {
  const order = await served(world);
  const paid = await owned(world, world.bob);
  // It is not waited for until it might have what it lacks.
  world.nodes[1].tell(garbles("getTransaction"));
  forget(world, world.nodes.slice(1));
  world.chain.fund(order.address, { usdc: order.due });
  world.chain.advance(40);
  const restored = await startOn(world, order);
  await restored.pass(MINUTE);
  expect(await restored.heldReason()).toBe("unknown_spending");
  const { operator } = restored.service;
  const releasing = (): Promise<string> =>
    operator.releaseDeposit(order.id, BY).then(
      () => "released",
      (error: unknown) => String(error),
    );
  return { ...restored, order, paid, releasing };
}

/** The state of the order's deposit address. */
async function stateOf({ storage }: Restored, { address }: Ordered): Promise<unknown> {
  const instance = await storage.load(address);
  return (JSON.parse(instance?.snapshot ?? "{}") as { readonly value?: unknown }).value;
}

/** Nothing more has reached the recipient, however long it is waited for. */
async function expectPaidOnce(world: World, { pass, paid, order, ...restored }: Held): Promise<void> {
  for (let look = 0; look < 3; look++) await pass(2 * MINUTE);
  expect(await owned(world, world.bob)).toBe(paid);
  expect(await shown({ pass, ...restored }, world, order)).toMatchObject({ attention: "held" });
}

test.each(["lists what it knows", "is silent about lists"])(
  "M22: an open order whose address has paid what the database does not know is not released while the node that knows %s",
  async (told) => {
    const world = await open();
    const held = await heldForSpending(world);
    if (told === "is silent about lists") world.nodes[0].tell(garbles("getSignaturesForAddress"));
    expect(await held.releasing()).toContain("could pay somebody twice");
    await expectPaidOnce(world, held);
  },
);

test("M22: an open order is not released after it was written off, either, while the node that knows is silent", async () => {
  const world = await open();
  const held = await heldForSpending(world);
  world.nodes[0].tell(garbles("getSignaturesForAddress"));
  await held.service.operator.resolve(`unexplained:${held.order.address}`, { action: "writeOff" }, BY);
  expect(await held.releasing()).toContain("could pay somebody twice");
  await expectPaidOnce(world, held);
});

test("M32: the row of a release names the time that the database missed and the operator vouches for", async () => {
  const world = await open();
  const order = await served(world);
  forget(world, world.nodes);
  const { service, pass } = await startOn(world, order);
  await pass(31 * MINUTE);
  const { vouchedTime } = await service.operator.releaseDeposit(order.id, BY);
  const from = Date.parse(vouchedTime?.from ?? "");
  expect(Date.parse(vouchedTime?.to ?? "")).toBeGreaterThan(from);
  expect(await service.operator.auditLog()).toMatchObject([{ act: "release", what: { vouchedTime } }]);
});

test.each(["waiting", "spending"])(
  "M32: an open order that is held for missing history while its address is %s is sent elsewhere, and its recipient is not paid again",
  async (state) => {
    const world = await open();
    const order = await served(world);
    const paid = await owned(world, world.bob);
    const copy = state === "spending" ? beforeThePayout(world, order) : order.copy;
    forget(world, world.nodes);
    world.chain.fund(order.address, { usdc: order.due });
    world.chain.advance(40);
    const restored = await startOn(world, { ...order, copy });
    const { operator } = restored.service;
    await restored.pass(MINUTE);
    expect(await restored.heldReason()).toBe("missing_history");
    expect(await stateOf(restored, order)).toBe(state);
    const safe = world.wallet("safe", { lamports: 1_000_000_000n });
    const command = { action: "refundTo", address: safe.address } as const;
    const { state: done } = await operator.resolve(`unexplained:${order.address}`, command, BY);
    expect(done).toBe("done");
    for (let look = 0; look < 3; look++) await restored.pass(11 * MINUTE);
    expect(await owned(world, world.bob)).toBe(paid);
    expect(await owned(world, safe)).toBeGreaterThan(2_000_000n);
    expect(await shown(restored, world, order)).toMatchObject({
      status: "failed",
      reason: "REFUNDED_BY_OPERATOR",
    });
    // The way back to the sender does not bring the recipients back.
    await operator.releaseDeposit(order.id, BY);
    for (let look = 0; look < 3; look++) await restored.pass(11 * MINUTE);
    expect(await owned(world, world.bob)).toBe(paid);
  },
);

test("M32: the recipient of an order that was sent elsewhere is not paid while the refund fails, either", async () => {
  const world = await open();
  const order = await served(world);
  const paid = await owned(world, world.bob);
  const copy = beforeThePayout(world, order);
  forget(world, world.nodes);
  world.chain.fund(order.address, { usdc: order.due });
  const safe = world.wallet("safe", { lamports: 1_000_000_000n, usdc: 1n });
  world.chain.advance(40);
  await world.freeze(safe, "USDC");
  world.chain.advance(40);
  const restored = await startOn(world, { ...order, copy });
  await restored.pass(MINUTE);
  expect(await stateOf(restored, order)).toBe("spending");
  const command = { action: "refundTo", address: safe.address } as const;
  await restored.service.operator.resolve(`unexplained:${order.address}`, command, BY);
  for (let look = 0; look < 3; look++) await restored.pass(11 * MINUTE);
  expect(await owned(world, safe)).toBe(1n);
  expect(await owned(world, world.bob)).toBe(paid);
  const { payments = [] } = (await restored.storage.transaction(order.id)) ?? {};
  expect(payments.filter(({ kind, signature }) => kind === "payout" && signature !== null)).toEqual([]);
});

/** The order is paid by the other copy, its marker stands, and the same money is there again. */
async function heldBesideMarker(world: World, copy: "before" | "planned"): Promise<Held> {
  const order = await paidElsewhere(world);
  await world.service.stop();
  const paid = await owned(world, world.bob);
  const begun = copy === "planned" ? beforeThePayout(world, order) : order.copy;
  world.chain.fund(order.address, { usdc: order.due });
  world.chain.advance(40);
  const restored = await startOn(world, { ...order, copy: begun });
  await restored.pass(MINUTE);
  expect(await restored.heldReason()).toBe("unknown_spending");
  return { ...restored, order, paid, releasing: () => Promise.reject(new Error("not asked for")) };
}

test.each(["before", "planned"] as const)(
  "M32: an open order whose marker stands is released: it is told completed, and the new money goes back (the payout %s)",
  async (copy) => {
    const world = await open();
    const { service, pass, order, paid, ...held } = await heldBesideMarker(world, copy);
    const before = await owned(world, world.alice);
    const { state } = await service.operator.resolve(
      `unexplained:${order.address}`,
      { action: "release" },
      BY,
    );
    expect(state).toBe("done");
    for (let look = 0; look < 3; look++) await pass(11 * MINUTE);
    expect(await owned(world, world.bob)).toBe(paid);
    expect(await owned(world, world.alice)).toBeGreaterThan(before + 2_000_000n);
    expect(await shown({ service, pass, ...held }, world, order)).toMatchObject({ status: "completed" });
  },
);

test("M32: a marker that was swept recognises nothing, though nodes still list who made it: the order is not released", async () => {
  const world = await open();
  const order = await served(world);
  const paid = await owned(world, world.bob);
  const { transactions } = await world.ledger.signedBy(order.address as never);
  // The payout is the oldest.
  const later = transactions.slice(0, -1).map(({ signature }) => signature);
  for (const node of world.nodes) node.tell(omits(later));
  world.chain.fund(order.address, { usdc: order.due });
  world.chain.advance(40);
  const restored = await startOn(world, order);
  await restored.pass(MINUTE);
  expect(await restored.storage.unknownSignatures(order.address)).toEqual([transactions.at(-1)?.signature]);
  await expect(restored.service.operator.releaseDeposit(order.id, BY)).rejects.toThrow(
    "could pay somebody twice",
  );
  for (let look = 0; look < 3; look++) await restored.pass(2 * MINUTE);
  expect(await owned(world, world.bob)).toBe(paid);
});

test("M32: a marker that another copy closes after the release is remembered by what made it: nobody is paid again", async () => {
  const world = await open();
  const order = await paidElsewhere(world);
  const paid = await owned(world, world.bob);
  const [payout] = (await world.ledger.signedBy(order.address as never)).transactions;
  const first = await startOn(world, { ...order, copy: beforeThePayout(world, order) });
  await first.pass(MINUTE);
  await first.service.operator.releaseDeposit(order.id, BY);
  await first.service.stop();
  await world.sweep();
  const { transactions } = await world.ledger.signedBy(order.address as never);
  const later = transactions.map(({ signature }) => signature).filter((each) => each !== payout?.signature);
  for (const node of world.nodes) node.tell(omits(later));
  world.chain.fund(order.address, { usdc: order.due });
  world.chain.advance(40);
  const service = world.another({ storage: first.storage });
  await service.start();
  onTestFinished(() => service.stop());
  const { clock, chain } = world;
  for (let look = 0; look < 3; look++) {
    const on = { clock, engine: service, storage: first.storage, workflows: service.workflows };
    await passTime(on, clock.now() + 2 * MINUTE);
    chain.advance(35);
    await service.settled();
  }
  expect(await owned(world, world.bob)).toBe(paid);
  expect(await first.heldReason()).toBe("unknown_spending");
});

/** The payout was signed here; another copy has seen it land and has closed its marker. The same money is there again. */
async function closedByAnother(world: World): Promise<{ order: Ordered; later: readonly string[] }> {
  const order = await served(world);
  const copy = copyWith(world.copies, order.id, ({ signature }) => signature !== null);
  const { transactions } = await world.ledger.signedBy(order.address as never);
  world.chain.fund(order.address, { usdc: order.due });
  world.chain.advance(40);
  const later = transactions.slice(0, -1).map(({ signature }) => signature);
  return { order: { ...order, copy }, later };
}

test.each([
  ["lists what closed it", false],
  ["leaves out of its lists what closed it", true],
])(
  "M32: a payout that was signed here and landed, and whose marker another copy has closed, is told completed, and new money goes back, where each node %s",
  async (_, isOmitted) => {
    const world = await open();
    const { order, later } = await closedByAnother(world);
    if (isOmitted) for (const node of world.nodes) node.tell(omits(later));
    const paid = await owned(world, world.bob);
    const before = await owned(world, world.alice);
    const restored = await startOn(world, order);
    await restored.pass(2 * MINUTE);
    expect(await shown(restored, world, order)).toMatchObject({ status: "completed" });
    if (!isOmitted) await restored.service.operator.releaseDeposit(order.id, BY);
    for (let look = 0; look < 3; look++) await restored.pass(11 * MINUTE);
    expect(await restored.heldReason()).toBeNull();
    expect(await owned(world, world.bob)).toBe(paid);
    expect(await owned(world, world.alice)).toBeGreaterThan(before + 2_000_000n);
  },
);

test("M32: a payout that was signed here is not signed again where a node lists that it has made its marker, though no marker stands and the nodes tell its receipt differently", async () => {
  const world = await open();
  const { order, later } = await closedByAnother(world);
  for (const node of world.nodes) node.tell(omits(later));
  world.nodes[1].tell(misdatesTransactions);
  const paid = await owned(world, world.bob);
  const restored = await startOn(world, order);
  for (let look = 0; look < 3; look++) await restored.pass(11 * MINUTE);
  expect(await owned(world, world.bob)).toBe(paid);
  expect(await shown(restored, world, order)).toMatchObject({ status: "processing" });
});

test("M32: an order that another copy has paid, whose window closes here without money, is told completed once it is released", async () => {
  const world = await open();
  const order = await paidElsewhere(world);
  await world.service.stop();
  const paid = await owned(world, world.bob);
  const restored = await startOn(world, order);
  await restored.pass(31 * MINUTE);
  expect(await restored.heldReason()).toBe("unknown_spending");
  await restored.service.operator.releaseDeposit(order.id, BY);
  for (let look = 0; look < 3; look++) await restored.pass(11 * MINUTE);
  expect(await owned(world, world.bob)).toBe(paid);
  expect(await shown(restored, world, order)).toMatchObject({
    status: "completed",
    recipients: [{ status: "paid" }],
  });
});

test("M32: a payroll of several transactions that another copy has paid is told completed when an operator sends what is left elsewhere", async () => {
  const world = await open();
  const payees = Array.from({ length: 30 }, (_, index) =>
    world.wallet(`payee ${index}`, { lamports: 1_000_000_000n, usdc: 1n }),
  );
  const to = payees.map(({ address }) => ({ address, amount: "1" }));
  const { body } = await world.order(world.customer, { sender: world.alice, to });
  const [id, address] = [body.transactionId, body.ephemeralAddress];
  const order = {
    id,
    address,
    due: units(body.depositAmount, 6),
    copy: world.copies.at(-1) ?? new Uint8Array(),
  };
  await world.deposit(address, { usdc: order.due });
  await world.settle(12);
  expect(await world.service.transaction(world.customer, id)).toMatchObject({ status: "completed" });
  await world.service.stop();
  const restored = await startOn(world, order);
  await restored.pass(31 * MINUTE);
  const safe = world.wallet("safe", { lamports: 1_000_000_000n });
  const command = { action: "refundTo", address: safe.address } as const;
  await restored.service.operator.resolve(`unexplained:${address}`, command, BY);
  for (let look = 0; look < 3; look++) await restored.pass(11 * MINUTE);
  const { status, recipients } = await shown(restored, world, order);
  expect([status, new Set(recipients.map((each) => each.status))]).toEqual(["completed", new Set(["paid"])]);
  const got = await Promise.all(payees.map((payee) => owned(world, payee)));
  expect(new Set(got)).toEqual(new Set([1_000_001n]));
});

/** Half of the money came, and the other copy has refunded it after the window. */
async function refundedElsewhere(world: World): Promise<Ordered> {
  const order = await ordered(world);
  await world.deposit(order.address, { usdc: order.due / 2n });
  await world.pass(31 * MINUTE);
  await world.settle();
  await world.service.stop();
  expect(await owned(world, world.alice)).toBeGreaterThan(1n);
  return order;
}

test.each([
  ["no money comes again", false, false],
  ["no money comes again and no node lists the refund", false, true],
  ["new money is to pay its recipient", true, false],
])(
  "M32: an order that another copy has refunded is told as failed once it is released, though %s, and new money goes back",
  async (_, comesAgain, isForgotten) => {
    const world = await open();
    const order = await refundedElsewhere(world);
    if (isForgotten) forget(world, world.nodes);
    const bobs = await owned(world, world.bob);
    const before = await owned(world, world.alice);
    if (comesAgain) world.chain.fund(order.address, { usdc: order.due });
    world.chain.advance(40);
    const restored = await startOn(world, order);
    await restored.pass(MINUTE);
    expect(await restored.heldReason()).toBe(isForgotten ? "missing_history" : "unknown_spending");
    await restored.service.operator.releaseDeposit(order.id, BY);
    for (let look = 0; look < 4; look++) await restored.pass(11 * MINUTE);
    expect(await shown(restored, world, order)).toMatchObject({ status: "failed" });
    expect(await restored.heldReason()).toBeNull();
    expect(await owned(world, world.bob)).toBe(bobs);
    const back = (await owned(world, world.alice)) - before;
    expect(comesAgain ? back > 2_000_000n : back === 0n).toBe(true);
  },
);

test("M32: an order that another copy has paid is not cancelled, though no node lists what was paid", async () => {
  const world = await open();
  const order = await paidElsewhere(world);
  await world.service.stop();
  forget(world, world.nodes);
  const { service } = await startOn(world, order);
  await expect(service.cancelTransaction(world.customer, order.id)).rejects.toMatchObject({
    code: "ALREADY_PROCESSED",
  });
});

test("M32: an order that another copy has paid is told completed by its marker alone, where no node lists what was paid and the gap was too short to be noticed", async () => {
  const world = await open();
  const order = await paidElsewhere(world);
  await world.service.stop();
  forget(world, world.nodes);
  const restored = await startOn(world, order);
  for (let look = 0; look < 4; look++) await restored.pass(11 * MINUTE);
  expect(await shown(restored, world, order)).toMatchObject({
    status: "completed",
    recipients: [{ status: "paid" }],
  });
});

test.each([
  ["was not planned here", "before", false],
  ["meets the marker", "planned", false],
  ["is given up, since nodes say that it would land", "planned", true],
] as const)(
  "M32: the payout of an order that is sent elsewhere %s: it is told as paid by the other copy, and the rest goes by a second word",
  async (_, copy, isHidden) => {
    const world = await open();
    const { service, pass, order, paid, ...held } = await heldBesideMarker(world, copy);
    const bobs = world.tokenAccountOf(world.bob, "USDC");
    if (isHidden) for (const node of world.nodes) node.tell(passesWhatNames(bobs));
    const safe = world.wallet("safe", { lamports: 1_000_000_000n });
    const command = { action: "refundTo", address: safe.address } as const;
    await service.operator.resolve(`unexplained:${order.address}`, command, BY);
    for (let look = 0; look < 4; look++) await pass(11 * MINUTE);
    expect(await shown({ service, pass, ...held }, world, order)).toMatchObject({ status: "completed" });
    // What the other copy had got for its payout was not known when the first word was given.
    expect(await held.heldReason()).toBe("sent_elsewhere");
    await service.operator.resolve(`held:${order.address}`, command, BY);
    for (let look = 0; look < 3; look++) await pass(11 * MINUTE);
    expect(await owned(world, world.bob)).toBe(paid);
    expect(await owned(world, safe)).toBeGreaterThan(2_000_000n);
    expect(await held.heldReason()).toBeNull();
    expect((await service.operator.attention()).map(({ kind }) => kind)).toEqual([]);
  },
);
