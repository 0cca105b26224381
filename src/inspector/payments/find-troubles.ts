/** Finds troubles of a payment service: those of modules, failing webhooks, and matters reported to the operator. */
import type { InspectedPaymentParts } from "../../payments/payment-storage.ts";
import { allShown } from "./module-views.ts";

const MAX_FOUND = 50;

/** Troubles by instance. Empty for an engine without payments. */
export async function troublesOf(
  payments: InspectedPaymentParts | undefined,
): Promise<(readonly [id: string, trouble: string])[]> {
  if (payments === undefined) return [];
  const { reads } = payments;
  const [own, matters, abandoned, retried] = await Promise.all([
    allShown((module) => module.troubles(payments, MAX_FOUND)),
    reads.openMatters(MAX_FOUND),
    reads.abandonedDeliveries(MAX_FOUND),
    reads.retriedDeliveries(MAX_FOUND),
  ]);
  const given = await Promise.all(
    abandoned.map(async ({ webhookId }) => reads.deliveriesTo(webhookId, { below: null, limit: MAX_FOUND })),
  );
  return [
    ...own,
    ...matters.flatMap(({ transactionId, message, state }) =>
      transactionId === null || state !== "waiting" ? [] : [[transactionId, message] as const],
    ),
    ...given
      .flat()
      .filter(({ status }) => status === "abandoned")
      .map(({ id }) => [id, "its webhook did not take it, and it is no longer tried"] as const),
    ...retried.map(({ id, attempts }) => {
      const times = attempts === 1 ? "one attempt" : `${attempts} attempts`;
      return [id, `its webhook did not take it in ${times}; it is tried again`] as const;
    }),
  ];
}
