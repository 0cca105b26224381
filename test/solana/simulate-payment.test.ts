/** What a payer is told before anything is sent, with figures from the chain. */
import { createAssociatedTokenAccountIdempotentInstruction } from "@solana/spl-token";
import { PublicKey, SystemProgram, TransactionInstruction } from "@solana/web3.js";
import { expect } from "vitest";
import { LedgerUnavailable, type DeclaredPayment, type SimulationFault } from "../../src/ledger/ledger.ts";
import type { Funds } from "../../src/local/index.ts";
import { associatedTokenAddress } from "../../src/local/funding.ts";
import { signPayment, type ChainFixture, type Wallet, FEE_OF_SOL_SEND } from "../kit/chain-fixture.ts";
import { keyOf, land, signed } from "./signed-transaction.ts";
import { sharedChainTest } from "../kit/chain-test.ts";
import { lyingAbout, oddEndpoint } from "../kit/odd-endpoints.ts";
import { elapsed } from "./scripted-node.ts";

/** Bob, who is paid, and what accounts cost. */
interface Scene extends ChainFixture {
  readonly bob: Wallet;
  readonly rentOfEmpty: bigint;
  readonly rentOfToken: bigint;
}

const test = sharedChainTest
  .extend("sharedScene", { scope: "file" }, async ({ world }): Promise<Scene> => {
    const bob = world.wallet("bob", { lamports: 1_000_000_000n, usdc: 1n });
    const { rent: rentOfToken } = await world.ledger.paymentCost(world.mints.USDC, null);
    return { ...world, bob, rentOfToken, rentOfEmpty: (rentOfToken * 128n) / (128n + 165n) };
  })
  .extend("scene", ({ sharedScene }) => {
    sharedScene.chain.advance(1);
    return sharedScene;
  });

let names = 0;

const somebody = (scene: Scene, funds: Funds): Wallet => scene.wallet(`somebody ${(names += 1)}`, funds);
const nobody = (scene: Scene): Wallet => somebody(scene, {});
const ata = (scene: Scene, owner: Wallet): PublicKey =>
  new PublicKey(associatedTokenAddress(owner.address, scene.mints.USDC));
const usdc = (scene: Scene, sender: Wallet, recipient: Wallet, amount: bigint): DeclaredPayment => ({
  sender: sender.address,
  mint: scene.mints.USDC,
  decimals: 6,
  transfers: [{ recipient: recipient.address, amount }],
});
const sol = (scene: Scene, sender: Wallet, recipient: Wallet, amount: bigint): DeclaredPayment => ({
  ...usdc(scene, sender, recipient, amount),
  mint: null,
  decimals: 9,
});

async function simulate(
  scene: Scene,
  payment: DeclaredPayment,
  sender: Wallet,
  transaction?: string,
): Promise<SimulationFault | null> {
  const text =
    transaction ??
    signPayment((await scene.ledger.buildPayment(payment, new Uint8Array(32))).bytes, sender.secretKey);
  const answer = await scene.ledger.verifyPayment(text, payment);
  if ("refused" in answer) throw new Error(answer.refused);
  return await scene.ledger.simulatePayment(answer.verified, payment);
}

test("a SOL payment lacks the amount together with the fee", async ({ scene }) => {
  const { bob } = scene;
  for (const lamports of [1_000_000_000n, 1_000_000_000n + FEE_OF_SOL_SEND - 1n]) {
    const sender = somebody(scene, { lamports });
    expect(await simulate(scene, sol(scene, sender, bob, 1_000_000_000n), sender)).toEqual({
      kind: "insufficient_balance",
      component: "amount",
      mint: null,
      required: 1_000_000_000n + FEE_OF_SOL_SEND,
      available: lamports,
    });
  }
  const exact = somebody(scene, { lamports: 1_000_000_000n + FEE_OF_SOL_SEND });
  expect(await simulate(scene, sol(scene, exact, bob, 1_000_000_000n), exact)).toBeNull();
});

test("W16: rent for two new token accounts is counted twice, and as the chain prices it today", async ({
  scene,
}) => {
  const { rentOfToken, bob } = scene;
  const sender = somebody(scene, { lamports: rentOfToken + 1_000_000n, usdc: 1_000_000n });
  const transfers = [nobody(scene), nobody(scene)].map(({ address }) => ({ recipient: address, amount: 1n }));
  const payment = { ...usdc(scene, sender, bob, 1n), transfers };
  const recipients = transfers.map(({ recipient }) => recipient);
  const { networkFee } = await scene.ledger.paymentCost(scene.mints.USDC, recipients);
  expect(await scene.ledger.buildPayment(payment, new Uint8Array(32))).toMatchObject({
    networkFee,
    rent: 2n * rentOfToken,
  });
  expect(await simulate(scene, payment, sender)).toMatchObject({
    component: "rent",
    required: networkFee + 2n * rentOfToken,
  });
});

