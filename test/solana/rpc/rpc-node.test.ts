/** What a node may answer to each method, and what is no answer. */
import { Keypair, MessageV0, PublicKey, VersionedTransaction } from "@solana/web3.js";
import bs58 from "bs58";
import fc from "fast-check";
import { createHash, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  expectSigned,
  messageHashOf,
  participantsOf,
  signatureOf,
} from "../../../src/solana/rpc/landed-transaction.ts";
import { privateKeyOf } from "../../../src/core/ed25519.ts";
import { RpcNode } from "../../../src/solana/rpc/rpc-node.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";

const ADDRESS = "11111111111111111111111111111111";
const ACCOUNT = { executable: false, lamports: 5, owner: ADDRESS, data: ["AAEC", "base64"] };
const META = { err: null, fee: 5_000, preBalances: [1], postBalances: [1] };
const LANDED = { slot: 7, blockTime: 1, transaction: ["AQ==", "base64"], meta: META };
const BLOCK = { blockhash: "b", previousBlockhash: "a", parentSlot: 6, blockHeight: 7, transactions: [] };
const at = (value: unknown): object => ({ context: { slot: 9 }, value });

const nodeThatAnswers = (answer: unknown): RpcNode =>
  new RpcNode(async () => answer, { clock: virtualClock(), closed: new AbortController().signal });

interface Case {
  readonly method: string;
  readonly ask: (node: RpcNode) => Promise<unknown>;
  readonly answers: readonly unknown[];
  readonly noAnswers: Readonly<Record<string, unknown>>;
}

const CASES: readonly Case[] = [
  {
    method: "getSlot",
    ask: (node) => node.getSlot("confirmed"),
    answers: [0, 9],
    noAnswers: {
      "below zero": -1,
      "a fraction": 1.5,
      "more than a double holds": 2 ** 53,
      words: "9",
      nothing: null,
    },
  },
  {
    method: "getEpochInfo",
    ask: (node) => node.getEpochInfo("finalized"),
    answers: [{ absoluteSlot: 9, blockHeight: 8, epoch: 0 }],
    noAnswers: { "no height": { absoluteSlot: 9 }, "no slot": { blockHeight: 8 } },
  },
  {
    method: "getSignatureStatuses",
    ask: (node) => node.getSignatureStatuses(["one"]),
    answers: [
      at([null]),
      at([{ slot: 1, confirmationStatus: "finalized", err: null }]),
      at([{ slot: 1, confirmationStatus: "processed", err: { InstructionError: [0, { Custom: 1 }] } }]),
      at([{ slot: 1, confirmationStatus: "confirmed", err: "AccountInUse" }]),
    ],
    noAnswers: {
      "that leaves out whether it failed": at([{ slot: 1, confirmationStatus: "finalized" }]),
      "an error that is a number": at([{ slot: 1, confirmationStatus: "finalized", err: 0 }]),
      "no commitment": at([{ slot: 1, err: null }]),
      "a commitment of its own": at([{ slot: 1, confirmationStatus: "final", err: null }]),
      "too few": at([]),
      "too many": at([null, null]),
      "no context": { value: [null] },
    },
  },
  {
    method: "getTransaction",
    ask: (node) => node.getTransaction("one"),
    answers: [null, LANDED, { ...LANDED, meta: null }, { ...LANDED, blockTime: null }],
    noAnswers: {
      "that leaves out whether it failed": { ...LANDED, meta: { ...META, err: undefined } },
      "a fee below zero": { ...LANDED, meta: { ...META, fee: -1 } },
      "no balances": { ...LANDED, meta: { err: null, fee: 1 } },
      "another encoding": { ...LANDED, transaction: ["AQ==", "base58"] },
      "taken apart": { ...LANDED, transaction: { signatures: [], message: {} } },
      nothing: undefined,
    },
  },
  {
    method: "getBlock",
    ask: (node) => node.getBlock(7),
    answers: [
      null,
      BLOCK,
      {
        ...BLOCK,
        transactions: [
          { transaction: { signatures: ["one"], accountKeys: [{ pubkey: ADDRESS }] }, meta: { err: null } },
        ],
      },
    ],
    noAnswers: {
      "no height": { ...BLOCK, blockHeight: null },
      "no transactions": { ...BLOCK, transactions: undefined },
      "no signature": {
        ...BLOCK,
        transactions: [{ transaction: { signatures: [], accountKeys: [] }, meta: null }],
      },
    },
  },
  {
    method: "getTokenAccountsByOwner",
    ask: (node) => node.getTokenAccountsByOwner(ADDRESS, { mint: ADDRESS }, "confirmed"),
    answers: [at([]), at([{ pubkey: ADDRESS, account: ACCOUNT }])],
    noAnswers: {
      "no account": at([{ pubkey: ADDRESS, account: null }]),
      "an address that is none": at([{ pubkey: "x", account: ACCOUNT }]),
    },
  },
  {
    method: "getBalance",
    ask: (node) => node.getBalance(ADDRESS, "confirmed"),
    // A validator for tests gives its first wallet 500 million SOL; the last one is 2^64 - 1, as a double.
    answers: [at(0), at(5_000), at(5e17), at(2 ** 64)],
    noAnswers: { "below zero": at(-5), "a fraction": at(0.5), words: at("5"), "no value": at(null) },
  },
  {
    method: "getAccountInfo",
    ask: (node) =>
      node.getAccountInfo(ADDRESS, { commitment: "confirmed", dataSlice: { offset: 0, length: 3 } }),
    answers: [at(null), at(ACCOUNT), at({ ...ACCOUNT, lamports: 5e17, rentEpoch: 2 ** 64 })],
    noAnswers: { "a fraction of a lamport": at({ ...ACCOUNT, lamports: 0.5 }) },
  },
  {
    method: "getRecentPrioritizationFees",
    ask: (node) => node.getRecentPrioritizationFees(),
    // Everybody who pays for it can write the greatest of prices into a block.
    answers: [[], [{ slot: 1, prioritizationFee: 2 ** 64 }]],
    noAnswers: { "a fraction": [{ slot: 1, prioritizationFee: 0.5 }], "no price": [{ slot: 1 }] },
  },
  {
    method: "getFeeForMessage",
    ask: (node) => node.getFeeForMessage(new Uint8Array(1), "confirmed"),
    answers: [at(5_000)],
    noAnswers: { "below zero": at(-5), "no value": { context: { slot: 1 } } },
  },
  {
    method: "getMinimumBalanceForRentExemption",
    ask: (node) => node.getMinimumBalanceForRentExemption(165, "confirmed"),
    answers: [0, 2_039_280],
    noAnswers: { nothing: null, "a fraction": 0.5 },
  },
  {
    method: "simulateTransaction",
    ask: (node) => node.simulateTransaction(new Uint8Array(1), { sigVerify: true }),
    answers: [at({ err: null, logs: null }), at({ err: "BlockhashNotFound", logs: ["a line"] })],
    noAnswers: {
      "that leaves out whether it failed": at({ logs: [] }),
      "logs in one text": at({ err: null, logs: "" }),
    },
  },
];

