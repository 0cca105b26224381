/** Real programs behind an unmodified web3.js Connection, over both transports. */
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
  getAccount,
  getAssociatedTokenAddressSync,
} from "@solana/spl-token";
import {
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { describe, expect, test } from "vitest";
import type { LocalChain } from "paystate/local";
import { associatedTokenAddress } from "../../src/local/funding.ts";
import { connect, keyOf, rpc, signed, SOL, somebody, stillChain, transfer } from "./kit.ts";

const transports = [
  ["in this process", (chain: LocalChain) => Promise.resolve(connect(chain))],
  [
    "over HTTP",
    async (chain: LocalChain) =>
      new Connection((await chain.listen({ host: "127.0.0.1", port: 0 })).url, "confirmed"),
  ],
] as const;

describe.each(transports)("%s", (_, connectTo) => {
  test("a SOL transfer moves lamports, charges the fee and is described with its balances", async () => {
    const chain = await stillChain();
    const connection = await connectTo(chain);
    const alice = keyOf(chain.createWallet("alice", { lamports: 10n * SOL }));
    const recipient = somebody();
    chain.advance(1);

    const transaction = new Transaction({
      feePayer: alice.publicKey,
      ...(await connection.getLatestBlockhash()),
    });
    transaction.add(transfer(alice, recipient, SOL)).sign(alice);
    const signature = await connection.sendRawTransaction(transaction.serialize());
    chain.advance(1);

    expect(await connection.getBalance(recipient)).toBe(Number(SOL));
    expect(await connection.getBalance(alice.publicKey)).toBe(Number(9n * SOL) - 5000);
    const landed = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
    expect(landed?.meta).toMatchObject({
      err: null,
      fee: 5000,
      loadedAddresses: { writable: [], readonly: [] },
    });
    expect(landed?.meta?.preBalances).toEqual([Number(10n * SOL), 0, 1]);
    expect(landed?.meta?.postBalances).toEqual([Number(9n * SOL) - 5000, Number(SOL), 1]);
    expect(landed?.transaction.message.staticAccountKeys.map(String)).toContain(recipient.toBase58());
    expect(landed?.blockTime).toBe(await connection.getBlockTime(landed?.slot ?? 0));
    const parsed = await connection.getParsedTransaction(signature, { maxSupportedTransactionVersion: 0 });
    expect(parsed?.transaction.message.accountKeys[0]).toMatchObject({ signer: true, writable: true });
    const signatures = await connection.getSignaturesForAddress(recipient);
    expect(signatures.map((found) => found.signature)).toEqual([signature]);
  });

  test("a token transfer creates the recipient's account and reports token balances", async () => {
    const chain = await stillChain();
    const connection = await connectTo(chain);
    const alice = keyOf(chain.createWallet("alice", { lamports: SOL, usdc: 25_000_000n, usdt: 1n }));
    const recipient = somebody();
    const mint = new PublicKey(chain.mints.USDC);
    const source = getAssociatedTokenAddressSync(mint, alice.publicKey);
    const destination = getAssociatedTokenAddressSync(mint, recipient);
    chain.advance(1);

    const { blockhash } = await connection.getLatestBlockhash();
    const signature = await connection.sendTransaction(
      signed(
        blockhash,
        [
          createAssociatedTokenAccountIdempotentInstruction(alice.publicKey, destination, recipient, mint),
          createTransferCheckedInstruction(source, mint, destination, alice.publicKey, 4_000_000n, 6),
        ],
        [alice],
      ),
    );
    chain.advance(1);

    expect((await getAccount(connection, destination, "confirmed")).amount).toBe(4_000_000n);
    expect((await connection.getTokenAccountBalance(source)).value.uiAmountString).toBe("21");
    expect((await connection.getTokenSupply(mint)).value.amount).toBe("25000000");
    expect(associatedTokenAddress(recipient.toBase58(), chain.mints.USDC)).toBe(destination.toBase58());

    const landed = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
    const held = (balances: TokenBalances): unknown =>
      Object.fromEntries((balances ?? []).map(({ owner, uiTokenAmount }) => [owner, uiTokenAmount.amount]));
    expect(held(landed?.meta?.preTokenBalances)).toEqual({ [alice.publicKey.toBase58()]: "25000000" });
    expect(held(landed?.meta?.postTokenBalances)).toEqual({
      [alice.publicKey.toBase58()]: "21000000",
      [recipient.toBase58()]: "4000000",
    });
    expect(landed?.meta?.innerInstructions?.[0]?.instructions.length).toBeGreaterThan(0);
    const parsed = await connection.getParsedTransaction(signature, { maxSupportedTransactionVersion: 0 });
    expect(parsed?.meta?.innerInstructions?.[0]?.index).toBe(0);
    const accounts = await connection.getParsedTokenAccountsByOwner(alice.publicKey, { mint });
    expect(accounts.value[0]?.account.data.parsed).toMatchObject({
      info: { tokenAmount: { amount: "21000000" } },
    });
  });

  test("a v0 transaction reaches accounts through a lookup table of the real program", async () => {
    const chain = await stillChain();
    const connection = await connectTo(chain);
    const alice = keyOf(chain.createWallet("alice", { lamports: 10n * SOL }));
    const recipient = somebody();
    chain.advance(40);
    const recentSlot = await connection.getSlot("finalized");
    const [create, table] = AddressLookupTableProgram.createLookupTable({
      authority: alice.publicKey,
      payer: alice.publicKey,
      recentSlot,
    });
    const extend = AddressLookupTableProgram.extendLookupTable({
      lookupTable: table,
      authority: alice.publicKey,
      payer: alice.publicKey,
      addresses: [recipient],
    });
    const first = await connection.getLatestBlockhash();
    await connection.sendTransaction(signed(first.blockhash, [create, extend], [alice]));
    chain.advance(2);

    const { value } = await connection.getAddressLookupTable(table);
    if (value === null) throw new Error("The lookup table was not created.");
    const { blockhash } = await connection.getLatestBlockhash();
    const message = new TransactionMessage({
      payerKey: alice.publicKey,
      recentBlockhash: blockhash,
      instructions: [transfer(alice, recipient, SOL)],
    }).compileToV0Message([value]);
    const transaction = new VersionedTransaction(message);
    transaction.sign([alice]);
    const signature = await connection.sendTransaction(transaction);
    chain.advance(1);

    expect(await connection.getBalance(recipient)).toBe(Number(SOL));
    const landed = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
    expect(landed?.version).toBe(0);
    expect(landed?.meta?.loadedAddresses?.writable.map(String)).toEqual([recipient.toBase58()]);
    expect((await connection.getSignaturesForAddress(recipient)).map((found) => found.signature)).toEqual([
      signature,
    ]);
    const { error } = await rpc(chain, "getTransaction", signature, { commitment: "confirmed" });
    expect(error?.code).toBe(-32015);
    expect(error?.message).toContain("Transaction version (0) is not supported");
  });

  test("an airdrop is a transaction of the faucet", async () => {
    const chain = await stillChain();
    const connection = await connectTo(chain);
    const recipient = somebody();
    const first = await connection.requestAirdrop(recipient, 3_000_000);
    const second = await connection.requestAirdrop(recipient, 3_000_000);
    chain.advance(1);
    expect(first).not.toBe(second);
    expect(await connection.getBalance(recipient)).toBe(6_000_000);
  });
});

type TokenBalances = readonly { owner?: string; uiTokenAmount: { amount: string } }[] | null | undefined;

test("a transaction whose instruction fails without preflight lands with its error and costs its fee", async () => {
  const chain = await stillChain();
  const connection = connect(chain);
  const alice = keyOf(chain.createWallet("alice", { lamports: SOL }));
  const { blockhash } = await connection.getLatestBlockhash("processed");
  const transaction = signed(blockhash, [transfer(alice, somebody(), 5n * SOL)], [alice]);
  const signature = await connection.sendTransaction(transaction, { skipPreflight: true });
  chain.advance(1);
  const [status] = (await connection.getSignatureStatuses([signature])).value;
  expect(status?.err).toEqual({ InstructionError: [0, { Custom: 1 }] });
  expect(await connection.getBalance(alice.publicKey)).toBe(Number(SOL) - 5000);
});

test("getFeeForMessage answers what the transaction is then charged", async () => {
  const chain = await stillChain();
  const connection = connect(chain, "processed");
  const alice = keyOf(chain.createWallet("alice", { lamports: 100n * SOL }));
  const second = Keypair.generate();
  const { blockhash } = await connection.getLatestBlockhash();
  const pay = transfer(alice, somebody(), SOL);
  const mint = new PublicKey(chain.mints.USDC);
  const destination = getAssociatedTokenAddressSync(mint, second.publicKey);
  const create = createAssociatedTokenAccountIdempotentInstruction(
    alice.publicKey,
    destination,
    second.publicKey,
    mint,
  );
  const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_234_567 });
  const limit = ComputeBudgetProgram.setComputeUnitLimit({ units: 77_777 });
  const assign = SystemProgram.assign({
    accountPubkey: second.publicKey,
    programId: SystemProgram.programId,
  });
  for (const transaction of [
    signed(blockhash, [pay], [alice]),
    signed(blockhash, [pay, assign], [alice, second]),
    signed(blockhash, [price, pay], [alice]),
    signed(blockhash, [price, create], [alice]),
    signed(blockhash, [price, limit, pay], [alice]),
  ]) {
    const before = await connection.getBalance(alice.publicKey);
    const { value: fee } = await connection.getFeeForMessage(transaction.message);
    const signature = await connection.sendTransaction(transaction);
    chain.advance(1);
    const confirmed = await connection.getTransaction(signature, {
      commitment: "confirmed",
      maxSupportedTransactionVersion: 0,
    });
    expect(confirmed?.meta?.fee).toBe(fee);
    expect(before - (await connection.getBalance(alice.publicKey))).toBeGreaterThanOrEqual(fee ?? Infinity);
  }
});

test("a wallet that is founded frozen has token accounts from which nothing moves", async () => {
  const chain = await stillChain();
  const funds = { lamports: SOL, usdc: 5n, usdt: 0n, frozen: true };
  const frozen = chain.createWallet("frozen", funds);
  const connection = connect(chain);
  chain.advance(1);
  for (const mint of Object.values(chain.mints)) {
    const account = new PublicKey(associatedTokenAddress(frozen.address, mint));
    expect((await getAccount(connection, account)).isFrozen).toBe(true);
  }
  expect(() => chain.fund(frozen.address, { usdc: 1n })).toThrow("could not fund");
  expect(chain.createWallet("frozen", funds)).toEqual(frozen);
});
