/** Promises of private mode that a small slip in one line would break without any other test noticing. */
// modules: private
import { describe, expect } from "vitest";
import { units } from "../../kit/money.ts";
import { BY } from "../../kit/by.ts";
import { MINUTE, SOL, transfersOf } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";
import { dropping } from "../../kit/odd-endpoints.ts";

test("E4: of two private orders of one quote at once exactly one is taken", async ({ open }) => {
  const world = await open();
  const { service, customer, alice, bob } = world;
  const recipients = [{ address: bob.address, amount: "5" }];
  const { body: quote } = await service.createQuote(customer, {
    inputAsset: "USDC",
    outputAsset: "USDC",
    amount: "5",
    mode: "private",
    recipients,
  });
  const order = { type: "send", mode: "private", quoteId: quote.quoteId, sender: alice.address } as const;
  const answers = await Promise.allSettled(
    ["one", "two"].map((reference) =>
      service.createTransaction(customer, { ...order, recipients: [...recipients], reference }),
    ),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  const refused = answers.find((each) => each.status === "rejected");
  expect(refused?.reason).toMatchObject({ code: "INVALID_QUOTE", details: { reason: "used" } });
  const waiting = await world.storage.reservations(`sponsor ${world.sponsor.address}`);
  expect(waiting).toHaveLength(1);
});

describe("refunds", () => {
  test("are counted from finalized money only: what could still vanish is not in them", async ({ open }) => {
    const world = await open();
    const order = await world.sendTo();
    await world.service.cancelTransaction(world.customer, order.id);
    world.chain.fund(order.address, { usdc: 2_000_000n });
    world.chain.advance(20);
    world.chain.fund(order.address, { usdc: 7_000_000n });
    world.chain.advance(15);
    await world.service.settled();
    await world.service.settled();
    const [first] = (await world.shown(order)).received ?? [];
    expect(first).toMatchObject({ amount: "2" });
    for (let look = 0; look < 3; look++) await world.passAndSettle(11 * MINUTE, 8);
    expect((await world.held(world.alice.address))[1]).toBeGreaterThan(8_500_000n);
    expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
    await world.judge();
  });

  test("hold back what they cost, and the sponsor has it: it is not refunded in turn", async ({ open }) => {
    const world = await open();
    // Without an account of its own, which the first refund makes and charges for.
    const carol = world.wallet("carol", { lamports: SOL });
    world.chain.advance(35);
    const { body } = await world.order(world.customer, {
      sender: carol,
      to: [{ address: world.bob.address, amount: "5" }],
    });
    const { ephemeralAddress: address, transactionId: id } = body;
    const order = { id, address, due: units(body.depositAmount, 6) };
    await world.service.cancelTransaction(world.customer, id);
    await world.deposit(address, { usdc: 9_000_000n });
    for (let look = 0; look < 3; look++) await world.passAndSettle(11 * MINUTE, 8);
    const [refund, ...others] = (await world.shown(order)).refunds;
    expect(others).toEqual([]);
    const [refunded, withheld] = [units(refund?.amount ?? "", 6), units(refund?.cost ?? "", 6)];
    expect(refunded + withheld).toBe(9_000_000n);
    expect(withheld).toBeGreaterThan(100_000n);
    expect((await world.held(carol.address))[1]).toBe(refunded);
    expect((await world.held(world.sponsor.address))[1]).toBe(withheld);
    await world.judge();
  });

  test("K14: are ten minutes apart, to the second", async ({ open }) => {
    const world = await open();
    const order = await world.sendTo();
    const landed = async (): Promise<readonly number[]> =>
      (await transfersOf(world, order, "rest")).flatMap(({ landedAt }) => landedAt ?? []);
    await world.service.cancelTransaction(world.customer, order.id);
    await world.deposit(order.address, { usdc: 2_000_000n });
    await world.settle(8);
    const [first = 0] = await landed();
    expect(first).toBeGreaterThan(0);
    await world.deposit(order.address, { usdc: 3_000_000n });
    await world.pass(first + 10 * MINUTE - 1_000 - world.clock.now());
    await world.settle(4);
    expect(await landed()).toHaveLength(1);
    await world.passAndSettle(2 * MINUTE, 4);
    expect(await landed()).toHaveLength(2);
  });
});

test("an order that is held has nothing signed for it, though its payment was planned before", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  // The payout is planned, and the sponsor cannot pay for it yet.
  const [lamports] = await world.held(world.sponsor.address);
  await world.pay(world.sponsor, world.treasury.address, lamports - 1_000_000n);
  await world.deposit(order.address, { usdc: order.due });
  await world.service.settled();
  expect(await transfersOf(world, order, "chunk")).toMatchObject([{ state: "planned", reason: "low_purse" }]);
  await world.service.operator.resolve(order.id, { action: "hold" }, BY);
  await world.pay(world.treasury, world.sponsor.address, lamports - 2_000_000n);
  await world.passAndSettle(10 * MINUTE, 6);
  expect(await transfersOf(world, order, "chunk")).toMatchObject([{ state: "planned" }]);
  expect((await world.held(world.bob.address))[1]).toBe(0n);
  await world.service.operator.resolve(order.id, { action: "release" }, BY);
  await world.passAndSettle(10 * MINUTE, 10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await world.judge();
});

test("what came is settled by readings that show the last refund: nothing is sent by what is gone", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.service.cancelTransaction(world.customer, order.id);
  // The node tells of the accounts what it told first, in the block in which it told it.
  const told = new Map<string, unknown>();
  let isStale = false;
  world.chain.faults.add(({ method, params }) => {
    const asked = JSON.stringify(params[0]);
    if (method !== "getMultipleAccounts" || !asked.includes(order.address)) return undefined;
    return {
      kind: "lie",
      answer: (honest) => {
        if (!isStale) told.set(asked, honest);
        return told.get(asked) ?? honest;
      },
    };
  });
  await world.deposit(order.address, { usdc: 9_000_000n });
  await world.settle(3);
  isStale = true;
  await world.settle(4);
  await world.pass(11 * MINUTE);
  isStale = false;
  for (let look = 0; look < 2; look++) await world.passAndSettle(11 * MINUTE, 4);
  const { refunds } = await world.shown(order);
  expect(refunds.filter(({ status }) => status === "paid")).toHaveLength(1);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("E7: bytes are given up only when the block after their last height is final, whatever a node reports", async ({
  open,
}) => {
  const world = await open();
  const { chain, service, storage } = world;
  chain.faults.add(dropping);
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due });
  await service.settled();
  const attemptsOf = async (): Promise<readonly string[]> => {
    const [chunk] = await transfersOf(world, order, "chunk");
    return (await storage.attemptsOf(chunk?.id ?? "")).map(({ id }) => id);
  };
  const [signature = ""] = await attemptsOf();
  const [attempt] = await storage.attempts([signature]);
  if (attempt === undefined) throw new Error("the payout was signed");
  chain.faults.add(({ method }) =>
    method !== "getSignatureStatuses"
      ? undefined
      : {
          kind: "lie",
          answer: (honest) => {
            const { context, value } = honest as { context: { slot: number }; value: readonly unknown[] };
            const final = { confirmations: null, err: null, confirmationStatus: "finalized" };
            return { context, value: value.map(() => ({ ...final, slot: context.slot })) };
          },
        },
  );
  const { agreed } = await world.ledger.heights("finalized");
  chain.advance(attempt.lastValidBlockHeight - agreed);
  await service.settled();
  await world.pass(MINUTE);
  expect(await attemptsOf()).toEqual([signature]);
  chain.advance(2);
  await service.settled();
  await world.pass(2 * MINUTE);
  expect((await attemptsOf()).length).toBeGreaterThan(1);
  // What a node reports of bytes completes nothing: the marker decides.
  expect(await world.shown(order)).toMatchObject({ status: "processing" });
});
