/** A mint that is none of the service's assets, of either token program, and what its issuer can do with it. */
// modules: private
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createFreezeAccountInstruction,
  createInitializeAccount3Instruction,
  createInitializeMint2Instruction,
  createInitializeTransferFeeConfigInstruction,
  createInitializeTransferHookInstruction,
  createMintToCheckedInstruction,
  createTransferCheckedInstruction,
  ExtensionType,
  getAssociatedTokenAddressSync,
  getMintLen,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js";
import type { Address } from "../../../src/core/address.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import type { Scene } from "./scene.ts";

const DECIMALS = 6;
/** Any program will do: it must never be called. */
const MEMO = new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
const FEE_BPS = 100;

function walletOf({ publicKey, secretKey }: Keypair): Wallet {
  return { address: publicKey.toBase58() as Address, secretKey };
}

/** The mint and the hands that move it. */
export interface ForeignMint {
  readonly mint: Address;
  /** Mints so much into the owner's associated account, which is opened where there is none. */
  give(owner: string, units: bigint): Promise<void>;
  /** The same into a fresh account of the owner's beside it. First token program only. */
  giveBeside(owner: string, units: bigint): Promise<void>;
  /** A plain transfer between associated accounts; what the issuer keeps of it stays withheld in the receiver's. */
  send(from: Wallet, to: string, units: bigint): Promise<void>;
  /** Freezes the owner's associated account. */
  freeze(owner: string): Promise<void>;
  /** What an owner holds of it, over all of its accounts. */
  heldBy(owner: string): Promise<bigint>;
  /** Whether the owner's associated account is there. */
  isOpen(owner: string): Promise<boolean>;
}

/** Makes the mint. `hook`: it calls a program of its own at each transfer; `fee`: it keeps a percent of each transfer. */
export async function foreignMint(
  world: Scene,
  program: "token" | "token-2022",
  extension?: "hook" | "fee",
): Promise<ForeignMint> {
  const keys = Keypair.generate();
  const issuer = new PublicKey(world.chain.faucet.address);
  const programId = program === "token" ? TOKEN_PROGRAM_ID : TOKEN_2022_PROGRAM_ID;
  const initialisation = (): readonly [ExtensionType, TransactionInstruction] | [] => {
    switch (extension) {
      case "hook":
        return [
          ExtensionType.TransferHook,
          createInitializeTransferHookInstruction(keys.publicKey, issuer, MEMO, programId),
        ];
      case "fee":
        return [
          ExtensionType.TransferFeeConfig,
          createInitializeTransferFeeConfigInstruction(
            ...([keys.publicKey, issuer, issuer, FEE_BPS, 1_000_000n, programId] as const),
          ),
        ];
      case undefined:
        return [];
    }
  };
  const [type, initialise] = initialisation();
  const space = getMintLen(type === undefined ? [] : [type]);
  await world.asIssuer(
    [
      SystemProgram.createAccount({
        fromPubkey: issuer,
        newAccountPubkey: keys.publicKey,
        lamports: Number(await world.ledger.rentMinimum(space)),
        space,
        programId,
      }),
      ...(initialise === undefined ? [] : [initialise]),
      createInitializeMint2Instruction(keys.publicKey, DECIMALS, issuer, issuer, programId),
    ],
    walletOf(keys),
  );
  const accountOf = (owner: string): PublicKey =>
    getAssociatedTokenAddressSync(keys.publicKey, new PublicKey(owner), true, programId);
  const mintTo = (account: PublicKey, units: bigint): TransactionInstruction =>
    createMintToCheckedInstruction(keys.publicKey, account, issuer, units, DECIMALS, [], programId);
  const mint = keys.publicKey.toBase58() as Address;
  return {
    mint,
    give: (owner, units) =>
      world.asIssuer([
        createAssociatedTokenAccountIdempotentInstruction(
          issuer,
          accountOf(owner),
          new PublicKey(owner),
          keys.publicKey,
          programId,
        ),
        mintTo(accountOf(owner), units),
      ]),
    async giveBeside(owner, units) {
      const account = Keypair.generate();
      await world.asIssuer(
        [
          SystemProgram.createAccount({
            fromPubkey: issuer,
            newAccountPubkey: account.publicKey,
            lamports: Number(await world.ledger.rentMinimum(165)),
            space: 165,
            programId,
          }),
          createInitializeAccount3Instruction(
            account.publicKey,
            keys.publicKey,
            new PublicKey(owner),
            programId,
          ),
          mintTo(account.publicKey, units),
        ],
        walletOf(account),
      );
    },
    send: (from, to, units) =>
      world.asIssuer(
        [
          createAssociatedTokenAccountIdempotentInstruction(
            issuer,
            accountOf(to),
            new PublicKey(to),
            keys.publicKey,
            programId,
          ),
          createTransferCheckedInstruction(
            accountOf(from.address),
            keys.publicKey,
            accountOf(to),
            new PublicKey(from.address),
            units,
            DECIMALS,
            [],
            programId,
          ),
        ],
        from,
      ),
    freeze: (owner) =>
      world.asIssuer([
        createFreezeAccountInstruction(accountOf(owner), keys.publicKey, issuer, [], programId),
      ]),
    async heldBy(owner) {
      const { holdings } = await world.ledger.balances(owner as Address);
      return holdings.find((each) => each.mint === mint)?.amount ?? 0n;
    },
    async isOpen(owner) {
      const [kind] = await world.ledger.accountKinds([accountOf(owner).toBase58() as Address]);
      return kind === "token_account";
    },
  };
}
