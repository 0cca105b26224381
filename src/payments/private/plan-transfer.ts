/** Plans a transfer: its row, and the start of its chart. Amounts are decided when it is signed, from a reading. */
import { chunkTransfer } from "../../../machines/order-messages.ts";
import { startOf, type StartRequest } from "../../engine/index.ts";
import type { Clock } from "../../core/runtime.ts";
import { derivedId } from "../frame/ids.ts";
import type { PrivateWrite } from "./private-storage.ts";
import type { TransferRecord } from "./tables.ts";
import type { TransferWorkflow } from "./transfer-workflow.ts";

/** One thing to send out of an order's address. */
export interface WantedTransfer extends Pick<TransferRecord, "kind" | "n" | "mint" | "to" | "subjects"> {
  /** The id of its order. */
  readonly order: string;
}

/** The rows for a commit that plans a transfer. */
export interface PlannedTransfer {
  readonly start: StartRequest;
  readonly write: PrivateWrite;
}

/** Planning the same transfer twice gives the same id, and the second commit is refused. */
export type PlanTransfer = (wanted: WantedTransfer) => PlannedTransfer;

/** The id of a transfer, which is also the instance of its chart. */
export function transferId({ order, kind, n }: Pick<WantedTransfer, "order" | "kind" | "n">): string {
  return kind === "chunk" ? chunkTransfer(order, n) : derivedId("tr", order, kind, String(n));
}

/** `transfers` is asked for late: orders and transfers start each other. */
export function planTransfer(transfers: () => TransferWorkflow, clock: Clock): PlanTransfer {
  return (wanted) => {
    const { order, kind, n, mint, to, subjects } = wanted;
    const id = transferId(wanted);
    const insert: TransferRecord = {
      id,
      order,
      kind,
      n,
      mint,
      to,
      subjects,
      state: "planned",
      notBefore: null,
      reason: null,
      reserved: [],
      signature: null,
      legs: null,
      alsoLanded: [],
      landedAt: null,
      stuckSince: null,
      createdAt: clock.now(),
    };
    return {
      start: startOf(transfers(), id, { order, kind }),
      write: { table: "transfers", insert },
    };
  };
}
