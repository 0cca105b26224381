/** `paystate release`: the operator's word that a deposit address may be settled, or that tokens leave it. */
import { isPaymentError } from "../errors.ts";
import type { ReturnOrder } from "../payments/private/order-return.ts";
import type { OperatorService } from "./open-service.ts";
import type { Print } from "./print.ts";

/** Releases the address of an order and prints what that means. Throws a sentence for what is no order of private mode. */
export async function release(service: OperatorService, transactionId: string, print: Print): Promise<void> {
  const released = await service.releaseDeposit(transactionId).catch(inASentence);
  const { address, heldReason, explained } = released;
  const held = heldReason === null ? "" : ` It was held: ${heldReason}.`;
  const vouched = explained.length === 0 ? "" : ` You have vouched for ${explained.join(", ")}.`;
  print(
    `${address} is released.${held}${vouched} What is there goes back as soon as the service is at work.`,
  );
}

/** Tokens of another mint at the address of an order, and where they go. */
export interface TokenReturn extends ReturnOrder {
  readonly transactionId: string;
}

/** Orders that tokens of another mint be sent on, and prints what goes where. Throws a sentence for what cannot be. */
export async function returnTokens(
  service: OperatorService,
  { transactionId, ...order }: TokenReturn,
  print: Print,
): Promise<void> {
  const ordered = await service.returnTokens(transactionId, order).catch(inASentence);
  const { address, mint, to, amount, left } = ordered;
  const rest = left === "0" ? "" : ` ${left} stay: release them again once this is done.`;
  print(`${amount} of ${mint} go from ${address} to ${to} as soon as the service is at work.${rest}`);
}

function inASentence(error: unknown): never {
  if (isPaymentError(error, "TRANSACTION_NOT_FOUND")) {
    const { transactionId } = error.details;
    throw new Error(`there is no private transaction ${transactionId}`, { cause: error });
  }
  if (isPaymentError(error, "INVALID_ASSET")) {
    throw new Error(`--mint ${error.details.asset} is no address of a mint`, { cause: error });
  }
  if (isPaymentError(error, "INVALID_ADDRESS")) {
    throw new Error(`--to ${error.details.address} is no address`, { cause: error });
  }
  if (isPaymentError(error, "INVALID_RECIPIENT")) {
    const { address, reason } = error.details;
    throw new Error(`--to ${address} cannot be paid (${reason}): name a wallet`, { cause: error });
  }
  throw error;
}
