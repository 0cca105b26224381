/** Token-2022's extensions: made by the real program, told in words, and harmless when nobody knows them. */
import {
  createInitializeInterestBearingMintInstruction,
  createInitializeMetadataPointerInstruction,
  createInitializeMintCloseAuthorityInstruction,
  createInitializeMintInstruction,
  createInitializePermanentDelegateInstruction,
  createInitializeTransferFeeConfigInstruction,
  createInitializeDefaultAccountStateInstruction,
  createInitializeGroupPointerInstruction,
  createInitializeScaledUiAmountConfigInstruction,
  createInitializeTransferHookInstruction,
  createInitializeNonTransferableMintInstruction,
  createInitializePausableConfigInstruction,
  AccountState,
  createTransferCheckedWithFeeInstruction,
  ExtensionType,
  getMintLen,
  getOrCreateAssociatedTokenAccount,
  mintTo,
  TOKEN_2022_PROGRAM_ID,
  tokenMetadataInitializeWithRentTransfer,
  tokenMetadataUpdateFieldWithRentTransfer,
} from "@solana/spl-token";
import {
  Keypair,
  type PublicKey,
  sendAndConfirmTransaction,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
} from "@solana/web3.js";
import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../src/runtime.ts";
import { readExtensions } from "../../src/local/token-extensions.ts";
import { keyOf, rpc, SOL } from "./kit.ts";
import { connectOverPort, livingChain } from "./sockets.ts";

async function livingMinter(clock?: Clock) {
  const chain = await livingChain(clock);
  const connection = await connectOverPort(chain);
  const payer = keyOf(chain.createWallet("payer", { lamports: 10n * SOL }));
  chain.advance(2);
  const run = (instructions: TransactionInstruction[], ...more: Keypair[]): Promise<string> =>
    sendAndConfirmTransaction(connection, new Transaction().add(...instructions), [payer, ...more]);
  /** Makes a mint of 6 decimals with these extensions. */
  const mintWith = async (
    types: ExtensionType[],
    initialize: (mint: PublicKey) => TransactionInstruction[],
  ): Promise<PublicKey> => {
    const mint = Keypair.generate();
    const space = getMintLen(types);
    await run(
      [
        SystemProgram.createAccount({
          fromPubkey: payer.publicKey,
          newAccountPubkey: mint.publicKey,
          lamports: await connection.getMinimumBalanceForRentExemption(space),
          space,
          programId: TOKEN_2022_PROGRAM_ID,
        }),
        ...initialize(mint.publicKey),
        createInitializeMintInstruction(
          mint.publicKey,
          6,
          payer.publicKey,
          payer.publicKey,
          TOKEN_2022_PROGRAM_ID,
        ),
      ],
      mint,
    );
    return mint.publicKey;
  };
  const accountOf = async (mint: PublicKey, owner: PublicKey): Promise<PublicKey> => {
    const made = await getOrCreateAssociatedTokenAccount(
      connection,
      payer,
      mint,
      owner,
      false,
      "confirmed",
      undefined,
      TOKEN_2022_PROGRAM_ID,
    );
    return made.address;
  };
  const extensionsOf = async (address: PublicKey): Promise<unknown> => {
    const { value } = await connection.getParsedAccountInfo(address, "confirmed");
    const data = value?.data as { parsed: { info: { extensions?: unknown } } } | undefined;
    return data?.parsed.info.extensions;
  };
  return { chain, connection, payer, run, mintWith, accountOf, extensionsOf };
}

