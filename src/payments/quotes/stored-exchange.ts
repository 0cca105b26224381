/** The transaction of a wallet's swap as its quote keeps it, until the sender has signed it. */
import type { QuoteRecord } from "../records.ts";
import { readJson, writeJson } from "../json-with-amounts.ts";
import type { ReservationName } from "../swap-provider/reserve.ts";
import type { BuiltExchange } from "../swap-provider/swap-provider.ts";

/** What was given out with the newest version of the quote, and what is set aside for it. */
export interface QuotedExchange extends BuiltExchange {
  /** Nothing any more for a quote that was refreshed for too long. */
  readonly reservations: readonly ReservationName[];
}

interface Stored extends Omit<QuotedExchange, "unsigned"> {
  readonly unsigned: Omit<QuotedExchange["unsigned"], "message"> & {
    /** Base64. */ readonly message: string;
  };
}

/** Before words of a provider's own, which otherwise could look like an amount. */
const TICKET = "ticket ";

/** As JSON text, the message in base64. */
export function writeExchange(exchange: QuotedExchange): string {
  const message = Buffer.from(exchange.unsigned.message).toString("base64");
  const ticket = exchange.ticket === null ? null : TICKET + exchange.ticket;
  return writeJson({ ...exchange, unsigned: { ...exchange.unsigned, message }, ticket } satisfies Stored);
}

/** The exchange of a quote, null when it has none. */
export function readExchange({ exchange }: Pick<QuoteRecord, "exchange">): QuotedExchange | null {
  if (exchange === null) return null;
  const { unsigned, ticket, ...stored } = readJson(exchange) as Stored;
  const message = Uint8Array.from(Buffer.from(unsigned.message, "base64"));
  return { ...stored, unsigned: { ...unsigned, message }, ticket: ticket?.slice(TICKET.length) ?? null };
}
