/** Plans a transfer: its row, and the start of its chart. Amounts are decided when it is signed, from a reading. */
import { chunkTransfer } from "../../../machines/order-messages.ts";
import { startOf, type StartRequest } from "../../engine/index.ts";
import type { Clock } from "../../runtime.ts";
import { derivedId } from "../ids.ts";
import type { PaymentWrite } from "../payment-storage.ts";
import type { TransferRecord } from "../tables/private.ts";
import type { TransferWorkflow } from "./transfer-workflow.ts";

/** One thing to send out of an order's address. */
export interface WantedTransfer extends Pick<TransferRecord, "kind" | "n" | "mint" | "to" | "subjects"> {
  /** The id of its order. */
  readonly order: string;
  /** Nothing is signed before, in milliseconds since the Unix epoch, and why; left out, it is signed at once. */
  readonly notBefore?: number;
  readonly reason?: string;
}

/** What belongs into the commit that plans a transfer. */
export interface PlannedTransfer {
  readonly start: StartRequest;
  readonly write: PaymentWrite;
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
    const { order, kind, n, mint, to, subjects, notBefore = null, reason = null } = wanted;
    const id = transferId(wanted);
    const createdAt = clock.now();
    const insert: TransferRecord = {
      id,
      order,
      kind,
      n,
      mint,
      to,
      subjects,
      state: "planned",
      notBefore,
      reason,
      reserved: [],
      signature: null,
      legs: null,
      landedAt: null,
      stuckSince: null,
      createdAt,
    };
    return {
      start: startOf(transfers(), id, {
        order,
        kind,
        pauseMs: Math.max(0, (notBefore ?? createdAt) - createdAt),
      }),
      write: { table: "transfers", insert },
    };
  };
}
