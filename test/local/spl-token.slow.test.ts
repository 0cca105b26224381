/** The helpers of @solana/spl-token, which send, subscribe and wait, run unmodified against the chain. */
import {
  approve,
  burn,
  closeAccount,
  createMint,
  createMultisig,
  createWrappedNativeAccount,
  freezeAccount,
  getAccount,
  getMint,
  getMultisig,
  getOrCreateAssociatedTokenAccount,
  mintTo,
  mintToChecked,
  revoke,
  setAuthority,
  AuthorityType,
  thawAccount,
  transfer,
  transferChecked,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { Keypair, type PublicKey, SendTransactionError } from "@solana/web3.js";
import { describe, expect, test } from "vitest";
import { keyOf, rpc, SOL } from "./kit.ts";
import { connectOverPort, livingChain } from "./sockets.ts";

async function livingWith(program: PublicKey) {
  const chain = await livingChain();
  const connection = await connectOverPort(chain);
  const [payer, bob] = ["payer", "bob"].map((name) =>
    keyOf(chain.createWallet(name, { lamports: 10n * SOL })),
  );
  if (payer === undefined || bob === undefined) throw new Error("Two wallets were expected.");
  chain.advance(2);
  const account = async (mint: PublicKey, owner: PublicKey) =>
    getOrCreateAssociatedTokenAccount(connection, payer, mint, owner, false, "confirmed", undefined, program);
  return { chain, connection, payer, bob, account };
}

describe.each([
  ["SPL Token", TOKEN_PROGRAM_ID],
  ["Token-2022", TOKEN_2022_PROGRAM_ID],
])("%s", (_, program) => {
  test("a token is made, minted, transferred, approved, burnt, frozen, and its account closed", async () => {
    const { chain, connection, payer, bob, account } = await livingWith(program);
    const mint = await createMint(
      connection,
      payer,
      payer.publicKey,
      payer.publicKey,
      2,
      Keypair.generate(),
      undefined,
      program,
    );
    const mine = (await account(mint, payer.publicKey)).address;
    const his = (await account(mint, bob.publicKey)).address;
    await mintTo(connection, payer, mint, mine, payer, 1_000n, [], undefined, program);
    await mintToChecked(connection, payer, mint, mine, payer, 500n, 2, [], undefined, program);
    await transfer(connection, payer, mine, his, payer, 100n, [], undefined, program);
    await transferChecked(connection, payer, mine, mint, his, payer, 25n, 2, [], undefined, program);
    await burn(connection, payer, mine, mint, payer, 5n, [], undefined, program);
    expect((await getAccount(connection, mine, "confirmed", program)).amount).toBe(1_370n);
    expect((await getMint(connection, mint, "confirmed", program)).supply).toBe(1_495n);
    expect((await connection.getTokenSupply(mint, "confirmed")).value.uiAmountString).toBe("14.95");

    await approve(connection, payer, mine, bob.publicKey, payer, 30n, [], undefined, program);
    await transfer(connection, payer, mine, his, bob, 10n, [], undefined, program);
    const approved = await connection.getParsedAccountInfo(mine, "confirmed");
    expect(approved.value?.data).toMatchObject({
      program: program.equals(TOKEN_PROGRAM_ID) ? "spl-token" : "spl-token-2022",
      parsed: {
        type: "account",
        info: { delegate: bob.publicKey.toBase58(), delegatedAmount: { amount: "20" }, state: "initialized" },
      },
    });
    await revoke(connection, payer, mine, payer, [], undefined, program);
    await freezeAccount(connection, payer, his, mint, payer, [], undefined, program);
    await expect(transfer(connection, payer, mine, his, payer, 1n, [], undefined, program)).rejects.toThrow(
      SendTransactionError,
    );
    await thawAccount(connection, payer, his, mint, payer, [], undefined, program);
    await setAuthority(
      connection,
      payer,
      mint,
      payer,
      AuthorityType.MintTokens,
      null,
      [],
      undefined,
      program,
    );
    expect((await getMint(connection, mint, "confirmed", program)).mintAuthority).toBeNull();

    await transfer(connection, payer, mine, his, payer, 1_360n, [], undefined, program);
    await closeAccount(connection, payer, mine, bob.publicKey, payer, [], undefined, program);
    expect(await connection.getAccountInfo(mine, "confirmed")).toBeNull();
    const owner = payer.publicKey.toBase58();
    const held = { programId: program.toBase58() };
    const { result } = await rpc(chain, "getTokenAccountsByOwner", owner, held, {
      commitment: "confirmed",
      encoding: "jsonParsed",
    });
    expect((result as { value: unknown[] }).value).toEqual([]);
  });

  test("a multisig's instructions show all their signers among their accounts", async () => {
    const { connection, payer, bob, account } = await livingWith(program);
    const signers = [bob, Keypair.generate(), Keypair.generate()];
    const multisig = await createMultisig(
      connection,
      payer,
      signers.map(({ publicKey }) => publicKey),
      2,
      Keypair.generate(),
      undefined,
      program,
    );
    expect((await getMultisig(connection, multisig, "confirmed", program)).m).toBe(2);
    const mint = await createMint(
      connection,
      payer,
      multisig,
      null,
      0,
      Keypair.generate(),
      undefined,
      program,
    );
    const his = (await account(mint, bob.publicKey)).address;
    const two = signers.slice(0, 2);
    const signature = await mintTo(connection, payer, mint, his, multisig, 7n, two, undefined, program);
    const landed = await connection.getParsedTransaction(signature, "confirmed");
    const [first] = landed?.transaction.message.instructions ?? [];
    expect(first).toMatchObject({
      programId: program,
      accounts: [mint, his, multisig, ...two.map(({ publicKey }) => publicKey)],
    });
  });
});

test("wrapped SOL is a token account that says how much of it is rent", async () => {
  const { connection, payer } = await livingWith(TOKEN_PROGRAM_ID);
  const wrapped = await createWrappedNativeAccount(connection, payer, payer.publicKey, Number(SOL));
  const { value } = await connection.getParsedAccountInfo(wrapped, "confirmed");
  expect(value?.data).toMatchObject({
    parsed: {
      info: {
        isNative: true,
        tokenAmount: { uiAmountString: "1" },
        rentExemptReserve: { amount: String((value?.lamports ?? 0) - Number(SOL)) },
      },
    },
  });
});
