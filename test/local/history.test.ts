/** What a node tells about the past: memos, instructions, signatures page by page, blocks. */
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { PublicKey, SystemProgram, TransactionInstruction } from "@solana/web3.js";
import bs58 from "bs58";
import { expect, test } from "vitest";
import type { LocalChain } from "paystate/local";
import { connect, keyOf, rpc, signed, SOL, somebody, stillChain, transfer } from "./kit.ts";

const MEMO = new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");

function memo(data: string | Uint8Array): TransactionInstruction {
  return new TransactionInstruction({ programId: MEMO, keys: [], data: Buffer.from(data) });
}

/** Alice, rich, and a way to have her instructions executed and confirmed. */
async function alicesChain() {
  const chain = await stillChain();
  const connection = connect(chain);
  const alice = keyOf(chain.createWallet("alice", { lamports: 100n * SOL, usdc: 50_000_000n }));
  const run = async (...instructions: TransactionInstruction[]): Promise<string> => {
    chain.advance(1);
    const { blockhash } = await connection.getLatestBlockhash();
    const signature = await connection.sendTransaction(signed(blockhash, instructions, [alice]), {
      skipPreflight: true,
    });
    chain.advance(1);
    return signature;
  };
  return { chain, connection, alice, run };
}

async function memoOf(chain: LocalChain, signature: string, address: string): Promise<unknown> {
  const { result } = await rpc(chain, "getSignaturesForAddress", address, { commitment: "confirmed" });
  return (result as { signature: string; memo: unknown }[]).find((found) => found.signature === signature)
    ?.memo;
}

test("memos stand beside signatures with their length in bytes, all of a transaction, readable or not", async () => {
  const { chain, alice, run } = await alicesChain();
  const recipient = somebody();
  const pay = transfer(alice, recipient, SOL);
  const address = alice.publicKey.toBase58();
  const memoAfter = async (...memos: TransactionInstruction[]): Promise<unknown> =>
    memoOf(chain, await run(pay, ...memos), address);
  expect(await memoAfter()).toBeNull();
  expect(await memoAfter(memo("Grüße"))).toBe("[7] Grüße");
  expect(await memoAfter(memo("one"), memo("two"))).toBe("[3] one; [3] two");
  expect(await memoAfter(memo(Uint8Array.of(0xff, 0xfe)))).toBe("[2] (unparseable)");
});

test("parsed instructions, inner ones too, name their program, accounts and bytes", async () => {
  const { chain, connection, alice, run } = await alicesChain();
  const bob = somebody();
  const mint = new PublicKey(chain.mints.USDC);
  const [from, to] = [alice.publicKey, bob].map((owner) => getAssociatedTokenAddressSync(mint, owner));
  if (from === undefined || to === undefined) throw new Error("Two token accounts were expected.");
  const instructions = [
    transfer(alice, bob, SOL),
    createAssociatedTokenAccountIdempotentInstruction(alice.publicKey, to, bob, mint),
    createTransferCheckedInstruction(from, mint, to, alice.publicKey, 4_500_000n, 6),
    memo("thanks"),
  ];
  const signature = await run(...instructions);
  const landed = await connection.getParsedTransaction(signature, { maxSupportedTransactionVersion: 0 });
  expect(landed?.transaction.message.instructions).toEqual(
    instructions.map(({ programId, keys, data }) => ({
      programId,
      accounts: keys.map(({ pubkey }) => pubkey),
      data: bs58.encode(data),
      stackHeight: 1,
    })),
  );
  const [made] = landed?.meta?.innerInstructions ?? [];
  expect(made?.index).toBe(1);
  expect(made?.instructions.map(({ programId }) => programId)).toEqual([
    TOKEN_PROGRAM_ID,
    SystemProgram.programId,
    TOKEN_PROGRAM_ID,
    TOKEN_PROGRAM_ID,
  ]);
  expect(made?.instructions[1]).toMatchObject({ accounts: [alice.publicKey, to], stackHeight: 2 });
});

