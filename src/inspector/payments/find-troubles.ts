/** Finds troubles of a payment service: those of modules, and matters reported to the operator. */
import type { InspectedPaymentParts } from "../../payments/payment-storage.ts";
import { allShown } from "./module-views.ts";

const MAX_FOUND = 50;

/** Troubles by instance. Empty for an engine without payments. */
export async function troublesOf(
  payments: InspectedPaymentParts | undefined,
): Promise<(readonly [id: string, trouble: string])[]> {
  if (payments === undefined) return [];
  const { reads } = payments;
  const [own, matters] = await Promise.all([
    allShown((module) => module.troubles(payments, MAX_FOUND)),
    reads.openMatters(MAX_FOUND),
  ]);
  return [
    ...own,
    ...matters.flatMap(({ transactionId, message, state }) =>
      transactionId === null || state !== "waiting" ? [] : [[transactionId, message] as const],
    ),
  ];
}
