/** What a payer is told before anything is sent, with figures from the chain. */
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createFreezeAccountInstruction,
  createThawAccountInstruction,
  createTransferCheckedInstruction,
} from "@solana/spl-token";
import { PublicKey, SystemProgram, TransactionInstruction } from "@solana/web3.js";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { DeclaredPayment, SimulationFault } from "../../src/ledger/ledger.ts";
import type { Fetch } from "../../src/solana/index.ts";
import { associatedTokenAddress, type Funds } from "../../src/local/index.ts";
import { chainFixture, signPayment, type ChainFixture, type Wallet } from "../kit/chain-fixture.ts";
import { keyOf, land, signed } from "./signed-transaction.ts";

let fixture: ChainFixture;
let bob: Wallet;
let rentOfEmpty: bigint;
let rentOfToken: bigint;
let names = 0;

beforeAll(async () => {
  fixture = await chainFixture();
  bob = fixture.wallet("bob", { lamports: 1_000_000_000n, usdc: 1n });
  rentOfToken = (await fixture.ledger.paymentCost(fixture.mints.USDC, null)).rent;
  rentOfEmpty = (rentOfToken * 128n) / (128n + 165n);
});
beforeEach(() => fixture.chain.advance(1));
afterAll(() => fixture.close());

const somebody = (funds: Funds): Wallet => fixture.wallet(`somebody ${(names += 1)}`, funds);
const nobody = (): Wallet => somebody({});
const ata = (owner: Wallet): PublicKey =>
  new PublicKey(associatedTokenAddress(owner.address, fixture.mints.USDC));
const usdc = (sender: Wallet, recipient: Wallet, amount: bigint): DeclaredPayment => ({
  sender: sender.address,
  mint: fixture.mints.USDC,
  decimals: 6,
  transfers: [{ recipient: recipient.address, amount }],
});
const sol = (sender: Wallet, recipient: Wallet, amount: bigint): DeclaredPayment => ({
  ...usdc(sender, recipient, amount),
  mint: null,
  decimals: 9,
});

async function simulate(
  payment: DeclaredPayment,
  sender: Wallet,
  transaction?: string,
): Promise<SimulationFault | null> {
  const text =
    transaction ??
    signPayment((await fixture.ledger.buildPayment(payment, new Uint8Array(32))).bytes, sender.secretKey);
  const answer = await fixture.ledger.verifyPayment(text, payment);
  if ("refused" in answer) throw new Error(answer.refused);
  return await fixture.ledger.simulatePayment(answer.verified, payment);
}

test("a SOL payment lacks the amount together with the fee", async () => {
  for (const lamports of [1_000_000_000n, 1_000_004_999n]) {
    const sender = somebody({ lamports });
    expect(await simulate(sol(sender, bob, 1_000_000_000n), sender)).toEqual({
      kind: "insufficient_balance",
      component: "amount",
      mint: null,
      required: 1_000_005_000n,
      available: lamports,
    });
  }
  const exact = somebody({ lamports: 1_000_005_000n });
  expect(await simulate(sol(exact, bob, 1_000_000_000n), exact)).toBeNull();
});

test("an address that was never used can pay nothing", async () => {
  const sender = nobody();
  const shortage = { kind: "insufficient_balance", component: "amount", mint: null, available: 0n };
  expect(await simulate(sol(sender, bob, 1_000_000n), sender)).toEqual({ ...shortage, required: 1_005_000n });
});

test("a SOL payment that leaves its sender less than an account's rent lacks rent", async () => {
  const sender = somebody({ lamports: 1_000_000_000n });
  expect(await simulate(sol(sender, bob, 999_990_000n), sender)).toEqual({
    kind: "insufficient_balance",
    component: "rent",
    mint: null,
    required: 999_995_000n + rentOfEmpty,
    available: 1_000_000_000n,
  });
});

test("tokens: too few of them, or none at all", async () => {
  const poor = somebody({ lamports: 1_000_000_000n, usdc: 999_999n });
  const shortage = { kind: "insufficient_balance", component: "amount", mint: fixture.mints.USDC } as const;
  expect(await simulate(usdc(poor, bob, 1_000_000n), poor)).toEqual({
    ...shortage,
    required: 1_000_000n,
    available: 999_999n,
  });
  const without = somebody({ lamports: 1_000_000_000n });
  expect(await simulate(usdc(without, bob, 7n), without)).toEqual({
    ...shortage,
    required: 7n,
    available: 0n,
  });
});

