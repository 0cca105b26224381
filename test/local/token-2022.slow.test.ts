/** Token-2022's extensions: made and obeyed by the real program, and no hindrance to reading mints and accounts. */
import {
  createInitializeInterestBearingMintInstruction,
  createInitializeMetadataPointerInstruction,
  createInitializeMintCloseAuthorityInstruction,
  createInitializeMintInstruction,
  createInitializePermanentDelegateInstruction,
  createInitializeTransferFeeConfigInstruction,
  createInitializeDefaultAccountStateInstruction,
  createInitializeGroupPointerInstruction,
  createInitializeTransferHookInstruction,
  createInitializeNonTransferableMintInstruction,
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
import { keyOf, rpc, SOL } from "./kit.ts";
import { connectOverPort, livingChain } from "./sockets.ts";

async function livingMinter() {
  const chain = await livingChain();
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
  return { chain, connection, payer, run, mintWith, accountOf };
}

test("a transfer fee is withheld by the real program, and balances show what arrived", async () => {
  const { chain, connection, payer, run, mintWith, accountOf } = await livingMinter();
  const me = payer.publicKey;
  const mint = await mintWith([ExtensionType.TransferFeeConfig], (address) => [
    createInitializeTransferFeeConfigInstruction(address, me, null, 100, 5_000n, TOKEN_2022_PROGRAM_ID),
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
  const landed = await connection.getParsedTransaction(signature, "confirmed");
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

test("a mint is read as one, whichever extensions stand behind it", async () => {
  const { connection, payer, mintWith } = await livingMinter();
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
  const { value } = await connection.getParsedAccountInfo(mint, "confirmed");
  expect(value?.data).toMatchObject({
    program: "spl-token-2022",
    parsed: { type: "mint", info: { decimals: 6, supply: "0", mintAuthority: me.toBase58() } },
  });
});

test("the shown amount of an interest-bearing token is its base units, without the interest", async () => {
  const { connection, payer, mintWith, accountOf } = await livingMinter();
  const me = payer.publicKey;
  const mint = await mintWith([ExtensionType.InterestBearingConfig], (address) => [
    createInitializeInterestBearingMintInstruction(address, me, 32_767, TOKEN_2022_PROGRAM_ID),
  ]);
  const mine = await accountOf(mint, me);
  await mintTo(connection, payer, mint, mine, payer, 3_000_001n, [], undefined, TOKEN_2022_PROGRAM_ID);
  const shown = [await connection.getTokenAccountBalance(mine), await connection.getTokenSupply(mint)];
  for (const { value } of shown) {
    expect(value).toMatchObject({ amount: "3000001", decimals: 6, uiAmountString: "3.000001" });
  }
});
