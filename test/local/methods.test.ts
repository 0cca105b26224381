/** The small print of the methods: filters, encodings, slices, absent things, limits. */
import { PublicKey } from "@solana/web3.js";
import { TOKEN_PROGRAM_ID } from "@solana/spl-token";
import { expect, test } from "vitest";
import type { LocalChain } from "paystate/local";
import { associatedTokenAddress } from "../../src/local/funding.ts";
import { connect, keyOf, rpc, signed, SOL, somebody, stillChain, transfer } from "./kit.ts";

async function codeOf(chain: LocalChain, method: string, ...params: unknown[]): Promise<number | undefined> {
  return (await rpc(chain, method, ...params)).error?.code;
}

test("a program's accounts are found by size and by bytes, in any slice and encoding", async () => {
  const chain = await stillChain();
  const connection = connect(chain, "processed");
  const [alice] = [
    chain.createWallet("alice", { usdc: 5n }),
    chain.createWallet("bob", { usdc: 6n, usdt: 7n }),
  ];
  const mint = new PublicKey(chain.mints.USDC);
  const find = (filters: object[], more: object = {}) =>
    connection.getProgramAccounts(TOKEN_PROGRAM_ID, { filters: filters as never, ...more });
  const ofUsdc = { memcmp: { offset: 0, bytes: mint.toBase58() } };
  // USDC, USDT and wrapped SOL.
  expect(await find([{ dataSize: 82 }])).toHaveLength(3);
  expect(await find([{ dataSize: 165 }])).toHaveLength(3);
  expect(await find([{ dataSize: 165 }, ofUsdc])).toHaveLength(2);
  expect(await find([{ dataSize: 165 }, ofUsdc, { dataSize: 82 }])).toEqual([]);
  const ofAlice = { memcmp: { offset: 32, bytes: alice?.address } };
  const [held] = await find([ofAlice], { dataSlice: { offset: 64, length: 8 } });
  expect(held?.pubkey.toBase58()).toBe(associatedTokenAddress(alice?.address ?? "", chain.mints.USDC));
  expect(held?.account.data).toEqual(Buffer.from([5, 0, 0, 0, 0, 0, 0, 0]));
  const inBase64 = { memcmp: { offset: 64, bytes: "BQAAAAAAAAA=", encoding: "base64" } };
  expect(await find([inBase64])).toHaveLength(1);
  const withContext = await connection.getProgramAccounts(TOKEN_PROGRAM_ID, { withContext: true });
  expect(withContext).toMatchObject({ context: { slot: chain.slot() } });
  expect(await connection.getParsedProgramAccounts(TOKEN_PROGRAM_ID, { filters: [ofUsdc] })).toMatchObject([
    { account: { data: { program: "spl-token", parsed: { type: "account" } } } },
    { account: { data: { program: "spl-token", parsed: { type: "account" } } } },
  ]);
  const program = TOKEN_PROGRAM_ID.toBase58();
  for (const filters of [
    "all",
    Array.from({ length: 5 }, () => ({ dataSize: 1 })),
    [{}],
    [null],
    [{ dataSize: -1 }],
    [{ memcmp: { offset: 0, bytes: "0OIl" } }],
    [{ memcmp: { offset: "0", bytes: "1" } }],
  ]) {
    expect(await codeOf(chain, "getProgramAccounts", program, { filters }), JSON.stringify(filters)).toBe(
      -32602,
    );
  }
  expect(
    await codeOf(chain, "getProgramAccounts", program, { encoding: "base58", commitment: "processed" }),
  ).toBe(-32600);
});