describe.each(CASES)("$method", ({ ask, answers, noAnswers }) => {
  test.each(answers.map((answer) => [JSON.stringify(answer), answer]))("takes %s", async (_, answer) => {
    await expect(ask(nodeThatAnswers(answer))).resolves.toBeDefined();
  });

  test.each(Object.entries(noAnswers))("E10 refuses an answer %s", async (_, answer) => {
    await expect(ask(nodeThatAnswers(answer))).rejects.toMatchObject({ kind: "garbled" });
  });
});

const messages: fc.Arbitrary<MessageV0> = fc
  .record({
    keys: fc.uniqueArray(fc.uint8Array({ minLength: 32, maxLength: 32 }), {
      minLength: 3,
      maxLength: 5,
      selector: String,
    }),
    data: fc.uint8Array({ maxLength: 40 }),
  })
  .map(
    ({ keys, data }) =>
      new MessageV0({
        header: { numRequiredSignatures: 2, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 1 },
        staticAccountKeys: keys.map((key) => new PublicKey(key)),
        recentBlockhash: bs58.encode(keys[0] ?? new Uint8Array(32)),
        compiledInstructions: [{ programIdIndex: 2, accountKeyIndexes: [0, 1], data }],
        addressTableLookups: [],
      }),
  );

test("a landed transaction is named by its first signature, and hashed by what its signatures are over", () => {
  fc.assert(
    fc.property(messages, fc.uint8Array({ minLength: 64, maxLength: 64 }), (message, signature) => {
      const bytes = new VersionedTransaction(message, [signature, new Uint8Array(64)]).serialize();
      expect(signatureOf(bytes)).toBe(bs58.encode(signature));
      expect(messageHashOf(bytes)).toBe(createHash("sha256").update(message.serialize()).digest("hex"));
      const keys = message.staticAccountKeys.map((key) => key.toBase58());
      expect(participantsOf(bytes)).toEqual({ accounts: keys, signers: keys.slice(0, 2) });
    }),
  );
});

