/** The stored row of a matter, as the guard of what is decided about it. */
import type { MatterRecord } from "../../../../storage/records.ts";
import type { PaymentStorage, PaymentWrite } from "../../../../storage/storage.ts";
import type { Look } from "../attention/list-matters.ts";

/**
 * A write that sets what waits for a second person (null: nothing), and is refused when anybody has decided about the
 * matter since its row was read. The row is made where no look has seen the matter yet.
 */
export function guardOf(
  { id, kind, transactionId, accountId, message, since }: Look["matters"][number],
  row: MatterRecord | undefined,
  proposal: string | null,
): PaymentWrite {
  if (row !== undefined) return { table: "matters", id, set: { proposal }, expectedVersion: row.version };
  const insert: MatterRecord = {
    ...{ id, version: 1, kind, state: "waiting", message, since, proposal },
    ...{ transactionId: transactionId ?? null, accountId: accountId ?? null },
    ...{ toldAt: null, tellingUntil: null },
  };
  return { table: "matters", insert };
}

/** The row of a matter; undefined where no look has seen it yet. */
export async function rowOf(
  storage: Pick<PaymentStorage, "matters">,
  id: string,
): Promise<MatterRecord | undefined> {
  const [row] = await storage.matters([id]);
  return row;
}
