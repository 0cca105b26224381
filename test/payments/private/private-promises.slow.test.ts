/** Promises of private mode that a small slip in one line would break without any other test noticing. */
import { describe, expect } from "vitest";
import { keypairSigner, signTransaction } from "../../../src/ledger/sign-transaction.ts";
import { depositKeys } from "../../../src/payments/secrets/deposit-keys.ts";
import { holdAddress } from "../../../src/payments/outgoing/unknown-spending.ts";
import { units } from "../../kit/private-fixture.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import { BY } from "../../kit/by.ts";
import { MINUTE, SOL, paymentsOf, type Ordered, type Scene } from "./scene.ts";
import { spendElsewhere } from "./spend-elsewhere.ts";
import { sceneTest as test } from "./scene-test.ts";
import { dropping } from "../../kit/odd-endpoints.ts";

async function heldReason(world: Scene, { address }: Ordered): Promise<string | null> {
  return (await world.storage.deposits([address]))[0]?.heldReason ?? null;
}

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

describe("E17: what another copy of the database has spent", () => {
  test("is looked for again before a refund: late money is held, not sent back", async ({ open }) => {
    const world = await open();
    const order = await world.sendTo();
    await world.service.cancelTransaction(world.customer, order.id);
    await world.deposit(order.address, { lamports: SOL });
    await world.settle(8);
    expect(await paymentsOf(world, order, "refund")).toMatchObject([{ status: "finalized" }]);
    // By now this process has looked once and found nothing.
    await world.pass(11 * MINUTE);
    await spendElsewhere(world, order);
    await world.deposit(order.address, { lamports: SOL });
    await world.settle(8);
    expect(await paymentsOf(world, order, "refund")).toHaveLength(1);
    expect(await heldReason(world, order)).toBe("unknown_spending");
  });

  test("is looked for again before a sweep: its markers stay", async ({ open }) => {
    const world = await open();
    const order = await world.sendTo();
    await world.deposit(order.address, { usdc: order.due });
    await world.settle(10);
    expect(await world.shown(order)).toMatchObject({ status: "completed" });
    await world.deposit(order.address, { lamports: await world.ledger.rentMinimum(0) });
    await spendElsewhere(world, order, { amount: await world.ledger.rentMinimum(0) });
    await world.sweep();
    expect(await paymentsOf(world, order, "sweep")).toEqual([]);
    expect(await heldReason(world, order)).toBe("unknown_spending");
  });

  test("is nothing where it failed on the chain: a transaction that moved nothing holds no order", async ({
    open,
  }) => {
    const world = await open();
    const order = await world.sendTo();
    // Its error is found when it runs: the address does not hold so many lamports.
    await spendElsewhere(world, order, { amount: 1_000_000n * SOL });
    const { transactions } = await world.ledger.signedBy(order.address as never);
    expect(transactions).toMatchObject([{ error: expect.any(String) as string }]);
    await world.deposit(order.address, { usdc: order.due });
    await world.settle(10);
    expect(await world.shown(order)).toMatchObject({ status: "completed" });
    await world.judge();
  });
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
    const [refund] = await paymentsOf(world, order, "refund");
    expect(refund?.legs[0]?.amount).toBeLessThan(2_000_000n);
    await world.passAndSettle(11 * MINUTE, 8);
    expect(await paymentsOf(world, order, "refund")).toMatchObject([
      { status: "finalized" },
      { status: "finalized" },
    ]);
    await world.sweep();
    await world.judge();
  });

  test("hold back what they cost, and that stays for the sweep: it is not refunded in turn", async ({
    open,
  }) => {
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
    await world.settle(8);
    const [refund] = await paymentsOf(world, order, "refund");
    const refunded = refund?.legs[0]?.amount ?? 0n;
    const withheld = 9_000_000n - refunded;
    expect(withheld).toBeGreaterThan(100_000n);
    await world.passAndSettle(11 * MINUTE, 8);
    await world.passAndSettle(11 * MINUTE, 8);
    expect(await paymentsOf(world, order, "refund")).toHaveLength(1);
    await world.sweep();
    expect((await world.held(carol.address))[1]).toBe(refunded);
    expect((await world.held(world.treasury.address))[1]).toBe(withheld);
    await world.judge();
  });

  test("hold back their own transaction and the one that sweeps their marker", async ({ open }) => {
    const world = await open();
    const order = await world.sendTo();
    await world.service.cancelTransaction(world.customer, order.id);
    await world.deposit(order.address, { lamports: SOL });
    await world.settle(8);
    const [refund] = await paymentsOf(world, order, "refund");
    const withheld = SOL - (refund?.legs[0]?.amount ?? 0n);
    // Sponsor and deposit address sign both; the network asks 5,000 lamports for each signature, and the refund may bid.
    expect(withheld - world.ledger.bidCeiling).toBeGreaterThanOrEqual(2n * 10_000n);
    await world.sweep();
    await world.judge();
  });

  test("are ten minutes apart, to the second", async ({ open }) => {
    const world = await open();
    const order = await world.sendTo();
    await world.service.cancelTransaction(world.customer, order.id);
    await world.deposit(order.address, { usdc: 2_000_000n });
    await world.settle(4);
    const [first] = await paymentsOf(world, order, "refund");
    expect(first).toMatchObject({ status: "finalized" });
    await world.deposit(order.address, { usdc: 3_000_000n });
    const waitsFrom = world.clock.now();
    await world.pass(10 * MINUTE - 90_000);
    expect(await paymentsOf(world, order, "refund")).toHaveLength(1);
    await world.pass(90_000);
    const [, second] = (await paymentsOf(world, order, "refund")).toSorted(
      (a, b) => a.createdAt - b.createdAt,
    );
    expect(second?.createdAt ?? 0).toBeGreaterThanOrEqual((first?.createdAt ?? 0) + 10 * MINUTE);
    expect(second?.createdAt ?? 0).toBeLessThanOrEqual(waitsFrom + 10 * MINUTE);
  });
});

