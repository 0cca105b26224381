/** Bytes that are no transaction never reach litesvm, whose binding would abort the process. */
import { MessageV0, PublicKey, VersionedTransaction, type MessageCompiledInstruction } from "@solana/web3.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { connect, keyOf, rpc, signed, SOL, somebody, stillChain, transfer } from "./kit.ts";
import { runsOf } from "../kit/thorough.ts";
import { withinBudget } from "../kit/exploration-budget.ts";

const PROGRAMS = [
  "11111111111111111111111111111111",
  "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
  "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL",
  "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
  "ComputeBudget111111111111111111111111111111",
  "AddressLookupTab1e1111111111111111111111111",
  "Ed25519SigVerify111111111111111111111111111",
  "KeccakSecp256k11111111111111111111111111111",
  "Vote111111111111111111111111111111111111111",
  "Stake11111111111111111111111111111111111111",
  "BPFLoaderUpgradeab1e11111111111111111111111",
  "SysvarS1otHashes111111111111111111111111111",
  "SysvarRent111111111111111111111111111111111",
].map((address) => new PublicKey(address));

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

/** Sends the bytes by every way that leads to litesvm, then makes sure that the chain still answers. */
async function offer(chain: Parameters<typeof rpc>[0], bytes: Uint8Array): Promise<void> {
  const encoded = base64(bytes);
  await rpc(chain, "sendTransaction", encoded, { encoding: "base64" });
  await rpc(chain, "sendTransaction", encoded, { encoding: "base64", skipPreflight: true });
  await rpc(chain, "simulateTransaction", encoded, {
    encoding: "base64",
    replaceRecentBlockhash: true,
    commitment: "processed",
  });
  await rpc(chain, "getFeeForMessage", encoded);
  expect((await rpc(chain, "getHealth")).result).toBe("ok");
}

test("arbitrary bytes are refused and the process goes on", async () => {
  const chain = await stillChain();
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 1300 }), (bytes) => offer(chain, bytes)),
    { numRuns: runsOf(300), plugins: [withinBudget()] },
  );
});

test("damaged transactions are refused and the process goes on", async () => {
  const chain = await stillChain();
  const alice = keyOf(chain.createWallet("alice", { lamports: SOL }));
  const { blockhash } = await connect(chain, "processed").getLatestBlockhash();
  const sound = signed(blockhash, [transfer(alice, somebody(), SOL / 2n)], [alice]).serialize();
  const damaged = fc
    .tuple(
      fc.array(fc.tuple(fc.nat(sound.length - 1), fc.nat(255)), { maxLength: 4 }),
      fc.nat(sound.length),
      fc.uint8Array({ maxLength: 40 }),
    )
    .map(([changes, length, tail]) => {
      const bytes = Uint8Array.from([...sound.slice(0, length), ...tail]);
      for (const [index, value] of changes) if (index < bytes.length) bytes[index] = value;
      return bytes;
    });
  await fc.assert(
    fc.asyncProperty(damaged, (bytes) => offer(chain, bytes)),
    { numRuns: runsOf(300), plugins: [withinBudget()] },
  );
});

test("well-formed messages with senseless contents fail without ending the process", async () => {
  const chain = await stillChain();
  const payer = keyOf(chain.createWallet("payer", { lamports: 1000n * SOL, usdc: 5n }));
  const keys = [
    payer.publicKey,
    ...Object.values(chain.mints).map((mint) => new PublicKey(mint)),
    ...PROGRAMS,
  ];
  const { blockhash } = await connect(chain, "processed").getLatestBlockhash();
  const instruction: fc.Arbitrary<MessageCompiledInstruction> = fc.record({
    programIdIndex: fc.integer({ min: 0, max: keys.length }),
    accountKeyIndexes: fc.array(fc.integer({ min: 0, max: keys.length }), { maxLength: 8 }),
    data: fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc
        .tuple(fc.nat(40), fc.uint8Array({ maxLength: 40 }))
        .map(([tag, rest]) => Uint8Array.from([tag, 0, 0, 0, ...rest])),
      fc
        .tuple(fc.nat(45), fc.uint8Array({ maxLength: 40 }))
        .map(([tag, rest]) => Uint8Array.from([tag, ...rest])),
    ),
  });
  const message = fc
    .record({
      signers: fc.integer({ min: 0, max: 3 }),
      readonlySigned: fc.integer({ min: 0, max: 3 }),
      readonlyUnsigned: fc.integer({ min: 0, max: keys.length }),
      order: fc.shuffledSubarray(keys.slice(1), { minLength: 1 }),
      repeatsPayer: fc.boolean(),
      instructions: fc.array(instruction, { maxLength: 4 }),
      lookups: fc.array(
        fc.record({
          accountKey: fc.constantFrom(...PROGRAMS, somebody()),
          writableIndexes: fc.array(fc.nat(255), { maxLength: 3 }),
          readonlyIndexes: fc.array(fc.nat(255), { maxLength: 3 }),
        }),
        { maxLength: 1 },
      ),
    })
    .map(
      ({ signers, readonlySigned, readonlyUnsigned, order, repeatsPayer, instructions, lookups }) =>
        new MessageV0({
          header: {
            numRequiredSignatures: signers,
            numReadonlySignedAccounts: readonlySigned,
            numReadonlyUnsignedAccounts: readonlyUnsigned,
          },
          staticAccountKeys: [payer.publicKey, ...order, ...(repeatsPayer ? [payer.publicKey] : [])],
          recentBlockhash: blockhash,
          compiledInstructions: instructions,
          addressTableLookups: lookups,
        }),
    );
  await fc.assert(
    fc.asyncProperty(message, async (candidate) => {
      const signatures = Array.from(
        { length: candidate.header.numRequiredSignatures },
        () => new Uint8Array(64),
      );
      const transaction = new VersionedTransaction(candidate, signatures);
      if (signatures.length === 1) transaction.sign([payer]);
      await offer(chain, transaction.serialize());
    }),
    { numRuns: runsOf(600), plugins: [withinBudget()] },
  );
});

test("strings that are no encoding are refused with -32602", async () => {
  const chain = await stillChain();
  for (const [text, encoding] of [
    ["0OIl", "base58"],
    ["====", "base64"],
    ["AA\n=", "base64"],
    ["A".repeat(2000), "base64"],
    ["1".repeat(100_000), "base58"],
    ["", "base64"],
    ["AAAA", "rot13"],
  ] as const) {
    expect((await rpc(chain, "sendTransaction", text, { encoding })).error?.code, text.slice(0, 9)).toBe(
      -32602,
    );
  }
  expect((await rpc(chain, "sendTransaction", 5)).error?.code).toBe(-32602);
});
