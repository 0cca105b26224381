/** The names of deposits: what is listed under an order's key is a hint, and evidence tells what has paid in. */
import { createTransferCheckedInstruction } from "@solana/spl-token";
import { PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js";
import { expect } from "vitest";
import type { Address } from "../../../src/address.ts";
import { isOnCurve } from "../../../src/solana/associated-token-account.ts";
import { depositKeys } from "../../../src/payments/secrets/deposit-keys.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import { land } from "../../solana/signed-transaction.ts";
import { textOf } from "../../readme/page.ts";
import { SOL, type Ordered, type Scene } from "./scene.ts";
import { sceneTest } from "./scene-test.ts";

/** A world that counts what is asked for names. */
interface NamedScene extends Omit<Scene, "pay"> {
  readonly asked: string[];
  keyOf(order: Ordered): Promise<PublicKey>;
  /** Has Alice sign these, the first of them naming the key, and lets it become final. */
  pay(instructions: readonly TransactionInstruction[], key: PublicKey | null): Promise<string>;
  signatures(order: Ordered): Promise<readonly (string | null)[]>;
}

const test = sceneTest.extend("named", async ({ open }): Promise<NamedScene> => {
  const asked: string[] = [];
  const world = await open({}, {}, ({ ledger }): Ledger => ({
    ...ledger,
    listedUnder: async (key) => {
      asked.push(key);
      return await ledger.listedUnder(key);
    },
    changesOf: async (signature, holders) => {
      asked.push(signature);
      return await ledger.changesOf(signature, holders);
    },
  }));
  world.chain.fund(world.alice.address, { lamports: 50n * SOL, usdc: 100_000_000n });
  world.chain.advance(35);
  return {
    ...world,
    asked,
    async keyOf({ address }) {
      const [deposit] = await world.storage.deposits([address]);
      return new PublicKey(deposit?.referenceKey ?? "");
    },
    async pay([first, ...others], key) {
      if (first === undefined) throw new Error("nothing to pay");
      const keys = key === null ? [] : [{ pubkey: key, isSigner: false, isWritable: false }];
      first.keys.push(...keys);
      return await land(world, { signers: [world.alice], instructions: [first, ...others] });
    },
    async signatures(order) {
      await world.passAndSettle(5_000, 3);
      const { received = [] } = await world.shown(order);
      return received.map(({ signature }) => signature);
    },
  };
});

const sol = (world: NamedScene, to: string, lamports: bigint): TransactionInstruction =>
  SystemProgram.transfer({
    fromPubkey: new PublicKey(world.alice.address),
    toPubkey: new PublicKey(to),
    lamports,
  });

test("N11: a reference is derived for each order alone, and signs nothing", async ({ named: world }) => {
  const orders = [await world.sendTo(), await world.sendTo()];
  const keys = await Promise.all(orders.map(async (order) => (await world.keyOf(order)).toBase58()));
  expect(new Set(keys).size).toBe(2);
  for (const [index, { id, address }] of orders.entries()) {
    const derived = depositKeys([TEST_MASTER_SECRET], () => world.chain.genesisHash);
    const key = { masterVersion: 1, transactionId: id };
    expect(derived.referenceKey(key)).toBe(keys[index]);
    expect(derived.address(key)).toBe(address);
    expect(keys[index]).not.toBe(address);
    const { paymentUri } = await world.shown({ id, address, due: 0n });
    expect(paymentUri).toContain(`&reference=${keys[index]}&`);
  }
  expect(typeof isOnCurve(keys[0] as Address)).toBe("boolean");
});

test("N11: a deposit is named by the transaction that named its key, and one without the key is not", async ({
  named: world,
}) => {
  const order = await world.sendTo({ asset: "SOL", amount: "1" });
  const key = await world.keyOf(order);
  const part = 100_000_000n;
  await world.pay([sol(world, order.address, part)], null);
  expect(await world.signatures(order)).toEqual([null]);
  const signature = await world.pay([sol(world, order.address, order.due - 2n * part)], key);
  expect(await world.signatures(order)).toEqual([null, signature]);
  // As much as came before without the key: which of the two is meant, nobody can tell.
  await world.pay([sol(world, order.address, part)], key);
  expect(await world.signatures(order)).toEqual([null, signature, null]);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await world.judge();
});

test("N11: what names the key and pays in nothing, or another amount, is no name", async ({
  named: world,
}) => {
  const order = await world.sendTo({ asset: "SOL", amount: "1" });
  const key = await world.keyOf(order);
  await world.pay([sol(world, world.bob.address, order.due)], key);
  await world.pay([sol(world, world.bob.address, 1n)], key);
  expect(await world.signatures(order)).toEqual([]);
  expect(await world.shown(order)).toMatchObject({ status: "pending" });
  // The money itself comes without the key.
  await world.pay([sol(world, order.address, order.due)], null);
  expect(await world.signatures(order)).toEqual([null]);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await world.judge();
});

test("N11: two deposits of one amount have a name each", async ({ named: world }) => {
  const order = await world.sendTo({ asset: "SOL", amount: "1" });
  const key = await world.keyOf(order);
  const [one, rest] = [100_000_000n, order.due - 200_000_000n];
  const first = await world.pay([sol(world, order.address, one)], key);
  expect(await world.signatures(order)).toEqual([first]);
  const second = await world.pay([sol(world, order.address, one)], key);
  expect(await world.signatures(order)).toEqual([first, second]);
  const third = await world.pay([sol(world, order.address, rest)], key);
  expect(await world.signatures(order)).toEqual([first, second, third]);
  await world.judge();
});

test("N11: orders that wait cost no question for their names, and one whose money came costs two", async ({
  named: world,
}) => {
  const waiting = await world.sendTo();
  const order = await world.sendTo();
  await world.passAndSettle(60_000, 4);
  expect(world.asked).toEqual([]);
  await world.deposit(order.address, { usdc: order.due });
  await world.passAndSettle(60_000, 4);
  const key = (await world.keyOf(order)).toBase58();
  expect(world.asked).toEqual([key, key]);
  expect(await world.shown(waiting)).toMatchObject({ status: "pending" });
});

test("N11: a transaction that is listed under the key, and that too few endpoints tell, is no name and holds nothing up", async ({
  open,
}) => {
  const world = await open({}, {}, ({ ledger }): Ledger => ({
    ...ledger,
    changesOf: async () => await Promise.resolve(null),
  }));
  world.chain.fund(world.alice.address, { lamports: SOL, usdc: 100_000_000n });
  world.chain.advance(35);
  const order = await world.sendTo();
  const [deposit] = await world.storage.deposits([order.address]);
  const mint = new PublicKey(world.mints.USDC);
  const to = world.tokenAccountOf({ ...world.alice, address: order.address as Address }, "USDC");
  await world.openAccount({ ...world.alice, address: order.address as Address }, "USDC");
  const transfer = createTransferCheckedInstruction(
    new PublicKey(world.tokenAccountOf(world.alice, "USDC")),
    mint,
    new PublicKey(to),
    new PublicKey(world.alice.address),
    order.due,
    6,
  );
  transfer.keys.push({
    pubkey: new PublicKey(deposit?.referenceKey ?? ""),
    isSigner: false,
    isWritable: false,
  });
  await land(world, { signers: [world.alice], instructions: [transfer] });
  await world.passAndSettle(60_000, 6);
  expect(await world.shown(order)).toMatchObject({ status: "completed", received: [{ signature: null }] });
  await world.judge();
});

test("N11: what names the key in vain is read a few times, however often money comes without it", async ({
  named: world,
}) => {
  const order = await world.sendTo({ asset: "SOL", amount: "1" });
  const key = await world.keyOf(order);
  for (let each = 1n; each <= 10n; each += 1n) await world.pay([sol(world, world.bob.address, each)], key);
  for (let each = 1n; each <= 6n; each += 1n) {
    await world.pay([sol(world, order.address, 1_000_000n + each)], null);
    await world.signatures(order);
  }
  const read = world.asked.filter((asked) => asked !== key.toBase58());
  expect(read.length).toBeLessThanOrEqual(20);
});

test("Q24: a request to pay names the order's key, and the page does not say otherwise", async ({
  named,
}) => {
  const order = await named.sendTo();
  const { paymentUri } = await named.shown(order);
  expect(paymentUri).toContain(`reference=${(await named.keyOf(order)).toBase58()}`);
  expect(textOf("src/payments/private/README.md")).not.toMatch(/no `reference` key/);
});
