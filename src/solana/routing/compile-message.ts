/** From instructions to a v0 message without lookup tables, its accounts in the order in which web3.js would put them. */
import { MessageV0, type PublicKey, type TransactionInstruction } from "@solana/web3.js";

interface MessageParts {
  readonly feePayer: PublicKey;
  readonly blockhash: string;
  readonly instructions: readonly TransactionInstruction[];
}

// Instructions name accounts by one byte. No transaction holds nearly so many, but a message can be compiled of them.
const MAX_ACCOUNTS = 256;

interface Mentioned {
  readonly key: PublicKey;
  isSigner: boolean;
  isWritable: boolean;
}

/**
 * Compiles the message. Throws `RangeError` for more accounts than a message can name. web3.js compiles the same, but
 * writes the key in base58 each time an account is mentioned, which takes ten times as long as all the rest.
 */
export function compileMessage({ feePayer, blockhash, instructions }: MessageParts): MessageV0 {
  const accounts = mentionedIn(feePayer, instructions);
  if (accounts.size > MAX_ACCOUNTS) {
    throw new RangeError(`a plan over ${accounts.size} accounts does not fit in one transaction`);
  }
  const all = [...accounts];
  const signers = all.filter(([, { isSigner }]) => isSigner);
  const others = all.filter(([, { isSigner }]) => !isSigner);
  const ordered = [...writableFirst(signers), ...writableFirst(others)];
  const indexes = new Map(ordered.map(([name], index) => [name, index]));
  const indexOf = (key: PublicKey): number => indexes.get(nameOf(key)) ?? 0;
  return new MessageV0({
    header: {
      numRequiredSignatures: signers.length,
      numReadonlySignedAccounts: readonlyIn(signers),
      numReadonlyUnsignedAccounts: readonlyIn(others),
    },
    staticAccountKeys: ordered.map(([, { key }]) => key),
    recentBlockhash: blockhash,
    compiledInstructions: instructions.map(({ programId, keys, data }) => ({
      programIdIndex: indexOf(programId),
      accountKeyIndexes: keys.map(({ pubkey }) => indexOf(pubkey)),
      data,
    })),
    addressTableLookups: [],
  });
}

type Entry = readonly [string, Mentioned];

/** Mentioned accounts by their bytes, in order: the fee payer, then by instruction its program and accounts. */
function mentionedIn(
  feePayer: PublicKey,
  instructions: readonly TransactionInstruction[],
): ReadonlyMap<string, Mentioned> {
  const accounts = new Map<string, Mentioned>();
  const mention = (key: PublicKey, isSigner: boolean, isWritable: boolean): void => {
    const name = nameOf(key);
    const known = accounts.get(name);
    if (known === undefined) {
      accounts.set(name, { key, isSigner, isWritable });
      return;
    }
    known.isSigner ||= isSigner;
    known.isWritable ||= isWritable;
  };
  mention(feePayer, true, true);
  for (const { programId, keys } of instructions) {
    mention(programId, false, false);
    for (const { pubkey, isSigner, isWritable } of keys) mention(pubkey, isSigner, isWritable);
  }
  return accounts;
}

/** The key as text, one character for each byte. */
function nameOf(key: PublicKey): string {
  return Buffer.from(key.toBytes()).toString("latin1");
}

function writableFirst(entries: readonly Entry[]): readonly Entry[] {
  return [
    ...entries.filter(([, { isWritable }]) => isWritable),
    ...entries.filter(([, { isWritable }]) => !isWritable),
  ];
}

function readonlyIn(entries: readonly Entry[]): number {
  return entries.filter(([, { isWritable }]) => !isWritable).length;
}
