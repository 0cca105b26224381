/** The transaction of a wallet's swap as its quote keeps it, until the sender has signed it. */
import type { QuoteRecord } from "../tables/orders.ts";
import { readJson, writeJson } from "../json-with-amounts.ts";
import type { ReservationName } from "../swap-provider/reserve.ts";
import type { BuiltSwap } from "../swap-provider/swap-provider.ts";

/** The swap of the newest version of a quote, and its reservations. */
export interface QuotedSwap extends BuiltSwap {
  /** Reservations; empty for a quote that was refreshed for too long. */
  readonly reservations: readonly ReservationName[];
}

interface Stored extends Omit<QuotedSwap, "unsigned"> {
  readonly unsigned: Omit<QuotedSwap["unsigned"], "message"> & {
    /** Base64. */ readonly message: string;
  };
}

/** Before words of a provider's own, which otherwise could look like an amount. */
const TICKET = "ticket ";

/** The swap as JSON text, with the message in base64. */
export function writeSwap(swap: QuotedSwap): string {
  const message = Buffer.from(swap.unsigned.message).toString("base64");
  const ticket = swap.ticket === null ? null : TICKET + swap.ticket;
  return writeJson({ ...swap, unsigned: { ...swap.unsigned, message }, ticket } satisfies Stored);
}

/** The swap of a quote, null when it has none. */
export function readSwap({ swap }: Pick<QuoteRecord, "swap">): QuotedSwap | null {
  if (swap === null) return null;
  const { unsigned, ticket, ...stored } = readJson(swap) as Stored;
  const message = Uint8Array.from(Buffer.from(unsigned.message, "base64"));
  return { ...stored, unsigned: { ...unsigned, message }, ticket: ticket?.slice(TICKET.length) ?? null };
}
