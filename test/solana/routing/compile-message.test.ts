/** The message of a plan is byte for byte the one that web3.js would compile. */
import { PublicKey, TransactionInstruction, TransactionMessage } from "@solana/web3.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { compileMessage } from "../../../src/solana/routing/build-transaction.ts";

const BLOCKHASH = "1".repeat(32);

/** The `index`-th of some keys. Keys that begin with zeros are among them. */
function keyAt(index: number): PublicKey {
  const bytes = new Uint8Array(32);
  bytes.set([index % 256, Math.floor(index / 256), 1], 29);
  return new PublicKey(bytes);
}

const key = fc.integer({ min: 0, max: 7 }).map(keyAt);
const instruction = fc
  .record({
    programId: key,
    keys: fc.array(fc.record({ pubkey: key, isSigner: fc.boolean(), isWritable: fc.boolean() }), {
      maxLength: 6,
    }),
    data: fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
  })
  .map((fields) => new TransactionInstruction(fields));

test("accounts that are mentioned often, as signers or not, written to or not, stand where web3.js puts them", () => {
  const instructions = fc.array(instruction, { maxLength: 6 });
  fc.assert(
    fc.property(key, instructions, (feePayer, planned) => {
      const ours = compileMessage({ feePayer, blockhash: BLOCKHASH, instructions: planned });
      const theirs = new TransactionMessage({
        payerKey: feePayer,
        recentBlockhash: BLOCKHASH,
        instructions: planned,
      }).compileToV0Message();
      expect(Buffer.from(ours.serialize())).toEqual(Buffer.from(theirs.serialize()));
    }),
  );
});

test("more accounts than one byte can name are refused, and as many as it can are not", () => {
  const over = (count: number): TransactionInstruction =>
    new TransactionInstruction({
      programId: keyAt(0),
      keys: Array.from({ length: count - 1 }, (_, index) => ({
        pubkey: keyAt(index + 1),
        isSigner: false,
        isWritable: false,
      })),
    });
  const compile = (count: number) =>
    compileMessage({ feePayer: keyAt(0), blockhash: BLOCKHASH, instructions: [over(count)] });
  expect(compile(256).staticAccountKeys).toHaveLength(256);
  expect(() => compile(257)).toThrow(
    new RangeError("a plan over 257 accounts does not fit in one transaction"),
  );
});
