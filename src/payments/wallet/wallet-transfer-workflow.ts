/** The effects, watches and rows of the chart `wallet-transfer`. */
import { walletTransfer, type TransferMeta } from "../../../machines/wallet-transfer.ts";
import type { FrameTables } from "../frame/tables.ts";
import { isFinalStatus, type TransactionRecord } from "../frame/tables/orders.ts";
import type { AttemptRecord } from "../frame/tables/attempts.ts";
import type { FrameStorage } from "../frame/frame-storage.ts";
import { startOf, workflow, type StartRequest, type Workflow } from "../../engine/index.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Logger } from "../../core/runtime.ts";
import { attentionMessages } from "../frame/attention.ts";
import { refundWrites } from "./refund-count.ts";
import { noticeWrites, untoldEvent, type AnnounceEffect } from "../frame/notices/notice-writes.ts";
import { releaseReserved, settleReserved } from "../frame/purses/reserve.ts";

export type WalletTransferWorkflow = Workflow<typeof walletTransfer, FrameTables>;

interface TransferParts {
  readonly storage: FrameStorage;
  readonly ledger: Ledger;
  readonly log: Logger;
  /** The bytes to send. Null when no bytes are left to send, or others send them. */
  readonly complete: (attempt: AttemptRecord) => Promise<Uint8Array | null>;
  readonly announce: AnnounceEffect;
}

export function walletTransferWorkflow(parts: TransferParts): WalletTransferWorkflow {
  return workflow(walletTransfer)<FrameTables>({
    version: 1,
    effects: {
      broadcast: ({ signature }) => broadcast(parts, signature),
      announce: parts.announce,
      reportUnprovable: async ({ signature }, { instance: transactionId }) => {
        parts.log.warn({ transactionId, signature }, attentionMessages.unprovable);
        return undefined;
      },
    },
    watches: {
      landing: ({ signature }) => signature,
      strayLanding: ({ signature }) => signature,
      unprovable: ({ signature }) => signature,
      expired: ({ signature }) => signature,
    },
    project: ({ id, before, after, effects }, at) => {
      const { status, attention = null } = after.meta as unknown as TransferMeta;
      const { context } = after;
      const shown = { status, reason: context.reason, blockTime: context.blockTime };
      const fee = status === "cancelled" ? 0n : context.fee === null ? null : BigInt(context.fee);
      const isCancelled = before?.value === "accepted" && after.value === "cancelled";
      const set: Partial<Omit<TransactionRecord, "id">> = {
        ...shown,
        fee,
        ...(before?.value === "accepted" && after.value === "broadcasting" ? { broadcastAt: at } : {}),
        ...(isCancelled ? { cancelledAt: at } : {}),
        ...(LANDED_LATE.has(after.value) ? { landedAfterCancel: true } : {}),
        attention,
        landedSignature: context.landedSignature,
      };
      const notices = noticeWrites(id, { ...shown, fee, signature: context.signature }, { effects, at });
      // The first step belongs to the commit that inserts the row, already as it should be.
      if (before === null) return [];
      const wasOver = isFinalStatus((before.meta as unknown as TransferMeta).status);
      const giveBack = status === "completed" ? settleReserved : releaseReserved;
      const released = isFinalStatus(status) && !wasOver ? giveBack(context.reservations ?? [], at) : [];
      const untold = isCancelled ? [untoldEvent(id, { event: "transaction.cancelled", by: "cancel" })] : [];
      const isLate = LANDED_LATE.has(after.value) && !LANDED_LATE.has(before.value);
      const ended = (isFinalStatus(status) && !wasOver) || isLate ? { finalAt: at } : {};
      return [
        { table: "transactions", id, set: { ...set, ...ended } },
        ...notices,
        ...released,
        ...refundWrites(id, context.refundOf, { before: before.value, after: after.value, at }),
        ...untold,
      ];
    },
  });
}

/** The first send. However it ends, the outcome is unknown and not failed: the watch sends the same bytes again. */
async function broadcast(
  { storage, ledger, log, complete }: TransferParts,
  signature: string,
): Promise<undefined> {
  const [attempt] = await storage.attempts([signature]);
  if (attempt === undefined) throw new Error(`the bytes of ${signature} are not stored`);
  const bytes = await complete(attempt);
  if (bytes === null) return undefined;
  try {
    await ledger.broadcast(bytes);
  } catch (err) {
    log.warn({ signature, err }, "a first broadcast was not acknowledged; the watch goes on with it");
  }
  return undefined;
}

/** States of bytes that landed although their transaction was over. */
const LANDED_LATE: ReadonlySet<unknown> = new Set(["landedAfterCancel", "landedAfterExpiry"]);

interface TransferStart {
  /** The time in which the transaction can still be cancelled before its bytes are sent. */
  readonly broadcastDelayMs: number;
  /** Reservations for the transaction, by id; see `ExaminedTransaction`. */
  readonly reservations: readonly string[];
}

/** The first step of a transfer, for the commit that takes the transaction. */
export function startTransfer(
  transfers: WalletTransferWorkflow,
  { id, signature, refundOf }: Pick<TransactionRecord, "id" | "signature" | "refundOf">,
  start: TransferStart,
): StartRequest {
  if (signature === null) throw new Error(`transfer ${id} was not signed`);
  const refund = refundOf === null ? {} : { refundOf };
  return startOf(transfers, id, { signature, ...refund, ...start });
}
