/** Having the provider sign a wallet's swap, once "broadcast started" is committed and never before. */
import type { AttemptRecord } from "../../../storage/records.ts";
import type { PaymentStorage } from "../../../storage/storage.ts";
import type { Address } from "../../address.ts";
import { splitTransaction } from "../../ledger/wire-format.ts";
import { readExchange } from "./stored-exchange.ts";
import type { Exchanger } from "./swap-provider.ts";

/**
 * Answers the whole bytes, which are stored before it does; or null when the provider sends them, or when the chain has
 * decided without it. After a crash it signs again: the same message, which the chain takes once.
 */
export async function completeExchange(
  { storage, exchanger }: { readonly storage: PaymentStorage; readonly exchanger: Exchanger | null },
  { id, transactionId, bytes }: AttemptRecord,
): Promise<Uint8Array | null> {
  const view = await storage.transaction(transactionId);
  if (view === null) throw new Error(`transaction ${transactionId} is not stored`);
  if (view.transaction.status !== "pending") return null;
  const quote = await storage.quote(view.transaction.quoteId);
  const exchange = quote === null ? null : readExchange(quote);
  const [signature] = splitTransaction(bytes)?.signatures ?? [];
  if (exchange === null || signature === undefined) {
    throw new Error(`the exchange of ${transactionId} is not stored`);
  }
  if (exchanger === null) throw new Error(`no swap provider is configured to complete ${transactionId}`);
  const sender = view.transaction.sender as Address;
  const whole = await exchanger.complete({ ...exchange, sender, signature, bytes });
  if (whole === null) return null;
  const [stored] = await storage.commit([{ writes: [{ table: "attempts", id, set: { bytes: whole } }] }]);
  if (stored?.ok !== true) throw new Error(`the whole bytes of ${transactionId} could not be stored`);
  return whole;
}
