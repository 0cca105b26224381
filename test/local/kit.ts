/** What the tests of the local chain share: a chain without a ticking clock, a connection to it, signed transactions. */
import {
  type Commitment,
  Connection,
  Keypair,
  type PublicKey,
  type Signer,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { onTestFinished } from "vitest";
import { createLocalChain, type LocalChain, type LocalChainOptions, type LocalWallet } from "paystate/local";

/** One SOL in lamports. */
export const SOL = 1_000_000_000n;

/** A fixed moment for clocks that stand still: 2026-01-01T00:00:00Z. */
export const NEW_YEAR = 1_767_225_600_000;

/** A chain whose slots pass by `advance` only, closed with the test. */
export async function stillChain(options: Partial<LocalChainOptions> = {}): Promise<LocalChain> {
  const chain = await createLocalChain({ clock: { now: () => NEW_YEAR }, slotMs: 0, ...options });
  onTestFinished(() => chain.close());
  return chain;
}

/** An unmodified web3.js connection that reaches the chain in this process. */
export function connect(chain: LocalChain, commitment: Commitment = "confirmed"): Connection {
  return new Connection("http://local.invalid", {
    fetch: chain.fetch,
    commitment,
    disableRetryOnRateLimit: true,
  });
}

/** The web3.js key of a wallet. */
export function keyOf(wallet: LocalWallet): Keypair {
  return Keypair.fromSecretKey(wallet.secretKey);
}

/** A transfer of lamports. */
export function transfer(from: Keypair, to: PublicKey, lamports: bigint): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports });
}

/** A signed v0 transaction, paid by the first signer. */
export function signed(
  blockhash: string,
  instructions: TransactionInstruction[],
  signers: readonly [Signer, ...Signer[]],
): VersionedTransaction {
  const message = new TransactionMessage({
    payerKey: signers[0].publicKey,
    recentBlockhash: blockhash,
    instructions,
  });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  transaction.sign([...signers]);
  return transaction;
}

/** An address nobody has the key of at hand. */
export function somebody(): PublicKey {
  return Keypair.generate().publicKey;
}

/** One raw JSON-RPC call, for what web3.js would not send. */
export async function rpc(chain: LocalChain, method: string, ...params: unknown[]): Promise<RpcReply> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await chain.fetch("http://local.invalid", { method: "POST", body });
  return (await response.json()) as RpcReply;
}

/** The reply to a raw call. */
export interface RpcReply {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}
