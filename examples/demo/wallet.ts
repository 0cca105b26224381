/** What a wallet does: it shows its owner the transaction, signs it, and gives it back. */
import bs58 from "bs58";

/** Signs an unsigned transaction in base64 with a secret key in base58, using nothing but web3.js. */
export async function signInWallet(unsignedTransaction: string, secretKey: string): Promise<string> {
  const { Keypair, VersionedTransaction } = await import("@solana/web3.js");
  const transaction = VersionedTransaction.deserialize(Buffer.from(unsignedTransaction, "base64"));
  transaction.sign([Keypair.fromSecretKey(bs58.decode(secretKey))]);
  return Buffer.from(transaction.serialize()).toString("base64");
}
