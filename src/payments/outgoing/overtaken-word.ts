/** Whether a refund goes where an operator has wanted it: a newer word takes back what an earlier one has said. */
import type { PaymentStorage } from "../payment-storage.ts";
import type { StoredPlan } from "./plans/stored-plan.ts";

/** Whether the refund was planned by a word of an operator that is not the newest one any more. */
export async function isOvertaken(
  storage: Pick<PaymentStorage, "vouchings">,
  { word }: Pick<StoredPlan, "word">,
  address: string,
): Promise<boolean> {
  return word !== undefined && (await storage.vouchings(address)).at(-1)?.id !== word;
}
