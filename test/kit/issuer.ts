/** What the issuer of a local chain's tokens does: opens accounts anywhere, freezes them, and has a Token-2022 mint. */
import {
  AccountLayout,
  createAssociatedTokenAccountIdempotentInstruction,
  createFreezeAccountInstruction,
  createInitializeAccount3Instruction,
  createInitializeMint2Instruction,
  createMintToCheckedInstruction,
  getAssociatedTokenAddressSync,
  getMintLen,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import {
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
} from "@solana/web3.js";
import type { Address } from "../../src/core/address.ts";
import type { LocalChain } from "../../src/local/index.ts";
import type { LedgerWorld } from "../contracts/ledger.ts";

const DECIMALS = 6;

/** The issuer's hands. What a promise stands for is carried out in the slot in which it resolves. */
export interface Issuer {
  /** A mint of Token-2022, made when it is first given. */
  readonly others: LedgerWorld["others"];
  giveOthers(owner: string, units: bigint): Promise<void>;
  /** A fresh USDC account of the owner's. */
  beside(owner: string, units: bigint): Promise<Address>;
  freeze(account: string): Promise<void>;
}

export function issuerOf(chain: LocalChain): Issuer {
  const connection = new Connection("http://local", { commitment: "processed", fetch: chain.fetch });
  const faucet = Keypair.fromSecretKey(chain.faucet.secretKey);
  const usdc = new PublicKey(chain.mints.USDC);
  const twin = Keypair.generate();
  const program = TOKEN_2022_PROGRAM_ID;
  let isMade = false;

  const carryOut = async (
    instructions: readonly TransactionInstruction[],
    ...signers: Keypair[]
  ): Promise<void> => {
    const newest = await connection.getLatestBlockhash("confirmed");
    const transaction = new Transaction({ feePayer: faucet.publicKey, ...newest });
    transaction.add(...instructions).sign(faucet, ...signers);
    await connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true });
  };
  const account = async (keys: Keypair, space: number, owner: PublicKey): Promise<TransactionInstruction> =>
    SystemProgram.createAccount({
      fromPubkey: faucet.publicKey,
      newAccountPubkey: keys.publicKey,
      lamports: await connection.getMinimumBalanceForRentExemption(space),
      space,
      programId: owner,
    });

  return {
    others: { mint: twin.publicKey.toBase58() as Address, decimals: DECIMALS, program: "token-2022" },
    async giveOthers(owner, units) {
      const holder = new PublicKey(owner);
      const to = getAssociatedTokenAddressSync(twin.publicKey, holder, true, program);
      const make = isMade
        ? []
        : [
            await account(twin, getMintLen([]), program),
            createInitializeMint2Instruction(twin.publicKey, DECIMALS, faucet.publicKey, null, program),
          ];
      const give = [
        createAssociatedTokenAccountIdempotentInstruction(
          ...([faucet.publicKey, to, holder, twin.publicKey, program] as const),
        ),
        createMintToCheckedInstruction(twin.publicKey, to, faucet.publicKey, units, DECIMALS, [], program),
      ];
      await carryOut([...make, ...give], ...(isMade ? [] : [twin]));
      isMade = true;
    },
    async beside(owner, units) {
      const keys = Keypair.generate();
      const give = createMintToCheckedInstruction(usdc, keys.publicKey, faucet.publicKey, units, DECIMALS);
      await carryOut(
        [
          await account(keys, AccountLayout.span, TOKEN_PROGRAM_ID),
          createInitializeAccount3Instruction(keys.publicKey, usdc, new PublicKey(owner)),
          ...(units === 0n ? [] : [give]),
        ],
        keys,
      );
      return keys.publicKey.toBase58() as Address;
    },
    freeze: (frozen) =>
      carryOut([createFreezeAccountInstruction(new PublicKey(frozen), usdc, faucet.publicKey)]),
  };
}