test("absent things are null or nothing, where they are not an error", async () => {
  const chain = await stillChain();
  const nobody = somebody().toBase58();
  const result = async (method: string, ...params: unknown[]): Promise<unknown> =>
    (await rpc(chain, method, ...params)).result;
  expect(await result("getBalance", nobody)).toMatchObject({ value: 0 });
  expect(await result("getAccountInfo", nobody)).toMatchObject({ value: null });
  expect(await result("getMultipleAccounts", [nobody, chain.faucet.address])).toMatchObject({
    value: [null, { lamports: expect.any(Number) as number }],
  });
  expect(await result("getTokenAccountsByOwner", nobody, { mint: chain.mints.USDC })).toMatchObject({
    value: [],
  });
  expect(await result("getSignaturesForAddress", nobody)).toEqual([]);
  expect(await result("getTransaction", "1".repeat(64))).toBeNull();
  expect(await result("getSignatureStatuses", ["1".repeat(64)])).toMatchObject({ value: [null] });
  expect(await codeOf(chain, "getTokenAccountBalance", nobody)).toBe(-32602);
  expect(await codeOf(chain, "getTokenAccountBalance", chain.mints.USDC)).toBe(-32602);
  expect(await codeOf(chain, "getTokenSupply", nobody)).toBe(-32602);
  expect(await codeOf(chain, "getBlockTime", chain.slot() + 1)).toBe(-32004);
  expect(await codeOf(chain, "getBlock", 1)).toBe(-32004);
});

test("a fee is told for messages whose blockhash is alive, and null for others", async () => {
  const chain = await stillChain();
  const connection = connect(chain, "processed");
  const alice = keyOf(chain.createWallet("alice", { lamports: SOL }));
  const feeWith = async (blockhash: string): Promise<number | null> => {
    const { message } = signed(blockhash, [transfer(alice, somebody(), 1n)], [alice]);
    return (await connection.getFeeForMessage(message)).value;
  };
  const { blockhash } = await connection.getLatestBlockhash();
  expect(await feeWith(blockhash)).toBe(5000);
  chain.advance(151);
  expect(await feeWith(blockhash)).toBeNull();
  expect(await codeOf(chain, "getFeeForMessage", "AAAA")).toBe(-32602);
});

test("a node that is behind what the caller has seen does not take a transaction, preflight or not", async () => {
  const chain = await stillChain();
  const alice = keyOf(chain.createWallet("alice", { lamports: SOL }));
  const { blockhash } = await connect(chain, "processed").getLatestBlockhash();
  const transaction = signed(blockhash, [transfer(alice, somebody(), SOL / 2n)], [alice]);
  const bytes = Buffer.from(transaction.serialize()).toString("base64");
  for (const skipPreflight of [false, true]) {
    const options = { encoding: "base64", skipPreflight, minContextSlot: chain.slot() + 1 };
    expect(await codeOf(chain, "sendTransaction", bytes, options)).toBe(-32016);
  }
  expect(await connect(chain, "processed").getBalance(alice.publicKey)).toBe(Number(SOL));
});

test("limits are agave's", async () => {
  const chain = await stillChain();
  const many = (count: number): string[] => Array<string>(count).fill(chain.faucet.address);
  expect(await codeOf(chain, "getRecentPrioritizationFees", many(128))).toBeUndefined();
  expect(await codeOf(chain, "getRecentPrioritizationFees", many(129))).toBe(-32602);
  expect(await codeOf(chain, "getMultipleAccounts", many(100))).toBeUndefined();
  expect(await codeOf(chain, "getSignatureStatuses", Array(256).fill("1".repeat(64)))).toBeUndefined();
  expect(await codeOf(chain, "getBlocks", 1000, 1_000_000)).toBeUndefined();
  expect(await codeOf(chain, "getMinimumBalanceForRentExemption", 10 * 1024 * 1024 + 1)).toBe(-32602);
});

test("a call over HTTP without an id is carried out and not answered", async () => {
  const chain = await stillChain();
  const recipient = somebody();
  const post = async (body: unknown): Promise<string> =>
    (await chain.fetch("http://local.invalid", { method: "POST", body: JSON.stringify(body) })).text();
  const airdrop = { jsonrpc: "2.0", method: "requestAirdrop", params: [recipient.toBase58(), 2_000_000] };
  expect(await post(airdrop)).toBe("");
  expect(await post([airdrop, airdrop])).toBe("");
  expect(JSON.parse(await post([airdrop, { jsonrpc: "2.0", id: 1, method: "getHealth" }]))).toEqual([
    { jsonrpc: "2.0", id: 1, result: "ok" },
  ]);
  expect(await connect(chain, "processed").getBalance(recipient)).toBe(8_000_000);
});
