/** How long a blockhash is good for, and that a message is executed once. */
import { expect, test } from "vitest";
import { connect, keyOf, rpc, signed, SOL, somebody, stillChain, transfer } from "./kit.ts";

test("a block height is not a slot", async () => {
  const chain = await stillChain();
  expect(chain.blockHeight()).toBeLessThan(chain.slot());
  expect(await connect(chain, "processed").getBlockHeight()).toBe(chain.blockHeight());
});

test.each([
  [0, true],
  [1, true],
  [2, false],
])("a transaction sent at block height L+%i lands: %s", async (beyond, lands) => {
  const chain = await stillChain();
  const connection = connect(chain, "processed");
  const alice = keyOf(chain.createWallet("alice", { lamports: SOL }));
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
  const recipient = somebody();
  chain.advance(lastValidBlockHeight + beyond - chain.blockHeight());

  expect((await connection.isBlockhashValid(blockhash)).value).toBe(beyond === 0);
  const transaction = signed(blockhash, [transfer(alice, recipient, SOL / 2n)], [alice]);
  await connection.sendTransaction(transaction, { skipPreflight: true });
  expect(await connection.getBalance(recipient)).toBe(lands ? Number(SOL / 2n) : 0);
});

test("preflight refuses an expired blockhash and one that the asked-for commitment does not know yet", async () => {
  const chain = await stillChain();
  const connection = connect(chain, "processed");
  const alice = keyOf(chain.createWallet("alice", { lamports: SOL }));
  chain.advance(40);
  const { blockhash } = await connection.getLatestBlockhash();
  const bytes = signed(blockhash, [transfer(alice, somebody(), SOL / 2n)], [alice]).serialize();
  const send = (preflightCommitment: "finalized" | "confirmed"): Promise<string> =>
    connection.sendRawTransaction(bytes, { preflightCommitment });
  await expect(send("finalized")).rejects.toThrow("Blockhash not found");
  chain.advance(200);
  await expect(send("confirmed")).rejects.toThrow("Transaction simulation failed: Blockhash not found");
});

test("a message is executed once, and preflight says that it has already been processed", async () => {
  const chain = await stillChain();
  const connection = connect(chain);
  const alice = keyOf(chain.createWallet("alice", { lamports: SOL }));
  chain.advance(1);
  const recipient = somebody();
  const { blockhash } = await connection.getLatestBlockhash();
  const bytes = signed(blockhash, [transfer(alice, recipient, SOL / 4n)], [alice]).serialize();
  const signature = await connection.sendRawTransaction(bytes);
  chain.advance(1);

  const encoded = Buffer.from(bytes).toString("base64");
  const { error } = await rpc(chain, "sendTransaction", encoded, {
    encoding: "base64",
    preflightCommitment: "confirmed",
  });
  expect(error).toMatchObject({
    code: -32002,
    message: "Transaction simulation failed: This transaction has already been processed",
    data: { err: "AlreadyProcessed", logs: [] },
  });
  expect(await connection.sendRawTransaction(bytes, { skipPreflight: true })).toBe(signature);
  chain.advance(1);
  expect(await connection.getBalance(recipient)).toBe(Number(SOL / 4n));
});
