/** Q3: a sender signs one message twice, or floods its reference key: what is told of the payment is still true. */
import { createHash } from "node:crypto";
import { PublicKey, SystemProgram } from "@solana/web3.js";
import bs58 from "bs58";
import { expect } from "vitest";
import { flood } from "../../kit/flood.ts";
import { signAgain } from "../../kit/sign-again.ts";
import { keyOf, signed } from "../../solana/signed-transaction.ts";
import { walletTest as test } from "./wallet-test.ts";
import { signatureOf, type WalletWorld } from "./wallet-world.ts";

const LAMPORTS = 1_000_000;
const amount = "0.001";

/** The nodes take these bytes and pass them on to nobody. */
function lose({ fixture }: WalletWorld, signedTransaction: string): void {
  fixture.chain.faults.add(({ method, params }) =>
    method === "sendTransaction" && params[0] === signedTransaction ? { kind: "drop" } : undefined,
  );
}

/** Lets the last block that could take what was signed be final, and has the service look. */
async function expire({ fixture: { chain, service } }: WalletWorld): Promise<void> {
  for (let round = 0; round < 5; round += 1) {
    await service.settled();
    chain.advance(50);
  }
  for (let look = 0; look < 5; look += 1) await service.settled();
}

async function broadcast({ fixture: { ledger } }: WalletWorld, signedTransaction: string): Promise<void> {
  await ledger.broadcast(Buffer.from(signedTransaction, "base64"));
}

const referenceOf = (quoteId: string): Buffer => createHash("sha256").update(quoteId).digest();

/** Ways to have the bytes of a reference key in a message, by the keys that its transfer names besides. */
const KEYS_BESIDES: Readonly<Record<string, (reference: Buffer) => readonly Buffer[]>> = {
  "as a key": (reference) => [reference],
  "laid across two keys": (reference) => [
    Buffer.concat([Buffer.alloc(16, 1), reference.subarray(0, 16)]),
    Buffer.concat([reference.subarray(16), Buffer.alloc(16, 2)]),
  ],
};

test.for(Object.entries(KEYS_BESIDES))(
  "Q3: a message with its reference $0 that lands under a second signature is completed",
  async ([, keysOf], { world }) => {
    const { fixture, caller, alice, bob, post } = world;
    const send = { from: alice, to: bob.address, amount, asset: "SOL" } as const;
    const { body } = await fixture.prepareSend(caller, send);
    const transfer = SystemProgram.transfer({
      fromPubkey: keyOf(alice),
      toPubkey: keyOf(bob),
      lamports: LAMPORTS,
    });
    for (const key of keysOf(referenceOf(body.quoteId))) {
      transfer.keys.push({ pubkey: new PublicKey(key), isSigner: false, isWritable: false });
    }
    const signedTransaction = await signed(fixture, { signers: [alice], instructions: [transfer] });
    lose(world, signedTransaction);
    const { body: created } = await post({ ...body, signedTransaction });
    const again = signAgain(signedTransaction, alice.secretKey);
    await broadcast(world, again);
    await expire(world);
    expect(await fixture.service.transaction(caller, created.transactionId)).toMatchObject({
      status: "completed",
      signatures: [signatureOf(signedTransaction), signatureOf(again)],
      recipients: [{ address: bob.address, status: "paid", signature: signatureOf(again) }],
    });
  },
);

test("Q3: a dead send whose reference key strangers have named eleven times is failed as expired", async ({
  world,
}) => {
  const { fixture, caller, pay, post } = world;
  const { body } = await pay();
  lose(world, body.signedTransaction);
  const { body: created } = await post(body);
  const stranger = fixture.wallet("mallory", { lamports: 1_000_000_000n });
  await flood(fixture, stranger, { address: bs58.encode(referenceOf(body.quoteId)), count: 11 });
  await expire(world);
  expect(await fixture.service.transaction(caller, created.transactionId)).toMatchObject({
    status: "failed",
    reason: "expired",
    attention: null,
  });
});

test("Q3: a message that lands under a second signature is completed, however often strangers have named its key", async ({
  world,
}) => {
  const { fixture, caller, alice, pay, post } = world;
  const { body } = await pay();
  lose(world, body.signedTransaction);
  const { body: created } = await post(body);
  const again = signAgain(body.signedTransaction, alice.secretKey);
  await broadcast(world, again);
  const stranger = fixture.wallet("mallory", { lamports: 1_000_000_000n });
  await flood(fixture, stranger, { address: bs58.encode(referenceOf(body.quoteId)), count: 11 });
  await expire(world);
  expect(await fixture.service.transaction(caller, created.transactionId)).toMatchObject({
    status: "completed",
    signatures: [signatureOf(body.signedTransaction), signatureOf(again)],
  });
});
