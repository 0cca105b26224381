/** The part of a wallet: it has a payment quoted, signs it, and hands it in. */
import { type Keypair, VersionedTransaction } from "@solana/web3.js";
import type { PaymentClient } from "paystate/client";
import { PRICE } from "./shop.ts";

/** Pays the price of an order and returns the transaction's id. Called again, also after a crash, it does not pay twice. */
export async function sendPrice(
  client: PaymentClient,
  { order, from, to }: { readonly order: string; readonly from: Keypair; readonly to: string },
): Promise<string> {
  const [earlier] = (await client.listTransactions({ reference: order }).page()).data;
  if (earlier !== undefined) return earlier.transactionId;
  const sender = from.publicKey.toBase58();
  const { asset, amount } = PRICE;
  const recipients = [{ address: to, amount }];
  const wish = { inputAsset: asset, outputAsset: asset, amount, sender, recipients };
  const { quoteId, transaction } = await client.createQuote(wish);
  const signed = VersionedTransaction.deserialize(Buffer.from(transaction ?? "", "base64"));
  signed.sign([from]);
  const signedTransaction = Buffer.from(signed.serialize()).toString("base64");
  const send = { type: "send", quoteId, sender, recipients, signedTransaction, reference: order } as const;
  return (await client.createTransaction(send, { idempotencyKey: order })).transactionId;
}
