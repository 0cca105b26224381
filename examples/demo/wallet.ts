/** What a wallet does, by the chain's own libraries and without the service. */
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createFreezeAccountInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
} from "@solana/spl-token";
import {
  Connection,
  Keypair,
  PublicKey,
  TransactionMessage,
  VersionedTransaction,
  type TransactionInstruction,
} from "@solana/web3.js";
import bs58 from "bs58";
import { USDC_DECIMALS } from "./amounts.ts";
import type { ChainReady, DemoWallet } from "./settings.ts";

/** An order to transfer USDC. */
export interface UsdcTransfer {
  readonly to: string;
  /** Millionths of a USDC. */
  readonly amount: bigint;
}

/** Signs an unsigned transaction in base64 that another party has built. */
export function signInWallet(unsignedTransaction: string, wallet: DemoWallet): string {
  const transaction = VersionedTransaction.deserialize(Buffer.from(unsignedTransaction, "base64"));
  transaction.sign([keypairOf(wallet)]);
  return Buffer.from(transaction.serialize()).toString("base64");
}

/** Sends USDC to any address, as wallets do: the receiver's token account is made if there is none. */
export function sendUsdc(chain: ChainReady, from: DemoWallet, { to, amount }: UsdcTransfer): Promise<string> {
  const mint = new PublicKey(chain.mints.USDC);
  const owner = new PublicKey(from.address);
  const receiver = new PublicKey(to);
  const source = getAssociatedTokenAddressSync(mint, owner);
  const target = getAssociatedTokenAddressSync(mint, receiver);
  return send(chain, from, [
    createAssociatedTokenAccountIdempotentInstruction(owner, target, receiver, mint),
    createTransferCheckedInstruction(source, mint, target, owner, amount, USDC_DECIMALS),
  ]);
}

/** Freezes the USDC of an address, which only the issuer can: the account can neither send nor receive any more. */
export function freezeUsdc(chain: ChainReady, address: string): Promise<string> {
  const mint = new PublicKey(chain.mints.USDC);
  const account = getAssociatedTokenAddressSync(mint, new PublicKey(address));
  const issuer = new PublicKey(chain.issuer.address);
  return send(chain, chain.issuer, [createFreezeAccountInstruction(account, mint, issuer)]);
}

async function send(
  { rpcUrl }: ChainReady,
  wallet: DemoWallet,
  instructions: TransactionInstruction[],
): Promise<string> {
  const connection = new Connection(rpcUrl, "confirmed");
  const keypair = keypairOf(wallet);
  const { blockhash: recentBlockhash } = await connection.getLatestBlockhash();
  const message = new TransactionMessage({ payerKey: keypair.publicKey, recentBlockhash, instructions });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  transaction.sign([keypair]);
  return connection.sendRawTransaction(transaction.serialize());
}

function keypairOf({ secretKey }: DemoWallet): Keypair {
  return Keypair.fromSecretKey(bs58.decode(secretKey));
}