test("signatures come page by page, newest first; before an unknown one there are none", async () => {
  const { chain, connection, alice, run } = await alicesChain();
  const paid: string[] = [];
  for (let count = 0; count < 5; count += 1) paid.push(await run(transfer(alice, somebody(), SOL)));
  const newestFirst = paid.toReversed();
  const page = async (options: object): Promise<string[]> =>
    (await connection.getSignaturesForAddress(alice.publicKey, options)).map(({ signature }) => signature);
  expect(await page({ limit: 2 })).toEqual(newestFirst.slice(0, 2));
  expect(await page({ limit: 2, before: newestFirst[1] as string })).toEqual(newestFirst.slice(2, 4));
  expect(await page({ until: newestFirst[2] as string })).toEqual(newestFirst.slice(0, 2));
  const unknown = "1".repeat(64);
  expect(await page({ before: unknown })).toEqual([]);
  expect(await page({ until: unknown, limit: 5 })).toEqual(newestFirst);
  const address = alice.publicKey.toBase58();
  for (const limit of [0, 1001]) {
    expect((await rpc(chain, "getSignaturesForAddress", address, { limit })).error?.code).toBe(-32602);
  }
  for (const method of ["getSignaturesForAddress", "getTransaction"]) {
    const target = method === "getTransaction" ? paid[0] : address;
    expect((await rpc(chain, method, target, { commitment: "processed" })).error).toEqual({
      code: -32602,
      message: "Method does not support commitment below `confirmed`",
    });
  }
});

test("a block is told with as much detail as was asked for", async () => {
  const { chain, connection, alice, run } = await alicesChain();
  const recipient = somebody();
  const signature = await run(transfer(alice, recipient, SOL), memo("hi"));
  const slot = (await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 }))?.slot ?? 0;
  const block = async (options: object): Promise<Record<string, unknown>> => {
    const config = { commitment: "confirmed", maxSupportedTransactionVersion: 0, ...options };
    return (await rpc(chain, "getBlock", slot, config)).result as Record<string, unknown>;
  };
  expect((await block({ transactionDetails: "signatures" }))["signatures"]).toEqual([signature]);
  expect(await block({ transactionDetails: "none", rewards: false })).not.toHaveProperty("transactions");
  expect((await block({ transactionDetails: "accounts" }))["transactions"]).toMatchObject([
    {
      transaction: {
        signatures: [signature],
        accountKeys: [
          { pubkey: alice.publicKey.toBase58(), signer: true, writable: true, source: "transaction" },
          { pubkey: recipient.toBase58(), signer: false, writable: true, source: "transaction" },
          { signer: false, writable: false },
          { signer: false, writable: false },
        ],
      },
      meta: { err: null, fee: 5000, preTokenBalances: [] },
      version: 0,
    },
  ]);
  expect((await block({ encoding: "jsonParsed" }))["transactions"]).toMatchObject([
    {
      transaction: {
        message: {
          instructions: [
            { programId: SystemProgram.programId.toBase58() },
            { data: bs58.encode(Buffer.from("hi")) },
          ],
        },
      },
    },
  ]);
  const parsed = await connection.getParsedBlock(slot, { maxSupportedTransactionVersion: 0 });
  expect(parsed.transactions).toHaveLength(1);
  expect((await rpc(chain, "getBlock", slot, { commitment: "confirmed" })).error?.code).toBe(-32015);
  expect((await rpc(chain, "getBlock", chain.slot() + 1)).error?.code).toBe(-32004);
  expect((await rpc(chain, "getBlocks", 1000, 1001, { commitment: "processed" })).error?.code).toBe(-32602);
  expect((await rpc(chain, "getBlocks", 1002, 1001)).result).toEqual([]);
});

test("what is told of a transaction stays the same when hundreds have landed after it, and after a fork", async () => {
  const { chain, alice, run } = await alicesChain();
  const address = alice.publicKey.toBase58();
  const first = await run(transfer(alice, somebody(), SOL), memo("first"));
  const told = async (signature: string): Promise<unknown[]> => {
    const config = { commitment: "confirmed", encoding: "json", maxSupportedTransactionVersion: 0 };
    const { result: whole } = await rpc(chain, "getTransaction", signature, config);
    const { slot } = whole as { readonly slot: number };
    const { result: block } = await rpc(chain, "getBlock", slot, config);
    return [whole, block, await memoOf(chain, signature, address)];
  };
  const before = await told(first);
  expect(before[2]).toBe("[5] first");
  for (let n = 0; n < 600; n++) chain.fund(address, { usdc: BigInt(n + 1) });
  expect(await told(first)).toEqual(before);

  chain.advance(1);
  const fork = chain.slot();
  const lost = await run(transfer(alice, somebody(), SOL), memo("lost"));
  chain.rollback(fork);
  const next = await run(transfer(alice, somebody(), 2n * SOL), memo("next"));
  const { result } = await rpc(chain, "getTransaction", lost, { commitment: "confirmed" });
  expect(result).toBeNull();
  expect((await told(next))[2]).toBe("[4] next");
  expect(await told(first)).toEqual(before);
});
