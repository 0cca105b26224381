/** `paystate release`: the operator's word that a deposit address may be settled. */
import { isPaymentError } from "../errors.ts";
import type { OperatorService } from "./open-service.ts";

/** Releases the address of an order and prints what that means. Throws a sentence for what is no order of private mode. */
export async function release(
  service: OperatorService,
  print: (text: string) => void,
  transactionId: string,
): Promise<void> {
  const released = await service.releaseDeposit(transactionId).catch((error: unknown) => {
    if (!isPaymentError(error, "TRANSACTION_NOT_FOUND")) throw error;
    throw new Error(`there is no private transaction ${transactionId}`, { cause: error });
  });
  const { address, heldReason, explained } = released;
  const held = heldReason === null ? "" : ` It was held: ${heldReason}.`;
  const vouched = explained.length === 0 ? "" : ` You have vouched for ${explained.join(", ")}.`;
  print(
    `${address} is released.${held}${vouched} What is there goes back as soon as the service is at work.`,
  );
}