test("a transfer fee is withheld by the real program and told in mint, account and instruction", async () => {
  const { chain, connection, payer, run, mintWith, accountOf, extensionsOf } = await livingMinter();
  const me = payer.publicKey;
  const mint = await mintWith([ExtensionType.TransferFeeConfig], (address) => [
    createInitializeTransferFeeConfigInstruction(address, me, null, 100, 5_000n, TOKEN_2022_PROGRAM_ID),
  ]);
  const fee = { epoch: 0, maximumFee: 5_000, transferFeeBasisPoints: 100 };
  expect(await extensionsOf(mint)).toEqual([
    {
      extension: "transferFeeConfig",
      state: {
        transferFeeConfigAuthority: me.toBase58(),
        withdrawWithheldAuthority: null,
        withheldAmount: 0,
        olderTransferFee: fee,
        newerTransferFee: fee,
      },
    },
  ]);
  const bob = Keypair.generate().publicKey;
  const [mine, his] = [await accountOf(mint, me), await accountOf(mint, bob)];
  await mintTo(connection, payer, mint, mine, payer, 1_000_000n, [], undefined, TOKEN_2022_PROGRAM_ID);
  const signature = await run([
    createTransferCheckedWithFeeInstruction(
      mine,
      mint,
      his,
      me,
      100_000n,
      6,
      1_000n,
      [],
      TOKEN_2022_PROGRAM_ID,
    ),
  ]);
  expect(await extensionsOf(his)).toEqual([
    { extension: "immutableOwner" },
    { extension: "transferFeeAmount", state: { withheldAmount: 1_000 } },
  ]);
  const landed = await connection.getParsedTransaction(signature, "confirmed");
  expect(landed?.transaction.message.instructions).toMatchObject([
    {
      program: "spl-token",
      parsed: {
        type: "transferCheckedWithFee",
        info: {
          feeAmount: { amount: "1000" },
          tokenAmount: { uiAmountString: "0.1" },
          authority: me.toBase58(),
        },
      },
    },
  ]);
  const balances = landed?.meta?.postTokenBalances?.map(({ owner, programId, uiTokenAmount }) => [
    owner,
    programId,
    uiTokenAmount.amount,
  ]);
  const program = TOKEN_2022_PROGRAM_ID.toBase58();
  expect(balances).toEqual(
    expect.arrayContaining([
      [me.toBase58(), program, "900000"],
      [bob.toBase58(), program, "99000"],
    ]),
  );
  const { value } = await connection.getSignatureStatus(signature);
  expect(value?.err).toBeNull();
  expect(["confirmed", "finalized"]).toContain(value?.confirmationStatus);
  const history = await connection.getSignaturesForAddress(his);
  expect(history[0]?.signature).toBe(signature);
  expect((await connection.getTokenAccountBalance(his)).value.uiAmountString).toBe("0.099");
  const listed = await rpc(
    chain,
    "getTokenAccountsByOwner",
    bob.toBase58(),
    { mint: mint.toBase58() },
    { encoding: "jsonParsed", commitment: "confirmed" },
  );
  expect(listed.result).toMatchObject({
    value: [{ pubkey: his.toBase58(), account: { data: { program: "spl-token-2022" } } }],
  });
});

test("a mint's metadata, pointers, authorities and hook are told with their contents", async () => {
  const { connection, payer, mintWith, extensionsOf } = await livingMinter();
  const me = payer.publicKey;
  const hook = Keypair.generate().publicKey;
  const mint = await mintWith(
    [
      ExtensionType.MetadataPointer,
      ExtensionType.MintCloseAuthority,
      ExtensionType.PermanentDelegate,
      ExtensionType.DefaultAccountState,
      ExtensionType.GroupPointer,
      ExtensionType.TransferHook,
      ExtensionType.NonTransferable,
    ],
    (address) => [
      createInitializeMetadataPointerInstruction(address, me, address, TOKEN_2022_PROGRAM_ID),
      createInitializeMintCloseAuthorityInstruction(address, me, TOKEN_2022_PROGRAM_ID),
      createInitializePermanentDelegateInstruction(address, me, TOKEN_2022_PROGRAM_ID),
      createInitializeDefaultAccountStateInstruction(address, AccountState.Frozen, TOKEN_2022_PROGRAM_ID),
      createInitializeGroupPointerInstruction(address, me, address, TOKEN_2022_PROGRAM_ID),
      createInitializeTransferHookInstruction(address, me, hook, TOKEN_2022_PROGRAM_ID),
      createInitializeNonTransferableMintInstruction(address, TOKEN_2022_PROGRAM_ID),
    ],
  );
  await tokenMetadataInitializeWithRentTransfer(
    connection,
    payer,
    mint,
    me,
    payer,
    "Grüner Taler",
    "GT",
    "https://example.com/gt.json",
  );
  await tokenMetadataUpdateFieldWithRentTransfer(connection, payer, mint, payer, "colour", "green");
  expect(await extensionsOf(mint)).toEqual(
    expect.arrayContaining([
      {
        extension: "metadataPointer",
        state: { authority: me.toBase58(), metadataAddress: mint.toBase58() },
      },
      { extension: "mintCloseAuthority", state: { closeAuthority: me.toBase58() } },
      { extension: "permanentDelegate", state: { delegate: me.toBase58() } },
      { extension: "defaultAccountState", state: { accountState: "frozen" } },
      { extension: "groupPointer", state: { authority: me.toBase58(), groupAddress: mint.toBase58() } },
      { extension: "transferHook", state: { authority: me.toBase58(), programId: hook.toBase58() } },
      { extension: "nonTransferable" },
      {
        extension: "tokenMetadata",
        state: {
          updateAuthority: me.toBase58(),
          mint: mint.toBase58(),
          name: "Grüner Taler",
          symbol: "GT",
          uri: "https://example.com/gt.json",
          additionalMetadata: [["colour", "green"]],
        },
      },
    ]),
  );
});