test("W16: tokens but no SOL for the fee is INSUFFICIENT_BALANCE with component fee", async () => {
  const sender = somebody({ usdc: 1_000_000n });
  expect(await simulate(usdc(sender, bob, 1_000_000n), sender)).toEqual({
    kind: "insufficient_balance",
    component: "fee",
    mint: null,
    required: 5_000n,
    available: 0n,
  });
});

test("W16: tokens and SOL for the fee but not for the recipient's token account is component rent", async () => {
  const sender = somebody({ lamports: rentOfEmpty + 5_000n, usdc: 1_000_000n });
  expect(await simulate(usdc(sender, nobody(), 1_000_000n), sender)).toEqual({
    kind: "insufficient_balance",
    component: "rent",
    mint: null,
    required: 5_000n + rentOfToken,
    available: rentOfEmpty + 5_000n,
  });
});

test("W16: rent for two new token accounts is counted twice, and as the chain prices it today", async () => {
  const sender = somebody({ lamports: rentOfToken + 1_000_000n, usdc: 1_000_000n });
  const transfers = [nobody(), nobody()].map(({ address }) => ({ recipient: address, amount: 1n }));
  const payment = { ...usdc(sender, bob, 1n), transfers };
  expect(await fixture.ledger.buildPayment(payment, new Uint8Array(32))).toMatchObject({
    networkFee: 5_000n,
    rent: 2n * rentOfToken,
  });
  expect(await simulate(payment, sender)).toMatchObject({
    component: "rent",
    required: 5_000n + 2n * rentOfToken,
  });
});

test("W15: a recipient without token account and no instruction to create one is no_token_account", async () => {
  const sender = somebody({ lamports: 1_000_000_000n, usdc: 1_000_000n });
  const recipient = nobody();
  const transfer = createTransferCheckedInstruction(
    ata(sender),
    new PublicKey(fixture.mints.USDC),
    ata(recipient),
    keyOf(sender),
    1_000_000n,
    6,
  );
  const transaction = await signed(fixture, { signers: [sender], instructions: [transfer] });
  const fault = await simulate(usdc(sender, recipient, 1_000_000n), sender, transaction);
  expect(fault).toMatchObject({ kind: "would_fail", reason: "no_token_account" });
});

test("W17: SOL below the rent minimum to an empty address is recipient_below_rent with the minimum", async () => {
  const sender = somebody({ lamports: 1_000_000_000n });
  const recipient = nobody();
  const fault = { kind: "recipient_below_rent", minimum: rentOfEmpty, transfer: 0 };
  expect(await simulate(sol(sender, recipient, rentOfEmpty - 1n), sender)).toEqual(fault);
  expect(await simulate(sol(sender, recipient, rentOfEmpty), sender)).toBeNull();
});

test("a frozen token account, at either end, is frozen", async () => {
  const sender = somebody({ lamports: 1_000_000_000n, usdc: 1_000_000n });
  const recipient = somebody({ lamports: 1_000_000_000n, usdc: 1n });
  const authority = fixture.chain.faucet;
  const mint = new PublicKey(fixture.mints.USDC);
  for (const owner of [sender, recipient]) {
    const key = new PublicKey(authority.address);
    const freeze = createFreezeAccountInstruction(ata(owner), mint, key);
    await land(fixture, { signers: [authority], instructions: [freeze] });
    const fault = await simulate(usdc(sender, recipient, 1n), sender);
    expect(fault).toMatchObject({ kind: "would_fail", reason: "frozen" });
    await land(fixture, {
      signers: [authority],
      instructions: [createThawAccountInstruction(ata(owner), mint, key)],
    });
    expect(await simulate(usdc(sender, recipient, 1n), sender)).toBeNull();
  }
});

test("any other failure is program_error with the end of the log", async () => {
  const sender = somebody({ lamports: 1_000_000_000n });
  const pay = SystemProgram.transfer({ fromPubkey: keyOf(sender), toPubkey: keyOf(bob), lamports: 5 });
  const memos = Array.from(
    { length: 12 },
    (_, index) =>
      new TransactionInstruction({
        programId: new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"),
        keys: [],
        // The last one is no UTF-8, which the memo program refuses.
        data: index < 11 ? Buffer.from("x") : Buffer.from([0xff]),
      }),
  );
  const transaction = await signed(fixture, { signers: [sender], instructions: [pay, ...memos] });
  const fault = await simulate(sol(sender, bob, 5n), sender, transaction);
  expect(fault).toMatchObject({ kind: "would_fail", reason: "program_error" });
  const logs = fault?.kind === "would_fail" ? fault.logs : [];
  expect(logs.length).toBeLessThanOrEqual(20);
  expect(logs.at(-1)).toContain("failed");
});

