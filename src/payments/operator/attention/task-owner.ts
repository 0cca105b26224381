/** Reads which transaction and account a task of the engine belongs to. */
import type { TaskRecord } from "../../../../storage/storage.ts";
import type { PaymentStorage } from "../../payment-storage.ts";

type TaskOwnerReads = Pick<PaymentStorage, "transaction" | "deposits" | "payment">;

/** Empty where the task's instance is of no transaction, such as a delivery. */
export async function ownerOf(
  storage: TaskOwnerReads,
  { instance }: Pick<TaskRecord, "instance">,
): Promise<{ readonly transactionId?: string; readonly accountId?: string }> {
  const transactionId = await transactionOf(storage, instance);
  const view = await storage.transaction(transactionId);
  return view === null ? {} : { transactionId, accountId: view.transaction.accountId };
}

/** An instance has the id of its transaction, of its deposit address, or of its payment. */
async function transactionOf(storage: TaskOwnerReads, instance: string): Promise<string> {
  const [deposit] = await storage.deposits([instance]);
  return deposit?.transactionId ?? (await storage.payment(instance))?.transactionId ?? instance;
}
