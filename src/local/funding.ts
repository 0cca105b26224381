/** Builds the transaction by which the faucet gives SOL and stablecoins to an address. */
import {
  type Blockhash,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { ASSOCIATED_TOKEN_PROGRAM, MEMO_PROGRAM, TOKEN_PROGRAM } from "../solana/programs.ts";
import { STABLECOIN_DECIMALS, type GenesisKeys } from "./genesis.ts";

/** Gifts in base units; absent assets are not given. An amount of 0 makes the token account alone. */
export interface Funds {
  /** Lamports. */
  readonly lamports?: bigint;
  /** Millionths of a USDC. */
  readonly usdc?: bigint;
  /** Millionths of a USDT. */
  readonly usdt?: bigint;
  /** Freezes the token accounts of the stablecoins given: nothing moves in or out of them any more. */
  readonly frozen?: boolean;
}

const ASSOCIATED_TOKEN = new PublicKey(ASSOCIATED_TOKEN_PROGRAM);
const MEMO = new PublicKey(MEMO_PROGRAM);
const TOKEN = new PublicKey(TOKEN_PROGRAM);
const CREATE_IDEMPOTENT = 1;
const MINT_TO_CHECKED = 14;
const FREEZE_ACCOUNT = 10;

/** The token account in which `owner` receives `mint`. */
export function associatedTokenAddress(owner: string, mint: string): string {
  return ataOf(new PublicKey(owner), new PublicKey(mint)).toBase58();
}

/** A gift of the faucet, and its receiver. */
interface Gift {
  readonly keys: GenesisKeys;
  readonly recipient: string;
  readonly funds: Funds;
  readonly blockhash: Blockhash;
  /** Makes the transaction differ from an equal gift under the same blockhash. */
  readonly number: number;
}

/** The faucet's signed transaction. A single transaction sends all funds: they arrive together or not at all. */
export function fundingTransaction(gift: Gift): Uint8Array {
  const { keys, funds, blockhash, number } = gift;
  const recipient = new PublicKey(gift.recipient);
  const faucet = keys.faucet.publicKey;
  const instructions = [memo(`gift ${number}`)];
  if (funds.lamports !== undefined) {
    instructions.push(
      SystemProgram.transfer({ fromPubkey: faucet, toPubkey: recipient, lamports: u64(funds.lamports) }),
    );
  }
  for (const [mint, amount] of [
    [keys.mints.USDC, funds.usdc],
    [keys.mints.USDT, funds.usdt],
  ] as const) {
    if (amount === undefined) continue;
    const minted = { owner: recipient, mint: new PublicKey(mint), amount: u64(amount) };
    instructions.push(...minting(faucet, minted));
    if (funds.frozen === true) instructions.push(freezing(faucet, minted));
  }
  const terms = { payerKey: faucet, recentBlockhash: blockhash, instructions };
  const message = new TransactionMessage(terms).compileToLegacyMessage();
  return new VersionedTransaction(message, [keys.faucet.sign(message.serialize())]).serialize();
}

/** Libraries silently encode an amount that is no u64 as a different amount. */
function u64(amount: bigint): bigint {
  if (amount === BigInt.asUintN(64, amount)) return amount;
  throw new RangeError(`An amount is a whole number from 0 to 2^64 - 1, got ${amount}.`);
}

function memo(text: string): TransactionInstruction {
  return new TransactionInstruction({ programId: MEMO, keys: [], data: Buffer.from(text) });
}

/** Tokens that are made for an owner, in base units. */
interface MintedTokens {
  readonly owner: PublicKey;
  readonly mint: PublicKey;
  readonly amount: bigint;
}

function minting(
  faucet: PublicKey,
  { owner, mint, amount }: MintedTokens,
): [TransactionInstruction, TransactionInstruction] {
  const ata = ataOf(owner, mint);
  const create = new TransactionInstruction({
    programId: ASSOCIATED_TOKEN,
    keys: [
      { pubkey: faucet, isSigner: true, isWritable: true },
      { pubkey: ata, isSigner: false, isWritable: true },
      { pubkey: owner, isSigner: false, isWritable: false },
      { pubkey: mint, isSigner: false, isWritable: false },
      { pubkey: SystemProgram.programId, isSigner: false, isWritable: false },
      { pubkey: TOKEN, isSigner: false, isWritable: false },
    ],
    data: Buffer.from([CREATE_IDEMPOTENT]),
  });
  const data = Buffer.alloc(10);
  data.writeUInt8(MINT_TO_CHECKED, 0);
  data.writeBigUInt64LE(amount, 1);
  data.writeUInt8(STABLECOIN_DECIMALS, 9);
  const mintTo = new TransactionInstruction({
    programId: TOKEN,
    keys: [
      { pubkey: mint, isSigner: false, isWritable: true },
      { pubkey: ata, isSigner: false, isWritable: true },
      { pubkey: faucet, isSigner: true, isWritable: false },
    ],
    data,
  });
  return [create, mintTo];
}

function freezing(
  faucet: PublicKey,
  { owner, mint }: Pick<MintedTokens, "owner" | "mint">,
): TransactionInstruction {
  return new TransactionInstruction({
    programId: TOKEN,
    keys: [
      { pubkey: ataOf(owner, mint), isSigner: false, isWritable: true },
      { pubkey: mint, isSigner: false, isWritable: false },
      { pubkey: faucet, isSigner: true, isWritable: false },
    ],
    data: Buffer.from([FREEZE_ACCOUNT]),
  });
}

function ataOf(owner: PublicKey, mint: PublicKey): PublicKey {
  const seeds = [owner.toBytes(), TOKEN.toBytes(), mint.toBytes()];
  return PublicKey.findProgramAddressSync(seeds, ASSOCIATED_TOKEN)[0];
}
