/** Takes again what a write-off has freed, for an order that an operator releases before it is over: it is going to pay. */
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { DepositRecord } from "../tables/deposits.ts";
import { dayShareId } from "./sponsor-limit.ts";
import { boundShareId, waitingShareId } from "./sponsor-share.ts";

/**
 * The sponsor's reservation, what counts of the day, and the shares of the order's account, as far as they were released.
 * None is refused for want of room: it is an operator's word, and no new order.
 */
export async function boundAgain(
  storage: Pick<PaymentStorage, "reservation">,
  { transactionId, waitEndedAt }: Pick<DepositRecord, "transactionId" | "waitEndedAt">,
): Promise<readonly PaymentWrite[]> {
  const ids = [transactionId, dayShareId(transactionId), boundShareId(transactionId)];
  // The share of waiting orders ended when it stopped waiting.
  if (waitEndedAt === null) ids.push(waitingShareId(transactionId));
  const rows = await Promise.all(ids.map((id) => storage.reservation(id)));
  return rows.flatMap((row): readonly PaymentWrite[] => {
    if (row === null || row.releasedAt === null) return [];
    const { id, version: expectedVersion, lapsesAt, releasedAt } = row;
    // A share that lapses by itself keeps its time; a share that ended with the write-off counts until its order is
    // over.
    const set = { releasedAt: null, lapsesAt: lapsesAt === releasedAt ? null : lapsesAt };
    return [{ table: "reservations", id, set, expectedVersion }];
  });
}
