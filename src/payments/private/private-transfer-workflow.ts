/** `private-transfer` acted out: its payouts, and the rows its steps write. */
import { privateTransfer, type PrivateTransferContext } from "../../../machines/private-transfer.ts";
import type { TransferMeta } from "../../../machines/wallet-transfer.ts";
import type { PaymentTables } from "../tables.ts";
import { isFinalStatus } from "../tables/orders.ts";
import { workflow, type PreviousInstance, type Workflow } from "../../engine/index.ts";
import { noticeWrites, untoldEvent, type AnnounceEffect } from "../notice-writes.ts";
import type { OrderRouting } from "../outgoing/planned-payment.ts";

export type PrivateTransferWorkflow = Workflow<typeof privateTransfer, PaymentTables>;

export function privateTransferWorkflow(
  routing: OrderRouting,
  announce: AnnounceEffect,
): PrivateTransferWorkflow {
  return workflow(privateTransfer)<PaymentTables>({
    version: 2,
    // The first version did not hear DECLINED while it paid; what it stored is the same.
    migrate: { 1: ({ context }: PreviousInstance<PrivateTransferContext>) => ({ context }) },
    effects: {
      route: (_params, { instance }) => routing.route(instance),
      reroute: ({ payment, fault }, { instance }) => routing.reroute(instance, payment, fault),
      announce,
    },
    project: ({ id, before, after, effects }, at) => {
      const { status } = after.meta as unknown as TransferMeta;
      const { reason, signature, blockTime, charged } = after.context;
      const fee = status === "cancelled" ? 0n : charged === null ? null : BigInt(charged);
      const shown = { status, reason, signature, blockTime, fee };
      const notices = noticeWrites(id, shown, { effects, at });
      // The first step belongs to the commit that inserts the row, already as it should be.
      if (before === null) return notices;
      const isCancelled = before.value !== "cancelled" && after.value === "cancelled";
      const ended = isFinalStatus(status) ? { finalAt: at } : {};
      const set = { ...shown, ...ended, ...(isCancelled ? { cancelledAt: at } : {}) };
      const untold = isCancelled ? [untoldEvent(id, { event: "transaction.cancelled", by: "cancel" })] : [];
      return [{ table: "transactions", id, set }, ...notices, ...untold];
    },
  });
}
