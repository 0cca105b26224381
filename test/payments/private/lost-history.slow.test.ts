/** M1: what landed while the service was down is known by its marker alone: no history is needed, and none can hide it. */
import { PublicKey, SystemProgram } from "@solana/web3.js";
import { expect, onTestFinished, test } from "vitest";
import type { PaymentRecord } from "../../../src/payments/tables/payments.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import type { ChainFixture, Wallet } from "../../kit/chain-fixture.ts";
import { type PrivateFixture, units } from "../../kit/private-fixture.ts";
import { INVENTORY, swapFixture } from "../../kit/swap-fixture.ts";
import { land } from "../../solana/signed-transaction.ts";
import { lyingNode, withoutHistoryBefore, type LyingNode } from "./lying-nodes.ts";
import { MINUTE, orderedAs, scene, SOL, type Scene } from "./scene.ts";
import { successor, type Successor } from "./successor.ts";

let world: PrivateFixture;
let node: LyingNode;

/** The service's only node. */
const ledgerOn = (chain: ChainFixture) => {
  node = lyingNode(chain.chain, "node");
  return chain.ledgerOf([node.endpoint]);
};

async function open(): Promise<Scene> {
  const opened = await scene({}, {}, ledgerOn);
  onTestFinished(() => opened.close());
  world = opened;
  return opened;
}

/** What pays recipients, or names those that do, by their ids. */
async function paymentsOf(id: string): Promise<readonly PaymentRecord[]> {
  const { payments = [] } = (await world.storage.transaction(id)) ?? {};
  return payments
    .filter(({ kind }) => kind === "payout" || kind === "plan" || kind === "swap")
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

const outlineOf = (payments: readonly PaymentRecord[]): readonly string[] =>
  payments.map(({ kind, mark, status }) => `${kind} ${kind === "plan" ? "" : mark} ${status}`);

async function ask<T>(method: string, params: readonly unknown[]): Promise<T> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const { result } = (await (await world.chain.fetch("http://local", { body })).json()) as { result: T };
  return result;
}

/** Every account that these transactions name, but for programs. */
async function accountsNamedBy(signatures: readonly string[]): Promise<readonly string[]> {
  const named = new Set<string>();
  for (const signature of signatures) {
    const found = await ask<{ transaction: { message: { accountKeys: string[] } } } | null>(
      "getTransaction",
      [signature, { maxSupportedTransactionVersion: 0, commitment: "finalized" }],
    );
    for (const key of found?.transaction.message.accountKeys ?? []) named.add(key);
  }
  const all = [...named];
  const { value } = await ask<{ value: readonly ({ executable: boolean } | null)[] }>("getMultipleAccounts", [
    all,
    { encoding: "base64" },
  ]);
  return all.filter((_, index) => value[index]?.executable !== true);
}

/** A stranger sends lamports to each of them: one, or as many as an account needs to exist. */
async function sendToEach(accounts: readonly string[]): Promise<void> {
  const stranger: Wallet = world.wallet("stranger", { lamports: 10n * SOL });
  const rent = await world.ledger.rentMinimum(0);
  const { value } = await ask<{ value: readonly unknown[] }>("getMultipleAccounts", [
    accounts,
    { encoding: "base64" },
  ]);
  const transfers = accounts.map((account, index) =>
    SystemProgram.transfer({
      fromPubkey: new PublicKey(stranger.address),
      toPubkey: new PublicKey(account),
      lamports: value[index] === null ? rent : 1n,
    }),
  );
  for (let start = 0; start < transfers.length; start += 12) {
    await land(world, { signers: [stranger], instructions: transfers.slice(start, start + 12) });
  }
}

/**
 * The service is down while what it sent becomes final; when it is back its node has forgotten that far, and a stranger
 * has left lamports wherever a payment did something.
 */
async function missed(id: string): Promise<Successor> {
  await world.service.stop();
  const signatures = (await paymentsOf(id)).flatMap(({ signature }) =>
    signature === null ? [] : [signature],
  );
  world.chain.advance(200);
  const accounts = await accountsNamedBy(signatures);
  node.tell(withoutHistoryBefore(world.chain.slot()));
  world.chain.advance(2);
  await sendToEach(accounts);
  world.chain.advance(40);
  // A process that has never seen anything of it.
  const next = await successor(world, { ledger: world.ledgerOf([node.endpoint]) });
  onTestFinished(() => next.service.stop());
  return next;
}

const shownBy = async (service: PaymentService, caller: Scene["customer"], id: string) =>
  service.transaction(caller, id);

/** Lets the address be swept, which must end at nothing. */
async function swept(next: Successor, address: string): Promise<void> {
  for (const minutes of [11, 16, 61, 61]) await next.pass(minutes * MINUTE);
  expect(await world.held(address)).toEqual([0n, 0n, 0n]);
}

