/** The deposit as a Solana Pay request, read and paid by Solana Pay's own client. */
// modules: private
import { createTransfer, parseURL, type TransferRequestURL } from "@solana/pay";
import {
  address as solanaAddress,
  appendTransactionMessageInstructions,
  createKeyPairSignerFromBytes,
  createSolanaRpc,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import { createAssociatedTokenAccountIdempotentInstruction } from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import { expect, vi } from "vitest";
import type { HoldRecord, OrderRecord } from "../../../src/payments/private/tables.ts";
import { assetsWith } from "../../../src/payments/frame/assets/assets.ts";
import { receivedMoney } from "../../../src/payments/private/order-details.ts";
import type { CreatedOrderBody } from "../../../src/payments/private/accept-order.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { associatedTokenAddress } from "../../../src/local/funding.ts";
import { land, publicKeyOf } from "../../solana/signed-transaction.ts";
import { orderedAs, SOL, type Ordered, type Scene } from "../../payments/private/scene.ts";
import { sceneTest as test } from "../../payments/private/scene-test.ts";

// Its ready-made clients need plugins of kit 6; what a wallet calls does not.
vi.mock("@solana/kit-plugin-instruction-plan", () => ({}));
vi.mock("@solana/kit-plugin-payer", () => ({}));
vi.mock("@solana/kit-plugin-rpc", () => ({}));

function requested(uri: string | null | undefined): TransferRequestURL {
  const request = parseURL(uri ?? "");
  if (!("recipient" in request)) throw new Error("a transaction request");
  return request;
}

/** The key of the order, as it is stored. */
async function keyOf(world: Scene, { id }: Ordered): Promise<string> {
  return (await world.storage.order(id))?.referenceKey ?? "none";
}

/** The transactions that a node lists under a key, the newest first. */
async function listedUnder(world: Scene, key: string): Promise<readonly string[]> {
  const { url } = await world.chain.listen({ host: "127.0.0.1", port: 0 });
  const listed = await createSolanaRpc(url).getSignaturesForAddress(solanaAddress(key)).send();
  return listed.map(({ signature }) => signature);
}

/** Pays a request as a wallet does that uses Solana Pay's own `createTransfer`. */
async function payWith(world: Scene, wallet: Wallet, uri: string | null | undefined): Promise<void> {
  const { recipient, amount, splToken, reference } = requested(uri);
  const { url } = await world.chain.listen({ host: "127.0.0.1", port: 0 });
  const rpc = createSolanaRpc(url);
  const sender = await createKeyPairSignerFromBytes(wallet.secretKey);
  const fields = {
    recipient,
    amount: amount ?? 0,
    ...(splToken === undefined ? {} : { splToken }),
    ...(reference === undefined ? {} : { reference }),
  };
  const instructions = await createTransfer(rpc, sender, fields);
  const { value: lifetime } = await rpc.getLatestBlockhash().send();
  const signed = await signTransactionMessageWithSigners(
    pipe(
      createTransactionMessage({ version: 0 }),
      (draft) => setTransactionMessageFeePayerSigner(sender, draft),
      (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
      (draft) => appendTransactionMessageInstructions(instructions, draft),
    ),
  );
  await rpc.sendTransaction(getBase64EncodedWireTransaction(signed), { encoding: "base64" }).send();
}

test("N11, Q24: a private order in SOL is paid by Solana Pay's own client out of its paymentUri, and names its deposit", async ({
  world,
}) => {
  const { body } = await world.order(world.customer, {
    sender: world.alice,
    to: [{ address: world.bob.address, amount: "1" }],
    asset: "SOL",
  });
  const order = orderedAs(body);
  const key = await keyOf(world, order);
  expect(body.paymentUri).toBe(
    `solana:${body.ephemeralAddress}?amount=${body.depositAmount}&reference=${key}&label=${body.transactionId}`,
  );
  expect(requested(body.paymentUri)).toEqual({
    recipient: body.ephemeralAddress,
    amount: Number(body.depositAmount),
    splToken: undefined,
    reference: [key],
    label: body.transactionId,
  });
  world.chain.fund(world.alice.address, { lamports: 5n * SOL });
  world.chain.advance(35);
  await payWith(world, world.alice, body.paymentUri);
  await world.passAndSettle(60_000);
  const shown = await world.shown(order);
  expect(shown).toMatchObject({ status: "completed", paymentUri: null });
  const listed = await listedUnder(world, key);
  expect(listed).toHaveLength(1);
  expect(shown.received).toMatchObject([{ amount: body.depositAmount, signature: listed[0], counted: true }]);
});

test("for a stablecoin Solana Pay's own client refuses until the deposit address has its token account", async ({
  world,
}) => {
  world.chain.fund(world.alice.address, { usdc: 100_000_000n });
  const order = await world.sendTo();
  const { paymentUri } = await world.shown(order);
  expect(requested(paymentUri)).toMatchObject({ recipient: order.address, splToken: world.mints.USDC });
  await expect(payWith(world, world.alice, paymentUri)).rejects.toThrow("Account not found");
  expect(await world.shown(order)).toMatchObject({ status: "pending", received: [], paymentUri });
  await land(world, {
    signers: [world.alice],
    instructions: [
      createAssociatedTokenAccountIdempotentInstruction(
        publicKeyOf(world.alice),
        new PublicKey(associatedTokenAddress(order.address, world.mints.USDC)),
        new PublicKey(order.address),
        new PublicKey(world.mints.USDC),
      ),
    ],
  });
  await payWith(world, world.alice, paymentUri);
  await world.passAndSettle(60_000);
  const [signature] = await listedUnder(world, await keyOf(world, order));
  expect(await world.shown(order)).toMatchObject({ status: "completed", received: [{ signature }] });
  expect(signature).toBeDefined();
});

test("what is shown asks for the missing rest, and for nothing once it is cancelled or over", async ({
  world,
}) => {
  const order = await world.sendTo();
  const uriOf = async () => (await world.shown(order)).paymentUri;
  const { depositAmount } = await world.shown(order);
  expect(requested(await uriOf()).amount).toBe(Number(depositAmount));
  await world.deposit(order.address, { usdc: 2_000_000n });
  const { remainingAmount } = await world.shown(order);
  expect(requested(await uriOf())).toMatchObject({ amount: Number(remainingAmount) });
  await world.deposit(order.address, { usdc: order.due - 2_000_000n });
  expect(await uriOf()).toBeNull();
  const cancelled = await world.sendTo();
  await world.service.cancelTransaction(world.customer, cancelled.id);
  expect(await world.shown(cancelled)).toMatchObject({ status: "cancelled", paymentUri: null });
});

test("no payment is asked for by an order that is held, or that has stopped waiting before its caller heard of it", async ({
  world,
}) => {
  const { id } = await world.sendTo();
  const view = await world.storage.orderedTransaction(id);
  if (view === null || view.order === null) throw new Error("the order is stored");
  const { order, ...rest } = view.order;
  const { USDC, USDT } = world.mints;
  const assets = assetsWith({ USDC, USDT });
  const books = { received: [], refunds: [], unreturned: [], paid: 0n, fee: null };
  const uriOf = (changed: Partial<OrderRecord>, holds: readonly HoldRecord[] = []): string | null =>
    receivedMoney(view.transaction, { ...rest, holds, order: { ...order, ...changed } }, { books, assets })
      .paymentUri;
  const hold = { id: "hold", order: id, reason: "screening", since: 1, endedAt: null, covers: null };
  expect(view.transaction.status).toBe("pending");
  expect(uriOf({})).toMatch(/^solana:/);
  expect(uriOf({ waitEndedAt: world.clock.now() })).toBeNull();
  expect(uriOf({}, [hold])).toBeNull();
});

test("the label is the order's reference, which changes nothing else of the request", async ({ world }) => {
  const recipients = [{ address: world.bob.address, amount: "5" }];
  const pair = { inputAsset: "USDC", outputAsset: "USDC", amount: "5", mode: "private" } as const;
  const { body: quote } = await world.service.createQuote(world.customer, { ...pair, recipients });
  const { body } = await world.service.createTransaction(world.customer, {
    type: "send",
    mode: "private",
    quoteId: quote.quoteId,
    sender: world.alice.address,
    recipients,
    reference: "invoice/7?&amount=1&spl-token=1#",
  });
  const { ephemeralAddress, depositAmount, paymentUri } = body as CreatedOrderBody;
  expect(requested(paymentUri)).toEqual({
    recipient: ephemeralAddress,
    amount: Number(depositAmount),
    splToken: world.mints.USDC,
    reference: [await keyOf(world, orderedAs(body as CreatedOrderBody))],
    label: "invoice/7?&amount=1&spl-token=1#",
  });
});
