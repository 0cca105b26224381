/** What a client of the README's server does: a quote, a signature, a transaction. */
import { Keypair, VersionedTransaction } from "@solana/web3.js";

/** Sends 1.5 SOL over the API at `url`, and returns the transaction's id. Throws what the API refuses. */
export async function sendSol(
  { url, key }: { readonly url: string; readonly key: string },
  { from, to }: { readonly from: Uint8Array; readonly to: string },
): Promise<string> {
  const post = async (path: string, body: object): Promise<Record<string, string>> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, string>;
  };

  const wallet = Keypair.fromSecretKey(from);
  const sender = wallet.publicKey.toBase58();
  const recipients = [{ address: to, amount: "1.5" }];
  const wish = { inputAsset: "SOL", outputAsset: "SOL", amount: "1.5", sender, recipients };
  const { quoteId, transaction = "" } = await post("/quotes", wish);
  const signed = VersionedTransaction.deserialize(Buffer.from(transaction, "base64"));
  signed.sign([wallet]);
  const signedTransaction = Buffer.from(signed.serialize()).toString("base64");
  const order = { type: "send", quoteId, sender, recipients, signedTransaction };
  const { transactionId = "" } = await post("/transactions", order);
  return transactionId;
}
