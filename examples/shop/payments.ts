/** What the shop asks of the payment service: a transaction to sign, the payment, the refund. It reads no chain. */
import { Keypair, VersionedTransaction } from "@solana/web3.js";
import bs58 from "bs58";
import { isApiError, type PaymentClient } from "paystate/client";

/** An amount of one asset for one address. */
export interface Payment {
  /** The shop's own name for it, which also is its idempotency key: under one name money moves once. */
  readonly reference: string;
  readonly address: string;
  /** USDC or SOL. */
  readonly asset: string;
  /** In whole units of the asset, as decimal text. */
  readonly amount: string;
}

/** A quote's transaction, signed by who pays. */
export interface Signed {
  readonly quoteId: string;
  /** In base64. */
  readonly signedTransaction: string;
}

/** A price, and the transaction in base64 that the sender's wallet is to sign within 30 seconds. */
export interface Unsigned {
  readonly quoteId: string;
  readonly transaction: string;
}

export async function quote(
  client: PaymentClient,
  sender: string,
  { address, asset, amount }: Payment,
): Promise<Unsigned> {
  const recipients = [{ address, amount }];
  const asked = { inputAsset: asset, outputAsset: asset, amount, sender, recipients };
  const { quoteId, transaction = "" } = await client.createQuote(asked);
  return { quoteId, transaction };
}

/** Hands the signed transaction to the service. It was taken, too, where it was taken before under the same name. */
export async function order(
  client: PaymentClient,
  sender: string,
  { reference, address, asset, amount, ...signed }: Payment & Signed,
): Promise<void> {
  const recipients = [{ address, amount }];
  // A quote in another asset is refused.
  const assets = { inputAsset: asset, outputAsset: asset };
  try {
    await client.createTransaction(
      { type: "send", sender, recipients, reference, ...assets, ...signed },
      { idempotencyKey: reference },
    );
  } catch (error) {
    // Other signed bytes are under way for it, or have arrived. These are never sent.
    if (!isApiError(error, "IDEMPOTENCY_KEY_REUSED")) throw error;
  }
}

/** The shop's own wallet. */
export class ShopWallet {
  readonly #keypair: Keypair;

  /** `secretKey` is base58 of 64 bytes. */
  constructor(secretKey: string) {
    this.#keypair = Keypair.fromSecretKey(bs58.decode(secretKey));
  }

  get address(): string {
    return this.#keypair.publicKey.toBase58();
  }

  /** Pays from this wallet. Called again, also after a crash, it does not pay twice. */
  async pay(client: PaymentClient, payment: Payment): Promise<void> {
    const { data } = await client.listTransactions({ reference: payment.reference }).page();
    if (data.length > 0) return;
    const { quoteId, transaction } = await quote(client, this.address, payment);
    const unsigned = VersionedTransaction.deserialize(Buffer.from(transaction, "base64"));
    unsigned.sign([this.#keypair]);
    const signedTransaction = Buffer.from(unsigned.serialize()).toString("base64");
    await order(client, this.address, { ...payment, quoteId, signedTransaction });
  }
}
