/** The bytes of version 1: written and read as @solana/kit does, and whatever else is refused. */
import {
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
} from "@solana/kit";
import { Keypair, PublicKey, TransactionInstruction } from "@solana/web3.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeTransaction, type DecodedTransaction } from "../../src/solana/decode-transaction.ts";
import { serializeMessage } from "../../src/solana/message-v1.ts";
import { bytesOfVersion1 } from "../kit/version-1.ts";
import { runsOf } from "../kit/thorough.ts";
import { rawVersion1 } from "./signed-transaction.ts";

const BLOCKHASH = new PublicKey(new Uint8Array(32).fill(9)).toBase58();
const [alice, bob] = [1, 2].map((byte) => Keypair.fromSeed(new Uint8Array(32).fill(byte)));
const keys = Array.from({ length: 80 }, (_, index) => new PublicKey(new Uint8Array(32).fill(100 + index)));

/** What the settings may be: each there or not. */
const settings = fc.record(
  {
    priorityFeeLamports: fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }),
    computeUnitLimit: fc.integer({ min: 0, max: 1_400_000 }),
    loadedAccountsDataSizeLimit: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    heapSize: fc.integer({ min: 32, max: 256 }).map((kibibytes) => kibibytes * 1_024),
  },
  { requiredKeys: [] },
);

const instruction = fc
  .record({
    program: fc.constantFrom(...keys.slice(0, 4)),
    accounts: fc.array(
      fc.record({
        pubkey: fc.constantFrom(...keys.slice(4, 50), bob?.publicKey ?? PublicKey.default),
        isWritable: fc.boolean(),
        isSigner: fc.constant(false),
      }),
      { maxLength: 20 },
    ),
    data: fc.uint8Array({ maxLength: 300 }),
  })
  .map(
    ({ program, accounts, data }) =>
      new TransactionInstruction({ programId: program, keys: accounts, data: Buffer.from(data) }),
  );

const transaction = fc
  .record({ settings, instructions: fc.array(instruction, { maxLength: 8 }), cosigns: fc.boolean() })
  .map(({ cosigns, ...parts }) => {
    const signers = [alice, ...(cosigns ? [bob] : [])].flatMap((each) => each ?? []);
    const signing = signers.map(({ publicKey }) => ({
      pubkey: publicKey,
      isSigner: true,
      isWritable: false,
    }));
    const asking = new TransactionInstruction({ programId: keys[0] as PublicKey, keys: signing });
    return bytesOfVersion1({
      ...parts,
      instructions: [...parts.instructions, asking],
      signers,
      blockhash: BLOCKHASH,
    });
  })
  .filter(({ length }) => length <= 4_096);

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

function decoded(bytes: Uint8Array): DecodedTransaction {
  const decoding = decodeTransaction(text(bytes));
  if ("refused" in decoding) throw new Error(decoding.refused);
  return decoding.decoded;
}

test("N6: every transaction that @solana/kit writes is read, and written back byte by byte, by both", () => {
  fc.assert(
    fc.property(transaction, (bytes) => {
      const { message, messageBytes, signatures } = decoded(bytes);
      const theirs = getTransactionDecoder().decode(bytes);
      expect(Buffer.from(theirs.messageBytes)).toEqual(Buffer.from(messageBytes));
      expect(Object.values(theirs.signatures).map((each) => Buffer.from(each ?? []))).toEqual(
        signatures.map((each) => Buffer.from(each)),
      );
      const ours = serializeMessage(message);
      const read = getCompiledTransactionMessageDecoder().decode(ours);
      expect(Buffer.from(getCompiledTransactionMessageEncoder().encode(read))).toEqual(Buffer.from(ours));
      expect(read.staticAccounts).toEqual(message.staticAccountKeys.map((key) => key.toBase58()));
      expect("lifetimeToken" in read && read.lifetimeToken).toBe(message.recentBlockhash);
    }),
    { numRuns: runsOf(100) },
  );
});

test("N6: whatever byte of a transaction is changed, cut off or added, it is refused or its every byte is accounted for", () => {
  fc.assert(
    fc.property(
      transaction,
      fc.array(fc.tuple(fc.nat({ max: 4_200 }), fc.nat({ max: 255 })), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: -70, max: 70 }),
      (bytes, changes, longer) => {
        const bent = new Uint8Array(Math.max(1, bytes.length + (changes.length > 3 ? longer : 0)));
        bent.set(bytes.subarray(0, bent.length));
        for (const [at, value] of changes) bent[at % bent.length] = value;
        const decoding = decodeTransaction(text(bent));
        if ("refused" in decoding) return;
        const { message, messageBytes, signatures } = decoding.decoded;
        const again =
          message.version === 1
            ? [serializeMessage(message), ...signatures]
            : [Uint8Array.of(signatures.length), ...signatures, serializeMessage(message)];
        expect(Buffer.concat(again)).toEqual(Buffer.from(bent));
        expect(Buffer.from(serializeMessage(message))).toEqual(Buffer.from(messageBytes));
        expect(message.header.numRequiredSignatures).toBe(signatures.length);
      },
    ),
    { numRuns: runsOf(300) },
  );
});

test("N6: as many signers, addresses and instructions as the chain takes are read, and not one more", () => {
  const reads = (signers: number, addresses: number, instructions: number): boolean => {
    const message = rawVersion1({
      header: [signers, 0, addresses - signers],
      mask: 0,
      blockhash: BLOCKHASH,
      keys: keys.slice(0, addresses),
      values: [],
      instructions: Array.from({ length: instructions }, () => ({
        program: addresses - 1,
        accounts: [0],
        data: [1],
      })),
    });
    return "decoded" in decodeTransaction(text(Buffer.concat([message, Buffer.alloc(64 * signers, 1)])));
  };
  expect([reads(12, 14, 1), reads(13, 14, 1)]).toEqual([true, false]);
  expect([reads(1, 64, 1), reads(1, 65, 1)]).toEqual([true, false]);
  expect([reads(1, 2, 64), reads(1, 2, 65)]).toEqual([true, false]);
});