test("of version 1, which web3.js cannot write, the signatures stand behind the message", () => {
  const message = Buffer.from([0x81, 2, 0, 1, ...Buffer.alloc(80, 5)]);
  const bytes = Buffer.concat([message, Buffer.alloc(64, 1), Buffer.alloc(64, 2)]);
  expect(signatureOf(bytes)).toBe(bs58.encode(Buffer.alloc(64, 1)));
  expect(messageHashOf(bytes)).toBe(createHash("sha256").update(message).digest("hex"));
});

test("N6: who signed a transaction of version 1 is read, also of one with a setting that nobody here knows", () => {
  const keys = [5, 6, 7].map((byte) => new PublicKey(new Uint8Array(32).fill(byte)));
  const names = keys.map((key) => key.toBase58());
  // Version, counts, the mask of settings, the blockhash, no instructions, three keys, the setting.
  const message = Buffer.from([
    ...[0x81, 2, 0, 1, 0, 0, 1, 0],
    ...new Uint8Array(32),
    ...[0, 3],
    ...keys.flatMap((key) => [...key.toBytes()]),
    ...[1, 2, 3, 4],
  ]);
  const signatures = Buffer.alloc(128, 1);
  const bytes = Buffer.concat([message, signatures]);
  expect(participantsOf(bytes)).toEqual({ accounts: names, signers: names.slice(0, 2) });
  const cutOff = Buffer.concat([message.subarray(0, 100), signatures]);
  expect(() => participantsOf(cutOff)).toThrow("wrong shape");
});

describe("bytes that a signature names", () => {
  const signers = [7, 8].map((seed) => Keypair.fromSeed(new Uint8Array(32).fill(seed)));
  const keys = signers.map(({ publicKey }) => publicKey.toBytes());
  const others = new Uint8Array(32).fill(9);
  const counts = { numRequiredSignatures: 2, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 1 };
  const first = new MessageV0({
    header: counts,
    staticAccountKeys: [...keys, others].map((key) => new PublicKey(key)),
    recentBlockhash: bs58.encode(others),
    compiledInstructions: [],
    addressTableLookups: [],
  }).serialize();
  // Version, counts, the mask of settings, the blockhash, no instructions, three keys.
  const later = Buffer.concat([
    Buffer.from([0x81, 2, 0, 1, 0, 0, 0, 0]),
    others,
    Buffer.from([0, 3]),
    ...keys,
    others,
  ]);
  const made = (message: Uint8Array): readonly Uint8Array[] =>
    signers.map(({ secretKey }) => sign(null, message, privateKeyOf(secretKey.slice(0, 32))));
  const FORMS = [
    [
      "version 0",
      first,
      (message: Uint8Array, all: readonly Uint8Array[]) => [Uint8Array.of(2), ...all, message],
    ],
    ["version 1", later, (message: Uint8Array, all: readonly Uint8Array[]) => [message, ...all]],
  ] as const;

  test.each(FORMS)(
    "M32: of %s each are what their signers signed, and of no other message",
    (_, message, form) => {
      const signatures = made(message);
      const [name = new Uint8Array()] = signatures;
      const bytes = Buffer.concat(form(message, signatures));
      expect(() => expectSigned(bytes, bs58.encode(name))).not.toThrow();
      expect(() => expectSigned(bytes, bs58.encode(others))).toThrow("wrong shape");
      const forged = Uint8Array.from(message);
      forged[20] = (forged[20] ?? 0) ^ 1;
      expect(() => expectSigned(Buffer.concat(form(forged, signatures)), bs58.encode(name))).toThrow(
        "wrong shape",
      );
    },
  );
});

test.each([
  ["nothing", []],
  ["no signature", [0, 1, 2, 3]],
  ["less than its signatures", [2, ...Buffer.alloc(64, 1)]],
  ["a later version that is cut off", [0x81, 2, 0]],
])("bytes that are no transaction name none: %s", (_, bytes) => {
  expect(() => signatureOf(Uint8Array.from(bytes))).toThrow("wrong shape");
});
