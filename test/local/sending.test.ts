/** What a node refuses, in the codes and words of agave. */
import { type VersionedTransaction, SendTransactionError } from "@solana/web3.js";
import { expect, test } from "vitest";
import { connect, keyOf, rpc, signed, SOL, somebody, stillChain, transfer } from "./kit.ts";

function base64(transaction: VersionedTransaction): string {
  return Buffer.from(transaction.serialize()).toString("base64");
}

const AT_PROCESSED = { encoding: "base64", preflightCommitment: "processed" } as const;

test("insufficient funds are found by preflight, with logs, and nothing is charged", async () => {
  const chain = await stillChain();
  const connection = connect(chain, "processed");
  const alice = keyOf(chain.createWallet("alice", { lamports: SOL }));
  const { blockhash } = await connection.getLatestBlockhash();
  const transaction = signed(blockhash, [transfer(alice, somebody(), 2n * SOL)], [alice]);

  const error: unknown = await connection.sendTransaction(transaction).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(SendTransactionError);
  expect((error as SendTransactionError).logs?.join("\n")).toContain("insufficient lamports");
  expect((await rpc(chain, "sendTransaction", base64(transaction), AT_PROCESSED)).error).toMatchObject({
    code: -32002,
    message: "Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1",
    data: { err: { InstructionError: [0, { Custom: 1 }] }, unitsConsumed: 150 },
  });
  expect(await connection.getBalance(alice.publicKey)).toBe(Number(SOL));
});

test("an unknown fee payer, and a remainder below the rent minimum, are named", async () => {
  const chain = await stillChain();
  const connection = connect(chain, "processed");
  const alice = keyOf(chain.createWallet("alice", { lamports: SOL }));
  const { blockhash } = await connection.getLatestBlockhash();
  const err = async (transaction: VersionedTransaction): Promise<unknown> =>
    (await connection.simulateTransaction(transaction, { sigVerify: false })).value.err;
  const stranger = keyOf({
    ...chain.faucet,
    secretKey: (await stillChain({ seed: "other" })).faucet.secretKey,
  });
  expect(await err(signed(blockhash, [transfer(stranger, somebody(), 1n)], [stranger]))).toBe(
    "AccountNotFound",
  );
  expect(await err(signed(blockhash, [transfer(alice, somebody(), 1n)], [alice]))).toEqual({
    InsufficientFundsForRent: { account_index: 1 },
  });
});

test("a wrong signature is refused with -32003, and without preflight the transaction never lands", async () => {
  const chain = await stillChain();
  const connection = connect(chain, "processed");
  const alice = keyOf(chain.createWallet("alice", { lamports: SOL }));
  const recipient = somebody();
  const { blockhash } = await connection.getLatestBlockhash();
  const transaction = signed(blockhash, [transfer(alice, recipient, SOL / 2n)], [alice]);
  transaction.signatures[0]?.set([1, 2, 3]);
  const encoded = base64(transaction);
  expect((await rpc(chain, "sendTransaction", encoded, AT_PROCESSED)).error?.code).toBe(-32003);
  await rpc(chain, "sendTransaction", encoded, { ...AT_PROCESSED, skipPreflight: true });
  expect(await connection.getBalance(recipient)).toBe(0);
  const verified = { encoding: "base64", sigVerify: true, commitment: "processed" };
  expect((await rpc(chain, "simulateTransaction", encoded, verified)).error?.code).toBe(-32003);
});

test("a simulation changes nothing and shows the accounts it would leave", async () => {
  const chain = await stillChain();
  const connection = connect(chain, "processed");
  const alice = keyOf(chain.createWallet("alice", { lamports: SOL }));
  const recipient = somebody();
  const transaction = signed(
    "11111111111111111111111111111111",
    [transfer(alice, recipient, SOL / 2n)],
    [alice],
  );
  const { value } = await connection.simulateTransaction(transaction, {
    replaceRecentBlockhash: true,
    accounts: { encoding: "base64", addresses: [recipient.toBase58()] },
  });
  expect(value.err).toBeNull();
  expect(value.accounts?.[0]?.lamports).toBe(Number(SOL / 2n));
  expect(await connection.getBalance(recipient)).toBe(0);
  const both = { encoding: "base64", sigVerify: true, replaceRecentBlockhash: true };
  expect((await rpc(chain, "simulateTransaction", base64(transaction), both)).error?.code).toBe(-32602);
  const expired = await connection.simulateTransaction(transaction);
  expect(expired.value.err).toBe("BlockhashNotFound");
});

test("limits and unknown things are answered with agave's codes", async () => {
  const chain = await stillChain();
  const code = async (method: string, ...params: unknown[]): Promise<number | undefined> =>
    (await rpc(chain, method, ...params)).error?.code;
  const address = chain.faucet.address;
  expect(await code("noSuchMethod")).toBe(-32601);
  expect(await code("getBalance", "not an address")).toBe(-32602);
  expect(await code("getBalance", "1".repeat(50_000))).toBe(-32602);
  expect(await code("getBalance", address, { commitment: "certain" })).toBe(-32602);
  expect(await code("getBalance", address, { minContextSlot: chain.slot() + 1 })).toBe(-32016);
  expect(await code("getMultipleAccounts", Array(101).fill(address))).toBe(-32602);
  expect(await code("getSignatureStatuses", Array(257).fill("1".repeat(64)))).toBe(-32602);
  expect(await code("getTokenAccountsByOwner", address, { programId: address })).toBe(-32602);
  expect(await code("getTokenAccountsByOwner", address, { mint: address })).toBe(-32602);
  expect(await code("getTokenSupply", address)).toBe(-32602);
});

test("a batch is answered in order, and a body that is no JSON with -32700", async () => {
  const chain = await stillChain();
  const post = async (body: string): Promise<unknown> =>
    (await chain.fetch("http://local.invalid", { method: "POST", body })).json();
  const batch = ["getHealth", "nothing", "getGenesisHash"].map((method, id) => ({
    jsonrpc: "2.0",
    id,
    method,
  }));
  expect(await post(JSON.stringify(batch))).toMatchObject([
    { id: 0, result: "ok" },
    { id: 1, error: { code: -32601 } },
    { id: 2, result: chain.genesisHash },
  ]);
  expect(await post("[]")).toMatchObject({ error: { code: -32600 } });
  expect(await post("{")).toMatchObject({ error: { code: -32700 } });
  expect(await post("null")).toMatchObject({ error: { code: -32600 } });
});

test("what is no call in a batch is refused alone, notifications get no answer, and too many calls get HTTP 413", async () => {
  const chain = await stillChain();
  const post = (batch: unknown): Promise<Response> =>
    chain.fetch("http://local.invalid", { method: "POST", body: JSON.stringify(batch) });
  const call = { jsonrpc: "2.0", id: "one", method: "getHealth" };
  const notification = { jsonrpc: "2.0", method: "getHealth" };
  const refused = { id: null, error: { code: -32600 } };
  const mixed = await post([1, null, [call], {}, notification, call]);
  expect(await mixed.json()).toMatchObject([refused, refused, refused, refused, { id: "one", result: "ok" }]);
  const unasked = await post([notification, notification]);
  expect([unasked.status, await unasked.text()]).toEqual([200, ""]);
  const calls = (length: number): unknown => Array.from({ length }, (_, id) => ({ ...call, id }));
  expect(await (await post(calls(500))).json()).toHaveLength(500);
  expect((await post(calls(501))).status).toBe(413);
});
