/** What becomes of orders of private mode, on the real programs: each ends with its address at nothing. */
// modules: private
import { expect } from "vitest";
import { agreed } from "../../../src/ledger/agreed.ts";
import type { OrderFault } from "../../../src/ledger/order-fault.ts";
import { BY } from "../../kit/by.ts";
import type { PrivateFixture } from "../../kit/private-fixture.ts";
import { units } from "../../kit/money.ts";
import { privateTest as test } from "../../kit/private-test.ts";

const SOL = 1_000_000_000n;
const EMPTY = [0n, 0n, 0n] as const;

async function parties(world: PrivateFixture) {
  const caller = await world.caller("enterprise");
  const alice = world.wallet("alice", { lamports: SOL });
  const bob = world.wallet("bob", { lamports: SOL });
  return { caller, alice, bob };
}

test("a send of SOL pays its recipient, lends and takes the loan back", async ({ open }) => {
  const world = await open();
  const { caller, alice, bob } = await parties(world);
  const to = [{ address: bob.address, amount: "0.5" }];
  const { quote, body } = await world.order(caller, { sender: alice, to, asset: "SOL" });
  await world.deposit(body.ephemeralAddress, { lamports: units(body.depositAmount, 9) });
  await world.settle();

  const transaction = await world.service.transaction(caller, body.transactionId);
  expect(transaction).toMatchObject({ status: "completed", fee: quote.fee, refunds: [] });
  expect((await world.held(bob.address))[0]).toBe(SOL + SOL / 2n);
  expect(await world.held(body.ephemeralAddress)).toEqual(EMPTY);
});

test("K6: a payroll of several chunks pays everybody, the later chunks after the go", async ({ open }) => {
  const world = await open();
  const { caller, alice } = await parties(world);
  const payees = Array.from({ length: 15 }, (_, n) => world.wallet(`payee ${n}`, { lamports: SOL }));
  const to = payees.map(({ address }) => ({ address, amount: "1" }));
  const { body } = await world.order(caller, { sender: alice, to });
  await world.deposit(body.ephemeralAddress, { usdc: units(body.depositAmount, 6) });
  await world.settle(10);

  const transaction = await world.service.transaction(caller, body.transactionId);
  expect(transaction.status).toBe("completed");
  for (const { address } of payees) expect((await world.held(address))[1]).toBe(1_000_000n);
  expect(await world.held(body.ephemeralAddress)).toEqual(EMPTY);
});

test("an order that nobody has paid is cancelled, and money that comes later goes back", async ({ open }) => {
  const world = await open();
  const { caller, alice, bob } = await parties(world);
  const to = [{ address: bob.address, amount: "5" }];
  const { body } = await world.order(caller, { sender: alice, to });
  const answer = await world.service.cancelTransaction(caller, body.transactionId);
  expect(answer.status).toBe("cancelled");
  await world.deposit(body.ephemeralAddress, { usdc: 3_000_000n });
  await world.settle(10);

  const transaction = await world.service.transaction(caller, body.transactionId);
  expect(transaction.status).toBe("cancelled");
  expect((await world.held(alice.address))[1]).toBeGreaterThan(1_500_000n);
  expect(await world.held(body.ephemeralAddress)).toEqual(EMPTY);
});

test("K17: a deposit on its way forbids a cancel", async ({ open }) => {
  const world = await open();
  const { caller, alice, bob } = await parties(world);
  const to = [{ address: bob.address, amount: "5" }];
  const { body } = await world.order(caller, { sender: alice, to });
  world.chain.fund(body.ephemeralAddress, { usdc: 1_000_000n });
  await expect(world.service.cancelTransaction(caller, body.transactionId)).rejects.toMatchObject({
    code: "ALREADY_PROCESSED",
  });
});

