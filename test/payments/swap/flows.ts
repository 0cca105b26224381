/** What a client does in a swap, step by step; each step can be taken again after a crash and does what it did before. */
import type { PaymentService } from "../../../src/create-payment-service.ts";
import type { Caller } from "../../../src/payments/caller.ts";
import type { CreatedOrderBody } from "../../../src/payments/private/accept-order.ts";
import type { Funds } from "../../../src/local/index.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { signAsFirst } from "../../kit/swap-fixture.ts";

/** Where a client stands. */
export interface Client {
  readonly service: PaymentService;
  readonly caller: Caller;
  readonly sender: Wallet;
}

/** A swap that the client wants, and the name by which it knows it again. */
export interface WantedSwap {
  readonly name: string;
  readonly give: string;
  readonly get: string;
  readonly amount: string;
}

/** Quotes, signs and posts a wallet's swap; answers its transaction's id and what it gets. */
export async function swapByWallet(
  { service, caller, sender }: Client,
  { name, give, get, amount }: WantedSwap,
): Promise<{ readonly id: string; readonly outputAmount: string }> {
  const { body: quote } = await service.createQuote(
    caller,
    { inputAsset: give, outputAsset: get, amount, sender: sender.address },
    { idempotencyKey: `quote-${name}` },
  );
  const { quoteId, outputAmount, transaction = "" } = quote;
  const { body } = await service.createTransaction(
    caller,
    {
      ...{ type: "swap", quoteId, sender: sender.address },
      recipients: [{ address: sender.address, amount: outputAmount }],
      signedTransaction: signAsFirst(transaction, sender),
    },
    { idempotencyKey: `post-${name}` },
  );
  return { id: body.transactionId, outputAmount };
}

/** Quotes and posts a private swap; answers its transaction's id and where to send what. */
export async function swapInPrivate(
  { service, caller, sender }: Client,
  { name, give, get, amount }: WantedSwap,
): Promise<{ readonly id: string; readonly address: string; readonly depositAmount: string }> {
  const { body: quote } = await service.createQuote(
    caller,
    { inputAsset: give, outputAsset: get, amount, sender: sender.address, mode: "private" },
    { idempotencyKey: `quote-${name}` },
  );
  const { body } = await service.createTransaction(
    caller,
    {
      ...{ type: "swap", mode: "private", quoteId: quote.quoteId, sender: sender.address },
      recipients: [{ address: sender.address, amount: quote.outputAmount }],
    },
    { idempotencyKey: `post-${name}` },
  );
  const { transactionId: id, ephemeralAddress: address, depositAmount } = body as CreatedOrderBody;
  return { id, address, depositAmount };
}

/** A deposit that is made once, however often it is asked for. */
export function depositOnce(deposit: (address: string, funds: Funds) => void): typeof deposit {
  const made = new Set<string>();
  return (address, funds) => {
    if (made.has(address)) return;
    made.add(address);
    deposit(address, funds);
  };
}