describe("a held address", () => {
  test("has nothing signed for it, though the payment was planned before it was held", async ({ open }) => {
    const world = await open();
    const order = await world.sendTo();
    // The payout is planned, and the sponsor cannot pay for it yet.
    const [lamports] = await world.held(world.sponsor.address);
    await world.pay(world.sponsor, world.treasury.address, lamports - 1_000_000n);
    await world.deposit(order.address, { usdc: order.due });
    await world.service.settled();
    expect(await paymentsOf(world, order, "payout")).toMatchObject([{ signature: null }]);
    await holdAddress(world.storage, order.address, "screening");
    await world.pay(world.treasury, world.sponsor.address, lamports - 2_000_000n);
    await world.passAndSettle(10 * MINUTE, 6);
    expect(await paymentsOf(world, order, "payout")).toMatchObject([{ signature: null }]);
    expect((await world.held(world.bob.address))[1]).toBe(0n);
    await world.service.operator.releaseDeposit(order.id, BY);
    await world.passAndSettle(10 * MINUTE, 10);
    expect(await world.shown(order)).toMatchObject({ status: "completed" });
    await world.judge();
  });
});

describe("settling an address", () => {
  test("waits for a reading that shows its last payment: nothing is planned by what is gone", async ({
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
    isStale = true;
    await world.settle(4);
    expect(await paymentsOf(world, order, "refund")).toMatchObject([{ status: "finalized" }]);
    await world.pass(11 * MINUTE);
    expect(await paymentsOf(world, order, "refund")).toHaveLength(1);
    isStale = false;
    await world.passAndSettle(11 * MINUTE, 4);
    expect(await paymentsOf(world, order, "refund")).toHaveLength(1);
    await world.sweep();
    expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
    await world.judge();
  });

  test("takes no marker away while the bytes that it refuses may live, however much time has passed", async ({
    open,
  }) => {
    const world = await open();
    const order = await world.sendTo();
    await world.deposit(order.address, { usdc: order.due });
    await world.settle(8);
    expect(await world.shown(order)).toMatchObject({ status: "completed" });
    for (const minutes of [11, 15, 60, 60]) {
      await world.pass(minutes * MINUTE);
      await world.settle(1);
    }
    expect(await paymentsOf(world, order, "sweep")).toEqual([]);
    world.chain.advance(200);
    await world.pass(61 * MINUTE);
    await world.settle(4);
    expect(await paymentsOf(world, order, "sweep")).toMatchObject([{ status: "finalized" }]);
    expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
    await world.judge();
  });
});

test("a marker is not paid for where its rent is said to be above the bound of the operator", async ({
  open,
}) => {
  const world = await open({}, { maxMarkerRent: 1_000_000n });
  const order = await world.sendTo();
  const [before] = await world.held(world.sponsor.address);
  await world.deposit(order.address, { usdc: order.due });
  await world.passAndSettle(10 * MINUTE, 2);
  expect(await paymentsOf(world, order, "payout")).toMatchObject([{ signature: null }]);
  expect(await world.shown(order)).toMatchObject({ status: "processing" });
  expect((await world.held(world.sponsor.address))[0]).toBe(before);
});

describe("what became of a payment", () => {
  const order = async (world: Scene): Promise<{ readonly order: Ordered; readonly lift: () => void }> => {
    const lift = world.chain.faults.add(dropping);
    const ordered = await world.sendTo();
    await world.deposit(ordered.address, { usdc: ordered.due });
    await world.service.settled();
    return { order: ordered, lift };
  };

  test("E7: its bytes are given up only when the block after their last height is final, whatever a node reports", async ({
    open,
  }) => {
    const world = await open();
    const { chain, service, storage } = world;
    const { order: ordered } = await order(world);
    const [payout] = await paymentsOf(world, ordered, "payout");
    const [attempt] = await storage.attempts([payout?.signature ?? ""]);
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
    const { lowest } = await world.ledger.heights("finalized");
    chain.advance(attempt.lastValidBlockHeight - lowest);
    await service.settled();
    await world.pass(MINUTE);
    expect((await paymentsOf(world, ordered, "payout"))[0]?.signature).toBe(attempt.id);
    chain.advance(2);
    await service.settled();
    await world.pass(MINUTE);
    expect((await paymentsOf(world, ordered, "payout"))[0]?.signature).not.toBe(attempt.id);
  });

  test("is an operator's matter where its marker names a plan that this database does not know: nothing is completed", async ({
    open,
  }) => {
    const world = await open();
    const { chain, ledger, sponsor } = world;
    const { order: ordered, lift } = await order(world);
    lift();
    // Another copy of the database has replaced the order by a plan of its own.
    const keys = depositKeys([TEST_MASTER_SECRET], () => chain.genesisHash);
    const key = { masterVersion: 1, transactionId: ordered.id };
    const seeds = { seed: keys.seed(key, "order"), plan: keys.seed(key, "another plan") };
    const unsigned = await ledger.buildTransaction({
      feePayer: sponsor.address,
      moves: [{ does: "replace", base: ordered.address as never, ...seeds, payer: sponsor.address }],
    });
    const signers = [keypairSigner(sponsor.secretKey), keys.signer(key)];
    const { bytes } = await signTransaction(unsigned, signers);
    await ledger.broadcast(bytes);
    chain.advance(35);
    await world.settle(8);
    await world.passAndSettle(2 * MINUTE, 4);
    expect(await world.shown(ordered)).toMatchObject({ status: "processing" });
    expect(await heldReason(world, ordered)).toBe("unknown_spending");
    expect((await world.held(world.bob.address))[1]).toBe(0n);
  });
});
