/** Wallet transfers that wait for the chain, many at once, without the work of accepting them. */
import { SOL_MINT } from "../../src/core/address.ts";
import type { PaymentTables, PaymentStorage } from "../../src/payments/payment-storage.ts";
import type { TransactionRecord } from "../../src/payments/frame/tables/orders.ts";
import type { AttemptRecord } from "../../src/payments/frame/tables/attempts.ts";
import { createEngine, type Engine } from "../../src/engine/index.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { silentLogger, type Clock } from "../../src/core/runtime.ts";
import { startTransfer, walletTransferWorkflow } from "../../src/payments/wallet/wallet-transfer-workflow.ts";
import { watchSignatures } from "../../src/payments/wallet/watch-signatures.ts";
import bs58 from "bs58";

/** What the transfers run on. */
export interface TransferSurroundings {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly clock: Clock;
}

/** Transfers, and the engine that follows them. */
export interface TransfersInFlight {
  readonly engine: Engine<PaymentTables>;
  readonly signatures: readonly string[];
  /** How many of them were told that they have reached this status. */
  told(status: TransactionRecord["status"]): number;
}

const SIGNATURE_BYTES = 64;
/** Far above any height that a node in tests is at: nothing dies. */
const LAST_VALID_HEIGHT = 1_000_000;

/** A signature like no other of the same call, in the order of their indexes. */
function signatureOf(index: number): Buffer {
  const bytes = Buffer.alloc(SIGNATURE_BYTES, 7);
  bytes.writeUInt32BE(index);
  return bytes;
}

function rowsOf(index: number, now: number): { transaction: TransactionRecord; attempt: AttemptRecord } {
  const signed = signatureOf(index);
  const [id, signature] = [`tx_${index}`, bs58.encode(signed)];
  const transaction: TransactionRecord = {
    id,
    accountId: "account",
    quoteId: `quote_${index}`,
    type: "send",
    mode: "wallet",
    sender: SOL_MINT,
    inputMint: "mint",
    inputAmount: 1n,
    outputMint: "mint",
    outputAmount: 1n,
    senderAllowOffCurve: false,
    feeMint: "mint",
    reference: null,
    refundOf: null,
    requestHash: id,
    status: "pending",
    reason: null,
    signature,
    blockTime: null,
    fee: null,
    landedAfterCancel: false,
    broadcastAt: null,
    cancelledAt: null,
    finalAt: null,
    createdAt: now,
    attention: null,
    landedSignature: null,
  };
  const bytes = Uint8Array.from([1, ...signed, 9]);
  const attempt: AttemptRecord = {
    id: signature,
    messageHash: id,
    transactionId: id,
    bytes,
    blockhash: "blockhash",
    lastValidBlockHeight: LAST_VALID_HEIGHT,
    createdAt: now,
    firstSlot: 0,
    reference: null,
    transfer: null,
    takenAt: null,
    legs: null,
    bid: null,
    error: null,
  };
  return { transaction, attempt };
}

/** So many transfers, committed and on their way to be broadcast as soon as the engine runs. */
export async function transfersInFlight(
  { storage, ledger, clock }: TransferSurroundings,
  count: number,
): Promise<TransfersInFlight> {
  const log = silentLogger;
  const transfers = walletTransferWorkflow({
    storage,
    ledger,
    log,
    announce: { run: async () => undefined },
    complete: async () => null,
  });
  const watching = { storage, ledger, clock, log, intervalMs: 1_000 };
  const engine = createEngine<PaymentTables>({
    storage,
    clock,
    logger: log,
    workflows: [transfers],
    watchers: watchSignatures(watching),
  });
  const told = new Map<string, Set<string>>();
  engine.subscribe(({ commit: { writes = [] } }) => {
    for (const write of writes) {
      if (write.table !== "transactions" || !("set" in write) || write.set.status === undefined) continue;
      told.set(write.set.status, (told.get(write.set.status) ?? new Set()).add(write.id));
    }
  });
  const rows = Array.from({ length: count }, (_, index) => rowsOf(index, clock.now()));
  await Promise.all(
    rows.map(({ transaction, attempt }) =>
      engine.commit({
        starts: [startTransfer(transfers, transaction, { broadcastDelayMs: 0, reservations: [] })],
        writes: [
          { table: "transactions", insert: transaction },
          { table: "attempts", insert: attempt },
        ],
      }),
    ),
  );
  return {
    engine,
    signatures: rows.map(({ attempt }) => attempt.id),
    told: (status) => told.get(status)?.size ?? 0,
  };
}