test("W17: SOL below the rent minimum to an empty address is recipient_below_rent with the minimum", async ({
  scene,
}) => {
  const { rentOfEmpty } = scene;
  const sender = somebody(scene, { lamports: 1_000_000_000n });
  const recipient = nobody(scene);
  const fault = { kind: "recipient_below_rent", minimum: rentOfEmpty, transfer: 0 };
  expect(await simulate(scene, sol(scene, sender, recipient, rentOfEmpty - 1n), sender)).toEqual(fault);
  expect(await simulate(scene, sol(scene, sender, recipient, rentOfEmpty), sender)).toBeNull();
});

test("any other failure is program_error with the end of the log", async ({ scene }) => {
  const { bob } = scene;
  const sender = somebody(scene, { lamports: 1_000_000_000n });
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
  const transaction = await signed(scene, { signers: [sender], instructions: [pay, ...memos] });
  const fault = await simulate(scene, sol(scene, sender, bob, 5n), sender, transaction);
  expect(fault).toMatchObject({ kind: "would_fail", reason: "program_error" });
  const logs = fault?.kind === "would_fail" ? fault.logs : [];
  expect(logs.length).toBeLessThanOrEqual(20);
  expect(logs.at(-1)).toContain("failed");
});

test("P17: a hijacked token account of the recipient fails instead of paying the thief", async ({
  scene,
}) => {
  const sender = somebody(scene, { lamports: 1_000_000_000n, usdc: 1_000_000n });
  const recipient = somebody(scene, { lamports: 1_000_000_000n });
  const thief = somebody(scene, { lamports: 1_000_000_000n });
  const mint = new PublicKey(scene.mints.USDC);
  const { AuthorityType, createSetAuthorityInstruction } = await import("@solana/spl-token");
  await land(scene, {
    signers: [recipient],
    instructions: [
      createAssociatedTokenAccountIdempotentInstruction(
        keyOf(recipient),
        ata(scene, recipient),
        keyOf(recipient),
        mint,
      ),
      createSetAuthorityInstruction(
        ata(scene, recipient),
        keyOf(recipient),
        AuthorityType.AccountOwner,
        keyOf(thief),
      ),
    ],
  });
  const fault = await simulate(scene, usdc(scene, sender, recipient, 1_000_000n), sender);
  expect(fault).toMatchObject({ kind: "would_fail", reason: "program_error" });
});

test("E15: rent that changed since the quote is charged as it was ten seconds ago at most", async ({
  scene,
}) => {
  const { bob } = scene;
  const before = await scene.ledger.paymentCost(scene.mints.USDC, null);
  scene.chain.setRent(10_000n);
  scene.clock.advance(10_000);
  const after = await scene.ledger.paymentCost(scene.mints.USDC, [bob.address, nobody(scene).address]);
  expect(after.rent).not.toBe(before.rent);
  expect(after.rent).toBeGreaterThan(0n);
});

test("a recipient who is its owner's token account address funded by somebody is still counted as missing", async ({
  scene,
}) => {
  const recipient = nobody(scene);
  scene.chain.fund(ata(scene, recipient).toBase58(), { lamports: 5_000_000n });
  scene.chain.advance(2);
  const { rent } = await scene.ledger.paymentCost(scene.mints.USDC, [recipient.address]);
  expect(rent).toBeGreaterThan(0n);
});

test("N3: a node that does not know the blockhash yet is not believed while another one knows it, or it calls it valid itself", async ({
  scene,
}) => {
  const { bob } = scene;
  const sender = somebody(scene, { lamports: 1_000_000_000n });
  const payment = sol(scene, sender, bob, 1_000_000n);
  const { bytes } = await scene.ledger.buildPayment(payment, new Uint8Array(32));
  const answer = await scene.ledger.verifyPayment(signPayment(bytes, sender.secretKey), payment);
  if ("refused" in answer) throw new Error(answer.refused);
  const notFound = lyingAbout("simulateTransaction", (honest: { readonly value: object }) => ({
    ...honest,
    value: { ...honest.value, err: "BlockhashNotFound" },
  }));
  const endpoints = [
    oddEndpoint(scene.chain, "behind", notFound).option,
    oddEndpoint(scene.chain, "local").option,
  ];
  expect(await scene.ledgerOf(endpoints).simulatePayment(answer.verified, payment)).toBeNull();
  const alone = scene.ledgerOf(endpoints.slice(0, 1));
  const unknown = alone.simulatePayment(answer.verified, payment);
  expect(await elapsed(scene.clock, unknown)).toBe(2_500);
  await expect(unknown).rejects.toBeInstanceOf(LedgerUnavailable);
});
