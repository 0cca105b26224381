/** `wallet-transfer` acted out: what its effects do, what it watches, and which rows its steps write. */
import { walletTransfer } from "../../machines/wallet-transfer.ts";
import type { AnnounceParams, TransferMeta } from "../../machines/wallet-transfer.ts";
import type { NoticeRecord, TransactionRecord } from "../../storage/records.ts";
import type { PaymentStorage, PaymentTables, PaymentWrite } from "../../storage/storage.ts";
import { startOf, workflow } from "../engine/index.ts";
import type { EffectHandler, StartRequest, Workflow } from "../engine/index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Logger } from "../runtime.ts";
import { derivedId } from "./ids.ts";

/** The registered chart of wallet mode. */
export type WalletTransferWorkflow = Workflow<typeof walletTransfer, PaymentTables>;

export function walletTransferWorkflow({
  storage,
  ledger,
  log,
  announce,
}: {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly log: Logger;
  readonly announce: EffectHandler<AnnounceParams, never, PaymentTables>;
}): WalletTransferWorkflow {
  return workflow(walletTransfer)<PaymentTables>({
    version: 1,
    effects: {
      // The first send. Whatever comes of it is unknown, not failed: the watch sends the same bytes again and again.
      broadcast: async ({ signature }) => {
        const [attempt] = await storage.attempts([signature]);
        if (attempt === undefined) throw new Error(`the bytes of ${signature} are not stored`);
        try {
          await ledger.broadcast(attempt.bytes);
        } catch (err) {
          log.warn({ signature, err }, "a first broadcast was not acknowledged; the watch goes on with it");
        }
        return undefined;
      },
      announce,
    },
    watches: {
      landing: ({ signature }) => signature,
      strayLanding: ({ signature }) => signature,
    },
    project: ({ id, before, after, effects }, at) => {
      const { status } = after.meta as unknown as TransferMeta;
      const { context } = after;
      const shown = { status, reason: context.reason, blockTime: context.blockTime };
      const fee = status === "cancelled" ? 0n : context.fee === null ? null : BigInt(context.fee);
      const set: Partial<Omit<TransactionRecord, "id">> = {
        ...shown,
        fee,
        ...(before?.value === "accepted" && after.value === "broadcasting" ? { broadcastAt: at } : {}),
        ...(before?.value === "accepted" && after.value === "cancelled" ? { cancelledAt: at } : {}),
        ...(after.value === "landedAfterCancel" ? { landedAfterCancel: true } : {}),
      };
      const notices = effects
        .filter(({ name }) => name === "announce")
        .map(({ params }): PaymentWrite => {
          const { notice: event } = params as AnnounceParams;
          const notice: NoticeRecord = {
            ...shown,
            id: noticeId(id, event),
            transactionId: id,
            event,
            status: event === "transaction.confirmed" ? "confirmed" : status,
            signature: context.signature,
            fee,
            body: null,
            createdAt: at,
          };
          return { table: "notices", insert: notice };
        });
      // The first step belongs to the commit that inserts the row, already as it should be.
      return before === null ? [] : [{ table: "transactions", id, set }, ...notices];
    },
  });
}

/** Each notice of a transaction exists at most once, and its id says so: the table refuses a second one. */
function noticeId(transactionId: string, event: string): string {
  return derivedId("evt", transactionId, event);
}

/** The first step of a transfer, for the commit that takes the transaction. */
export function startTransfer(
  transfer: WalletTransferWorkflow,
  id: string,
  signature: string,
  broadcastDelayMs: number,
): StartRequest {
  return startOf(transfer, id, { signature, broadcastDelayMs });
}