test("too little until the window is over is refused on the chain, and goes back", async ({ open }) => {
  const world = await open();
  const { caller, alice, bob } = await parties(world);
  const to = [{ address: bob.address, amount: "5" }];
  const { body } = await world.order(caller, { sender: alice, to });
  await world.deposit(body.ephemeralAddress, { usdc: 4_000_000n });
  await world.pass(31 * 60_000);
  await world.settle(10);

  const transaction = await world.service.transaction(caller, body.transactionId);
  expect(transaction).toMatchObject({ status: "failed", reason: "INCOMPLETE_DEPOSIT" });
  expect((await world.held(bob.address))[1]).toBe(0n);
  expect((await world.held(alice.address))[1]).toBeGreaterThan(2_500_000n);
  expect(await world.held(body.ephemeralAddress)).toEqual(EMPTY);
});

test("without a deposit the window ends the order", async ({ open }) => {
  const world = await open();
  const { caller, alice, bob } = await parties(world);
  const to = [{ address: bob.address, amount: "5" }];
  const { body } = await world.order(caller, { sender: alice, to });
  await world.pass(31 * 60_000);
  await world.settle();

  const transaction = await world.service.transaction(caller, body.transactionId);
  expect(transaction).toMatchObject({ status: "failed", reason: "DEPOSIT_TIMEOUT", fee: "0" });
});

test("what is above the deposit goes back, once the recipients are paid", async ({ open }) => {
  const world = await open();
  const { caller, alice, bob } = await parties(world);
  const to = [{ address: bob.address, amount: "5" }];
  const { body } = await world.order(caller, { sender: alice, to });
  await world.deposit(body.ephemeralAddress, { usdc: units(body.depositAmount, 6) + 7_000_000n });
  await world.settle(10);

  const transaction = await world.service.transaction(caller, body.transactionId);
  expect(transaction).toMatchObject({ status: "completed" });
  expect((await world.held(bob.address))[1]).toBe(5_000_000n);
  expect((await world.held(alice.address))[1]).toBeGreaterThan(6_500_000n);
  expect(await world.held(body.ephemeralAddress)).toEqual(EMPTY);
});

test("K8: recipients whom a person gives up are not paid, though their chunk was to be signed, and their shares go back", async ({
  open,
}) => {
  const world = await open();
  const { service, ledger } = world;
  const { caller, alice } = await parties(world);
  const payees = Array.from({ length: 8 }, (_, n) => world.wallet(`payee ${n}`, { lamports: SOL }));
  const to = payees.map(({ address }) => ({ address, amount: "1" }));
  const { body } = await world.order(caller, { sender: alice, to });
  const { tryOrder } = ledger;
  let isBarred = true;
  const barred: typeof tryOrder = async (plan, unsigned) => {
    const [marker] = plan.moves;
    if (!isBarred || marker?.does !== "buy" || marker.seed !== "1") return tryOrder(plan, unsigned);
    return agreed<OrderFault>({ at: null, account: null, error: "other", text: "{}" });
  };
  Object.assign(ledger, { tryOrder: barred });
  await world.deposit(body.ephemeralAddress, { usdc: units(body.depositAmount, 6) });
  await world.settle(3);
  const versionOf = async () => (await world.storage.order(body.transactionId))?.version ?? 0;
  const before = await versionOf();
  await service.operator.resolve(body.transactionId, { action: "foreclose", chunk: 1 }, BY);
  // What its transfer concludes from an older look, such as whom to leave out, is refused.
  expect(await versionOf()).toBeGreaterThan(before);
  isBarred = false;
  await world.settle(10);

  const transaction = await service.transaction(caller, body.transactionId);
  expect(transaction).toMatchObject({ status: "failed", reason: "PARTIAL_PAYOUT" });
  const got = await Promise.all(payees.map(async ({ address }) => (await world.held(address))[1]));
  expect(got).toEqual([...Array.from({ length: 6 }, () => 1_000_000n), 0n, 0n]);
  expect((await world.held(alice.address))[1]).toBeGreaterThan(1_500_000n);
});