test("the shown amount of an interest-bearing token grows, its base units do not", async () => {
  let ahead = 0;
  const { connection, payer, mintWith, accountOf, extensionsOf } = await livingMinter({
    ...systemClock,
    now: () => systemClock.now() + ahead,
  });
  const me = payer.publicKey;
  const mint = await mintWith([ExtensionType.InterestBearingConfig], (address) => [
    createInitializeInterestBearingMintInstruction(address, me, 32_767, TOKEN_2022_PROGRAM_ID),
  ]);
  expect(await extensionsOf(mint)).toMatchObject([
    {
      extension: "interestBearingConfig",
      state: { rateAuthority: me.toBase58(), currentRate: 32_767, preUpdateAverageRate: 32_767 },
    },
  ]);
  const mine = await accountOf(mint, me);
  const units = 10_000_000_000_000n;
  await mintTo(connection, payer, mint, mine, payer, units, [], undefined, TOKEN_2022_PROGRAM_ID);
  // 327.67 % a year, for ten days.
  ahead = 10 * 24 * 3600 * 1000;
  const grown = 10_000_000 * Math.exp((3.2767 * 10) / 365.24);
  const shown = [await connection.getTokenAccountBalance(mine), await connection.getTokenSupply(mint)];
  for (const { value } of shown) {
    expect(value.amount).toBe(units.toString());
    // The seconds that this test itself took are worth a millionth.
    expect(Number(value.uiAmount) / grown).toBeCloseTo(1, 5);
  }
});

test("the shown amount of a scaled token is multiplied; it can be paused", async () => {
  const { connection, payer, mintWith, accountOf, extensionsOf } = await livingMinter();
  const me = payer.publicKey;
  const types = [ExtensionType.ScaledUiAmountConfig, ExtensionType.PausableConfig];
  const mint = await mintWith(types, (address) => [
    createInitializeScaledUiAmountConfigInstruction(address, me, 2.5, TOKEN_2022_PROGRAM_ID),
    createInitializePausableConfigInstruction(address, me, TOKEN_2022_PROGRAM_ID),
  ]);
  expect(await extensionsOf(mint)).toMatchObject([
    { extension: "scaledUiAmountConfig", state: { authority: me.toBase58(), multiplier: "2.5" } },
    { extension: "pausableConfig", state: { authority: me.toBase58(), paused: false } },
  ]);
  const mine = await accountOf(mint, me);
  await mintTo(connection, payer, mint, mine, payer, 3_000_001n, [], undefined, TOKEN_2022_PROGRAM_ID);
  const { value } = await connection.getTokenAccountBalance(mine);
  expect(value).toMatchObject({ amount: "3000001", decimals: 6, uiAmountString: "7.500002" });
  expect(await extensionsOf(mine)).toEqual(
    expect.arrayContaining([{ extension: "immutableOwner" }, { extension: "pausableAccount" }]),
  );
});

test("an extension that nobody knows, or that is cut short, is named so and disturbs no other", () => {
  const account = (...tlv: number[]) => ({
    lamports: 1n,
    owner: TOKEN_2022_PROGRAM_ID.toBase58(),
    executable: false,
    data: Uint8Array.from([...Array<number>(165).fill(0), 1, ...tlv]),
  });
  const unknown = [0x39, 0x05, 2, 0, 7, 7];
  const cutContent = [26, 0, 3, 0, 1, 2, 3];
  const immutable = [7, 0, 0, 0];
  const unparseable = { extension: "unparseableExtension" };
  expect(readExtensions(account(...unknown, ...cutContent, ...immutable))).toEqual([
    unparseable,
    unparseable,
    { extension: "immutableOwner" },
  ]);
  expect(readExtensions(account(...immutable, 26, 0, 33, 0, 1))).toEqual([{ extension: "immutableOwner" }]);
  expect(readExtensions(account(...immutable, 7))).toEqual([{ extension: "immutableOwner" }]);
});