test("P17: a hijacked token account of the recipient fails instead of paying the thief", async () => {
  const sender = somebody({ lamports: 1_000_000_000n, usdc: 1_000_000n });
  const recipient = somebody({ lamports: 1_000_000_000n });
  const thief = somebody({ lamports: 1_000_000_000n });
  const mint = new PublicKey(fixture.mints.USDC);
  const { AuthorityType, createSetAuthorityInstruction } = await import("@solana/spl-token");
  await land(fixture, {
    signers: [recipient],
    instructions: [
      createAssociatedTokenAccountIdempotentInstruction(
        keyOf(recipient),
        ata(recipient),
        keyOf(recipient),
        mint,
      ),
      createSetAuthorityInstruction(
        ata(recipient),
        keyOf(recipient),
        AuthorityType.AccountOwner,
        keyOf(thief),
      ),
    ],
  });
  const fault = await simulate(usdc(sender, recipient, 1_000_000n), sender);
  expect(fault).toMatchObject({ kind: "would_fail", reason: "program_error" });
});

test("W21: bytes that are already on the chain are already_processed, expired ones blockhash_expired", async () => {
  const sender = somebody({ lamports: 1_000_000_000n });
  const payment = sol(sender, bob, 1_000_000n);
  const transaction = signPayment(
    (await fixture.ledger.buildPayment(payment, new Uint8Array(32))).bytes,
    sender.secretKey,
  );
  const answer = await fixture.ledger.verifyPayment(transaction, payment);
  if ("refused" in answer) throw new Error(answer.refused);
  await fixture.ledger.broadcast(answer.verified.bytes);
  fixture.chain.advance(2);
  expect(await fixture.ledger.simulatePayment(answer.verified, payment)).toEqual({
    kind: "already_processed",
  });

  const late = sol(sender, bob, 2_000_000n);
  const built = await fixture.ledger.buildPayment(late, new Uint8Array(32));
  const lateAnswer = await fixture.ledger.verifyPayment(signPayment(built.bytes, sender.secretKey), late);
  if ("refused" in lateAnswer) throw new Error(lateAnswer.refused);
  fixture.chain.advance(200);
  expect(await fixture.ledger.simulatePayment(lateAnswer.verified, late)).toEqual({
    kind: "blockhash_expired",
  });
});

test("E15: rent that changed since the quote is charged as it was ten seconds ago at most", async () => {
  const before = await fixture.ledger.paymentCost(fixture.mints.USDC, null);
  fixture.chain.setRent(10_000n);
  fixture.clock.advance(10_000);
  const after = await fixture.ledger.paymentCost(fixture.mints.USDC, [bob.address, nobody().address]);
  expect(after.rent).not.toBe(before.rent);
  expect(after.rent).toBeGreaterThan(0n);
});

test("a recipient who is its owner's token account address funded by somebody is still counted as missing", async () => {
  const recipient = nobody();
  fixture.chain.fund(ata(recipient).toBase58(), { lamports: 5_000_000n });
  fixture.chain.advance(2);
  const { rent } = await fixture.ledger.paymentCost(fixture.mints.USDC, [recipient.address]);
  expect(rent).toBeGreaterThan(0n);
});

test("a node that does not know the blockhash yet is not believed while another one knows it", async () => {
  const sender = somebody({ lamports: 1_000_000_000n });
  const payment = sol(sender, bob, 1_000_000n);
  const { bytes } = await fixture.ledger.buildPayment(payment, new Uint8Array(32));
  const answer = await fixture.ledger.verifyPayment(signPayment(bytes, sender.secretKey), payment);
  if ("refused" in answer) throw new Error(answer.refused);
  const behind: Fetch = async (url, init) => {
    const honest = await fixture.chain.fetch(url, init);
    if (!JSON.stringify(init?.body).includes("simulateTransaction")) return honest;
    const body = (await honest.json()) as { result: { value: object } };
    const value = { ...body.result.value, err: "BlockhashNotFound" };
    return Response.json({ ...body, result: { ...body.result, value } });
  };
  const endpoints = [
    { url: "http://behind", fetch: behind },
    { url: "http://local", fetch: fixture.chain.fetch },
  ];
  expect(await fixture.ledgerOf(endpoints).simulatePayment(answer.verified, payment)).toBeNull();
  const alone = fixture.ledgerOf(endpoints.slice(0, 1));
  expect(await alone.simulatePayment(answer.verified, payment)).toEqual({ kind: "blockhash_expired" });
});
