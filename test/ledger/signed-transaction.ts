/** Transactions as a wallet, or an attacker's wallet, would sign them: any instructions, any signers, either format. */
import {
  Keypair,
  PublicKey,
  TransactionMessage,
  VersionedTransaction,
  type AddressLookupTableAccount,
  type TransactionInstruction,
} from "@solana/web3.js";
import bs58 from "bs58";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { ChainFixture, Wallet } from "../kit/chain-fixture.ts";

/** How a transaction is put together. */
export interface Signing {
  /** The fee payer first. */
  readonly signers: readonly Pick<Wallet, "secretKey">[];
  readonly instructions: readonly TransactionInstruction[];
  /** A v0 transaction over these tables; legacy when left out. */
  readonly tables?: readonly AddressLookupTableAccount[];
  /** The newest confirmed one when left out. */
  readonly blockhash?: string;
}

/** The signed transaction in base64. */
export async function signed({ chain }: Pick<ChainFixture, "chain">, signing: Signing): Promise<string> {
  const signers = signing.signers.map(({ secretKey }) => Keypair.fromSecretKey(secretKey));
  const [payer] = signers;
  if (payer === undefined) throw new TypeError("a transaction has a fee payer");
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: signing.blockhash ?? (await newestBlockhash(chain)),
    instructions: [...signing.instructions],
  });
  const compiled =
    signing.tables === undefined
      ? message.compileToLegacyMessage()
      : message.compileToV0Message([...signing.tables]);
  const transaction = new VersionedTransaction(compiled);
  transaction.sign(signers);
  return Buffer.from(transaction.serialize()).toString("base64");
}

/** Signs, sends and waits until it is finalized. Throws when it failed: a test's preparations must not. */
export async function land(fixture: ChainFixture, signing: Signing): Promise<string> {
  const bytes = Buffer.from(await signed(fixture, signing), "base64");
  const [signature = ""] = VersionedTransaction.deserialize(bytes).signatures.map((each) =>
    bs58.encode(each),
  );
  await fixture.ledger.broadcast(bytes);
  fixture.chain.advance(33);
  const [status] = await fixture.ledger.statuses([signature]);
  if (status?.commitment !== "finalized" || status.error !== null) {
    throw new Error(`a preparation did not land: ${JSON.stringify(status)}`);
  }
  return signature;
}

/** The reason why a transaction is refused, or "accepted". */
export async function verdict(
  ledger: Ledger,
  transaction: string,
  payment: Parameters<Ledger["verifyPayment"]>[1],
): Promise<string> {
  const answer = await ledger.verifyPayment(transaction, payment);
  return "refused" in answer ? answer.refused : "accepted";
}

/** A wallet's public key. */
export function keyOf({ address }: Pick<Wallet, "address">): PublicKey {
  return new PublicKey(address);
}

async function newestBlockhash(chain: ChainFixture["chain"]): Promise<string> {
  const body = { jsonrpc: "2.0", id: 1, method: "getLatestBlockhash", params: [{ commitment: "confirmed" }] };
  const answer = await chain.fetch("http://local", { body: JSON.stringify(body) });
  return ((await answer.json()) as { result: { value: { blockhash: string } } }).result.value.blockhash;
}
