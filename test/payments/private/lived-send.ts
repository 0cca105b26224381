/** Payments of a random life that their senders sign: how they are posted, and what the chain is given past the service. */
// modules: private
import bs58 from "bs58";
import { formatAmount } from "../../../src/core/amount.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { splitTransaction } from "../../../src/ledger/wire-format.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import { signPayment, type Wallet } from "../../kit/chain-fixture.ts";
import type { ServiceFixture } from "../../kit/service-fixture.ts";
import { signAgain } from "../../kit/sign-again.ts";
import { decimalsOf, inUnits } from "./lived-order.ts";
import type { SendWords } from "./random-life.ts";
import { SOL } from "./scene.ts";

/** A payment and what the world outside knows of it. */
export interface LivedSend {
  readonly words: SendWords;
  readonly sender: Wallet;
  readonly payee: Wallet;
  /** In base units. */
  readonly amount: bigint;
  /** Null until the service has taken it. */
  taken: { readonly id: string; readonly signature: string } | null;
}

/** Nobody in it has to do with anything else. */
export function sendOf(world: ServiceFixture, words: SendWords, index: number): LivedSend {
  return {
    words,
    sender: world.wallet(`wallet sender ${index}`, {
      lamports: 20n * SOL,
      usdc: 50_000_000n,
      usdt: 50_000_000n,
    }),
    payee: world.wallet(`wallet payee ${index}`, { lamports: SOL, usdc: 1n, usdt: 1n }),
    amount: inUnits(words.amount, words.asset),
    taken: null,
  };
}

/** Quotes, signs and posts it; `ledger` is the sender's own. Rejects with what the service refuses it with. */
export async function postSend(
  service: Pick<PaymentService, "createQuote" | "createTransaction">,
  { caller, ledger }: { readonly caller: Caller; readonly ledger: Pick<Ledger, "broadcast"> },
  send: LivedSend,
): Promise<void> {
  const { words, sender, payee, amount } = send;
  const recipients = [{ address: payee.address, amount: formatAmount(amount, decimalsOf(words.asset)) }];
  const { body: quote } = await service.createQuote(caller, {
    inputAsset: words.asset,
    outputAsset: words.asset,
    amount: formatAmount(amount, decimalsOf(words.asset)),
    sender: sender.address,
    recipients,
    ...(words.isVersion1 ? { transactionVersion: 1 } : {}),
  });
  const signedTransaction = signPayment(Buffer.from(quote.transaction ?? "", "base64"), sender.secretKey);
  const { body } = await service.createTransaction(caller, {
    type: "send",
    quoteId: quote.quoteId,
    sender: sender.address,
    recipients,
    signedTransaction,
  });
  const [signature = new Uint8Array()] =
    splitTransaction(Buffer.from(signedTransaction, "base64"))?.signatures ?? [];
  send.taken = { id: body.transactionId, signature: bs58.encode(signature) };
  if (!words.isSignedAgain) return;
  const again = signAgain(signedTransaction, sender.secretKey);
  await ledger.broadcast(Buffer.from(again, "base64"));
}
