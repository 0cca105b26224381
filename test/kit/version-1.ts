/** Transactions of version 1 as a foreign wallet makes them: put together and written by @solana/kit. */
import {
  AccountRole,
  address,
  appendTransactionMessageInstructions,
  compileTransaction,
  createTransactionMessage,
  getTransactionEncoder,
  setTransactionMessageConfig,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  type Blockhash,
  type Instruction,
  type SignatureBytes,
  type V1TransactionConfig,
} from "@solana/kit";
import type { TransactionInstruction } from "@solana/web3.js";
import type { ChainFixture, Wallet } from "./chain-fixture.ts";
import { newestBlockhash, publicKeyOf, signatureOf } from "../solana/signed-transaction.ts";

/** How a transaction of version 1 is put together. */
export interface Version1Signing {
  /** The fee payer first. */
  readonly signers: readonly Pick<Wallet, "secretKey">[];
  readonly instructions: readonly TransactionInstruction[];
  /** Left out: enough of everything, and no bid. */
  readonly settings?: V1TransactionConfig;
  /** The newest confirmed one when left out. */
  readonly blockhash?: string;
}

/** Enough for any payment. */
export const ENOUGH = { computeUnitLimit: 1_000_000, loadedAccountsDataSizeLimit: 64 * 1024 * 1024 } as const;

/** The signed transaction in base64. */
export async function signedVersion1(
  { chain }: Pick<ChainFixture, "chain">,
  { blockhash, ...signing }: Version1Signing,
): Promise<string> {
  const over = blockhash ?? (await newestBlockhash(chain));
  return Buffer.from(bytesOfVersion1({ ...signing, blockhash: over })).toString("base64");
}

/** The signed bytes. */
export function bytesOfVersion1({
  signers,
  instructions,
  settings = ENOUGH,
  blockhash,
}: Version1Signing & { readonly blockhash: string }): Uint8Array {
  const [payer] = signers;
  if (payer === undefined) throw new TypeError("a transaction has a fee payer");
  const lifetime = { blockhash: blockhash as Blockhash, lastValidBlockHeight: 0n };
  const empty = setTransactionMessageConfig(settings, createTransactionMessage({ version: 1 }));
  const paid = setTransactionMessageFeePayer(address(publicKeyOf(payer).toBase58()), empty);
  const lasting = setTransactionMessageLifetimeUsingBlockhash(lifetime, paid);
  const message = appendTransactionMessageInstructions(instructions.map(kitInstruction), lasting);
  const { messageBytes, signatures } = compileTransaction(message);
  const made = signers.map((signer) => {
    const signature = signatureOf(Uint8Array.from(messageBytes), signer) as Uint8Array as SignatureBytes;
    return [publicKeyOf(signer).toBase58(), signature] as const;
  });
  const whole = { messageBytes, signatures: { ...signatures, ...Object.fromEntries<SignatureBytes>(made) } };
  return Uint8Array.from(getTransactionEncoder().encode(whole));
}

function kitInstruction({ programId, keys, data }: TransactionInstruction): Instruction {
  return {
    programAddress: address(programId.toBase58()),
    accounts: keys.map(({ pubkey, isSigner, isWritable }) => ({
      address: address(pubkey.toBase58()),
      role: isSigner
        ? isWritable
          ? AccountRole.WRITABLE_SIGNER
          : AccountRole.READONLY_SIGNER
        : isWritable
          ? AccountRole.WRITABLE
          : AccountRole.READONLY,
    })),
    data: Uint8Array.from(data),
  };
}
