/** Tells whether a newer decision of an operator overtakes a refund: a newer decision takes back an earlier one. */
import type { PaymentStorage } from "../payment-storage.ts";
import type { StoredPlan } from "./plans/stored-plan.ts";

/** Whether the refund was planned by an operator's word that is no longer the newest. */
export async function isOvertaken(
  storage: Pick<PaymentStorage, "vouchings">,
  { word }: Pick<StoredPlan, "word">,
  address: string,
): Promise<boolean> {
  return word !== undefined && (await storage.vouchings(address)).at(-1)?.id !== word;
}
