/** What a wallet does: it has a payment quoted, signs it, and hands it in. */
import { type Keypair, VersionedTransaction } from "@solana/web3.js";
import type { PaymentClient } from "paystate/client";

/** Pays an order 1.5 SOL and returns the transaction's id. Called again, also after a crash, it does not pay twice. */
export async function sendSol(
  client: PaymentClient,
  { order, from, to }: { readonly order: string; readonly from: Keypair; readonly to: string },
): Promise<string> {
  const [earlier] = (await client.listTransactions({ reference: order }).page()).data;
  if (earlier !== undefined) return earlier.transactionId;
  const sender = from.publicKey.toBase58();
  const recipients = [{ address: to, amount: "1.5" }];
  const wish = { inputAsset: "SOL", outputAsset: "SOL", amount: "1.5", sender, recipients };
  const { quoteId, transaction } = await client.createQuote(wish);
  const signed = VersionedTransaction.deserialize(Buffer.from(transaction ?? "", "base64"));
  signed.sign([from]);
  const signedTransaction = Buffer.from(signed.serialize()).toString("base64");
  const send = { type: "send", quoteId, sender, recipients, signedTransaction, reference: order } as const;
  return (await client.createTransaction(send, { idempotencyKey: order })).transactionId;
}