test("M1: a send that landed while the service was down, and of which its node has no history, is completed and nobody is paid again", async () => {
  const own = await open();
  const order = await own.sendTo();
  await own.deposit(order.address, { usdc: order.due });
  await own.service.settled();
  const before = await paymentsOf(order.id);
  expect(outlineOf(before)).toEqual(["payout order broadcast"]);
  const next = await missed(order.id);
  await next.settle(6);

  const shown = await shownBy(next.service, own.customer, order.id);
  expect(shown).toMatchObject({ status: "completed", reason: null, recipients: [{ status: "paid" }] });
  expect(shown.signatures).toEqual([before[0]?.signature]);
  expect((await own.held(own.bob.address))[1]).toBe(5_000_000n);
  const after = await paymentsOf(order.id);
  expect(outlineOf(after)).toEqual(["payout order finalized"]);
  expect(after[0]?.signature).toBe(before[0]?.signature);
  await swept(next, order.address);
  expect((await own.held(own.bob.address))[1]).toBe(5_000_000n);
  await next.service.stop();
  await own.judge();
});

test.each([
  ["all of its payouts have landed", 3],
  ["one of its payouts has landed, and the bytes of the others never did", 1],
])(
  "M1: a payroll of several payouts, when %s: everybody is paid once, and nobody is shown unpaid",
  async (_, landing) => {
    const own = await open();
    const payees = Array.from({ length: 12 }, (_each, index) =>
      own.wallet(`payee ${index}`, { lamports: SOL, usdc: 1n }),
    );
    const { body } = await own.order(own.customer, {
      sender: own.alice,
      to: payees.map(({ address }) => ({ address, amount: "2" })),
    });
    const order = orderedAs(body);
    // The plan comes first, and then so many payouts.
    const sent = new Set<unknown>();
    const lift = own.chain.faults.add(({ method, params }) => {
      if (method !== "sendTransaction") return undefined;
      sent.add(params[0]);
      return [...sent].indexOf(params[0]) > landing ? { kind: "drop" } : undefined;
    });
    await own.deposit(order.address, { usdc: order.due });
    for (let slot = 0; slot < 3; slot++) {
      await own.service.settled();
      own.chain.advance(1);
    }
    await own.service.settled();
    lift();
    const before = await paymentsOf(order.id);
    expect(before.map(({ kind }) => kind).toSorted()).toEqual(["payout", "payout", "payout", "plan"]);
    expect(before.every(({ status, signature }) => status !== "finalized" && signature !== null)).toBe(true);
    const held = async (): Promise<readonly bigint[]> =>
      Promise.all(payees.map(async ({ address }) => (await own.held(address))[1]));
    const next = await missed(order.id);
    expect((await held()).filter((each) => each === 2_000_001n).length).toBe(landing === 3 ? 12 : 5);
    await next.settle(10);

    const shown = await shownBy(next.service, own.customer, order.id);
    expect(shown).toMatchObject({ status: "completed", reason: null });
    expect(shown.recipients.map(({ status }) => status)).toEqual(payees.map(() => "paid"));
    expect(await held()).toEqual(payees.map(() => 2_000_001n));
    const after = await paymentsOf(order.id);
    expect(after.map(({ id, status }) => [id, status])).toEqual(before.map(({ id }) => [id, "finalized"]));
    const again = after.filter(({ signature }, index) => signature !== before[index]?.signature);
    expect(again.length).toBe(3 - landing);
    await swept(next, order.address);
    expect(await held()).toEqual(payees.map(() => 2_000_001n));
    await next.service.stop();
    await own.judge();
  },
);

test("M1: a private swap that was made while the service was down is not made again, and shows what was paid", async () => {
  const own = await swapFixture({ ledgerOn });
  onTestFinished(() => own.close());
  world = own;
  const caller = await own.caller();
  const alice = own.wallet("alice", { lamports: SOL, usdc: 1n });
  own.chain.advance(35);
  const { quote, body } = await own.orderSwap(caller, {
    sender: alice,
    give: "SOL",
    get: "USDC",
    amount: "1",
  });
  await own.deposit(body.ephemeralAddress, { lamports: units(body.depositAmount, 9) });
  await own.service.settled();
  const before = await paymentsOf(body.transactionId);
  expect(outlineOf(before)).toEqual(["swap swap 1 broadcast"]);
  const next = await missed(body.transactionId);
  await next.settle(6);

  const shown = await shownBy(next.service, caller, body.transactionId);
  expect(shown).toMatchObject({ status: "completed", reason: null, recipients: [{ status: "paid" }] });
  expect(shown.recipients[0]?.amount).toBe(quote.outputAmount);
  const got = units(quote.outputAmount, 6);
  expect((await own.held(alice.address))[1]).toBe(1n + got);
  expect((await own.held(own.desk))[1]).toBe((INVENTORY.usdc ?? 0n) - got);
  expect(outlineOf(await paymentsOf(body.transactionId))).toEqual(["swap swap 1 finalized"]);
  expect(own.deskSigned()).toBe(1);
  expect(await own.promised("USDC")).toBe(0n);
  await swept(next, body.ephemeralAddress);
  expect((await own.held(alice.address))[1]).toBe(1n + got);
});
