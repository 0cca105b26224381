/** A private payroll: many recipients in few transactions, each paid once whatever becomes of the others. */
// modules: private
import { expect } from "vitest";
import { Keypair } from "@solana/web3.js";
import type { CreatedOrderBody } from "../../../src/payments/private/accept-order.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { units } from "../../kit/money.ts";
import { byDepth, sampled } from "../../kit/thorough.ts";
import { DAY, MINUTE, orderedAs, SOL, transfersOf, type Ordered, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";
import { dropping } from "../../kit/odd-endpoints.ts";

/** A payroll of `amount` USDC each, and its address funded. */
async function payroll(world: Scene, payees: readonly Wallet[], amount = "0.5"): Promise<Ordered> {
  const { body } = await world.order(world.customer, {
    sender: world.alice,
    to: payees.map(({ address }) => ({ address, amount })),
  });
  return orderedAs(body);
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

const payeesWith = (world: Scene, count: number, usdc: bigint | null): Wallet[] =>
  Array.from({ length: count }, (_, index) =>
    world.wallet(`payee ${index}`, { lamports: 1_000_000n, ...(usdc === null ? {} : { usdc }) }),
  );

test("P17: a payee who handed its token account over is not paid, nor is the thief; the others are", async ({
  open,
}) => {
  const world = await open();
  const payees = payeesWith(world, 8, 1n);
  const thief = world.wallet("thief", { lamports: SOL });
  const [victim] = payees;
  if (victim === undefined) throw new Error("there are eight");
  const order = await payroll(world, payees);
  await world.handOver(victim, "USDC", thief);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(20);
  const ended = await world.shown(order);
  expect(ended).toMatchObject({ status: "failed", reason: "PARTIAL_PAYOUT", refunds: [{ status: "paid" }] });
  expect(ended.recipients.map(({ status }) => status)).toEqual(["unpaid", ...times(7, "paid")]);
  const stolen = await world.ledger.holdingsOf(thief.address, [world.mints.USDC], "finalized");
  // What was in it when it was handed over, and no more.
  expect(stolen.tokens).toEqual([1n]);
  for (const payee of payees.slice(1)) expect((await world.held(payee.address))[1]).toBe(500_001n);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("N15: one payee of six closes its token account between the simulation and the landing: where the address can pay for another all are paid, by the same bytes", async ({
  open,
}) => {
  const world = await open();
  const payees = payeesWith(world, 6, 0n);
  const [, , leaver] = payees;
  if (leaver === undefined) throw new Error("there are six");
  const order = await payroll(world, payees);
  await world.deposit(order.address, { lamports: 10_000_000n });
  // What was simulated beside six accounts is dropped on its way; the same bytes arrive when there are five.
  const lift = world.chain.faults.add(dropping);
  await world.deposit(order.address, { usdc: order.due });
  lift();
  const [chunk] = await transfersOf(world, order, "chunk");
  expect(chunk).toMatchObject({ state: "out" });
  const [simulated] = await world.storage.attemptsOf(chunk?.id ?? "");
  await world.closeAccount(leaver, "USDC");
  await world.passAndSettle(20_000, 6);
  const ended = await world.shown(order);
  const opened = [{ asset: "SOL", amount: "0.00203928", reason: "account" }];
  expect(ended).toMatchObject({ status: "completed", unreturned: opened });
  expect(ended.recipients.map(({ signature }) => signature)).toEqual(times(6, simulated?.id));
  for (const payee of payees) expect((await world.held(payee.address))[1]).toBe(500_000n);
  await world.judge();
});

test("P17, C8, K5: with the treasury's account frozen everybody is paid, and the fee goes back to the sender", async ({
  open,
}) => {
  const world = await open();
  await world.freeze(world.treasury, "USDC");
  const payees = payeesWith(world, 7, 1n);
  const order = await payroll(world, payees);
  const fee = order.due - 3_500_000n;
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(16);
  expect(await world.shown(order)).toMatchObject({ status: "completed", fee: "0" });
  for (const payee of payees) expect((await world.held(payee.address))[1]).toBe(500_001n);
  expect((await world.service.operator.attention()).map(({ kind }) => kind)).toContain("fee_left_out");
  expect((await world.held(world.treasury.address))[1]).toBe(0n);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  // Less what the longer marker has cost.
  const returned = (await world.held(world.alice.address))[1] - 1n;
  expect(returned).toBeGreaterThan(0n);
  expect(returned).toBeLessThanOrEqual(fee);
  await world.judge();
});

test("C47: where every payee fails and the refund is below its cost the order fails without a marker, nothing is kept, and later money goes back with it", async ({
  open,
}) => {
  const world = await open();
  const sender = world.wallet("newcomer", { lamports: SOL });
  const [payee] = payeesWith(world, 1, 1n);
  if (payee === undefined) throw new Error("there is one");
  const to = [{ address: payee.address, amount: "0.01" }];
  const order = orderedAs((await world.order(world.customer, { sender, to })).body);
  await world.freeze(payee, "USDC");
  await world.deposit(order.address, { usdc: order.due });
  for (let look = 0; look < 4; look++) await world.passAndSettle(2 * MINUTE, 6);
  expect(await world.shown(order)).toMatchObject({
    status: "failed",
    reason: "PAYOUT_FAILED",
    fee: "0",
    recipients: [{ status: "unpaid" }],
    refunds: [],
    unreturned: [{ asset: "USDC", reason: "dust" }],
  });
  const chunks = async () => (await world.storage.orderedTransaction(order.id))?.order?.chunks;
  expect(await chunks()).toMatchObject([{ wanted: 1, length: null }]);
  expect(await world.service.operator.attention()).toEqual([]);
  expect(await world.storage.reservations(`sponsor ${world.sponsor.address}`)).toEqual([]);
  await world.deposit(order.address, { usdc: 9_000_000n });
  for (let look = 0; look < 2; look++) await world.passAndSettle(11 * MINUTE, 8);
  expect(await world.shown(order)).toMatchObject({ status: "failed", refunds: [{ status: "paid" }] });
  expect(await chunks()).toMatchObject([{ length: 1 }]);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("P16: accounts closed after the quote cost the sponsor no rent: each such payee fails alone", async ({
  open,
}) => {
  const world = await open();
  const payees = payeesWith(world, 14, 0n);
  const order = await payroll(world, payees);
  for (const payee of payees.slice(0, 7)) await world.closeAccount(payee, "USDC");
  const [before] = await world.held(world.sponsor.address);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(30);
  const ended = await world.shown(order);
  expect(ended).toMatchObject({ status: "failed", reason: "PARTIAL_PAYOUT" });
  expect(ended.recipients.map(({ status }) => status)).toEqual([...times(7, "unpaid"), ...times(7, "paid")]);
  await world.passAndSettle(11 * MINUTE, 8);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  const [after] = await world.held(world.sponsor.address);
  // Network fees alone; the treasury's own account is made once.
  const rent = await world.ledger.rentMinimum(165);
  expect(before - after).toBeLessThan(rent + rent / 4n);
  await world.judge();
});

test("P16, K3: no more accounts are made than the quote has counted, the first that are missing when the order is taken", async ({
  open,
}) => {
  const world = await open();
  const [closing, known] = payeesWith(world, 2, 0n);
  const newcomer = world.wallet("newcomer", { lamports: 1_000_000n });
  if (closing === undefined || known === undefined) throw new Error("both are made above");
  const recipients = [closing, newcomer, known].map(({ address }) => ({ address, amount: "0.5" }));
  const words = { inputAsset: "USDC", outputAsset: "USDC", amount: "1.5", mode: "private" } as const;
  const { body: quote } = await world.service.createQuote(world.customer, { ...words, recipients });
  await world.closeAccount(closing, "USDC");
  const { body } = await world.service.createTransaction(world.customer, {
    type: "payroll",
    mode: "private",
    quoteId: quote.quoteId,
    sender: world.alice.address,
    recipients,
  });
  const order = orderedAs(body as CreatedOrderBody);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(16);
  const ended = await world.shown(order);
  expect(ended.recipients.map(({ status }) => status)).toEqual(["paid", "unpaid", "paid"]);
  await world.judge();
});

test("P16: five hundred fresh accounts under a quote priced for one are not taken", async ({ open }) => {
  const world = await open({}, { maxRecipients: 500 });
  const recipients = Array.from({ length: 500 }, () => ({
    address: Keypair.generate().publicKey.toBase58(),
    amount: "0.01",
  }));
  const { body: quote } = await world.service.createQuote(world.customer, {
    inputAsset: "USDC",
    outputAsset: "USDC",
    amount: "5",
    mode: "private",
  });
  const refused = world.service.createTransaction(world.customer, {
    type: "payroll",
    mode: "private",
    quoteId: quote.quoteId,
    sender: world.alice.address,
    recipients,
  });
  await expect(refused).rejects.toMatchObject({
    code: "INVALID_QUOTE",
    details: { reason: "recipients_mismatch" },
  });
});

const RECIPIENTS = byDepth({ quick: 60, ci: 500, long: 500 });

test(
  `P17, C17: of a payroll of ${RECIPIENTS} two of each twenty-five have frozen accounts: all others are paid once, and the rest goes back`,
  { timeout: 180_000 },
  async ({ open }) => {
    const world = await open({}, { maxRecipients: 500, depositWindowMs: DAY });
    world.chain.fund(world.sponsor.address, { lamports: 100n * SOL });
    const isFrozen = (index: number): boolean => index % 25 === 7 || index % 25 === 8;
    const payees = Array.from({ length: RECIPIENTS }, (_, index) =>
      world.wallet(`payee ${index}`, index % 2 === 0 && !isFrozen(index) ? {} : { usdc: 1n }),
    );
    const order = await payroll(world, payees);
    for (const payee of payees.filter((_, index) => isFrozen(index))) await world.freeze(payee, "USDC");
    await world.deposit(order.address, { usdc: order.due });
    for (let look = 0; look < 3; look++) await world.passAndSettle(MINUTE, 8);
    const ended = await world.shown(order);
    expect(ended).toMatchObject({ status: "failed", reason: "PARTIAL_PAYOUT" });
    expect(ended.recipients.map(({ status }) => status === "unpaid")).toEqual(
      payees.map((_, index) => isFrozen(index)),
    );
    const { funds } = await world.ledger.funds(
      payees.map(({ address }) => address),
      [world.mints.USDC],
      "finalized",
    );
    expect(funds.map(({ tokens }) => tokens[0])).toEqual(
      payees.map((_, index) => (isFrozen(index) ? 1n : index % 2 === 0 ? 500_000n : 500_001n)),
    );
    const left = 500_000n * BigInt(payees.filter((_, index) => isFrozen(index)).length);
    const [refund] = ended.refunds;
    expect(units(refund?.amount ?? "0", 6) + units(refund?.cost ?? "0", 6)).toBe(left);
    expect((await world.held(world.alice.address))[1]).toBe(1n + units(refund?.amount ?? "0", 6));
    expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
    await world.judge();
  },
);

/** An asset, the share of each recipient, and how many members a chunk has: the fee is one. */
const LARGEST = [
  ["USDC", "0.001", 7],
  ["SOL", "0.002", 13],
] as const;

test.for(sampled(LARGEST, "the largest payroll"))(
  `P19: a payroll of ${RECIPIENTS} in %s: no transaction over 1,232 bytes, each recipient in one chunk, each paid once`,
  { timeout: 180_000 },
  async ([asset, amount, members], { open }) => {
    const chunks = Math.ceil((RECIPIENTS + 1) / members);
    const world = await open({}, { maxRecipients: 500, depositWindowMs: DAY });
    // A free account may reserve two percent of it.
    world.chain.fund(world.sponsor.address, { lamports: 100n * SOL });
    world.chain.advance(35);
    const recipients = Array.from({ length: RECIPIENTS }, () => Keypair.generate().publicKey.toBase58());
    const { body } = await world.order(world.customer, {
      sender: world.alice,
      to: recipients.map((address) => ({ address, amount })),
      asset,
    });
    const order = orderedAs(body);
    const sizes: number[] = [];
    world.chain.faults.add(({ method, params }) => {
      if (method === "sendTransaction") sizes.push(Buffer.from(String(params[0]), "base64").length);
      return undefined;
    });
    await world.deposit(order.address, asset === "SOL" ? { lamports: order.due } : { usdc: order.due });
    await world.settle(40);
    const done = await world.shown(order);
    expect(done).toMatchObject({ status: "completed" });
    expect(new Set(done.recipients.map(({ signature }) => signature)).size).toBe(chunks);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_232);
    const share = units(amount, asset === "SOL" ? 9 : 6);
    const { funds } = await world.ledger.funds(recipients as never[], [world.mints.USDC], "finalized");
    expect(funds.every(({ lamports, tokens }) => (asset === "SOL" ? lamports : tokens[0]) === share)).toBe(
      true,
    );
    await world.settle(8);
    const view = await world.storage.orderedTransaction(order.id);
    expect(view?.order?.chunks.map(({ length }) => length)).toEqual(times(chunks, 0));
    expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
    await world.judge();
  },
);
