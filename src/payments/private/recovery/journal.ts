/** The journal of private orders, outside of the database: each order before its address is handed out, and each end that no marker tells. */
import { z } from "zod";
import { parseAddress, type Address } from "../../../core/address.ts";
import { PaymentError } from "../../../errors/errors.ts";
import type { Clock } from "../../../core/runtime.ts";
import { callHost } from "../../frame/host-parts.ts";
import type { CreatedOrderBody } from "../accept-order.ts";
import type { AcceptHandler, CheckedRequest } from "../../frame/quotes/checked-request.ts";
import type { ClosingOrder, OrderRecord } from "../tables.ts";

const address = z.string().transform((text, context): Address => {
  const parsed = parseAddress(text);
  if ("address" in parsed) return parsed.address;
  context.addIssue("expected an address");
  return z.NEVER;
});

/** The line of an order. With the master secret it brings back the address, and what lies there. It is no secret. */
export interface OrderLine {
  /** The transaction's id. */
  readonly id: string;
  /** The version of the master secret that the address is derived from. */
  readonly masterVersion: number;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
  readonly layout: 1;
  /** Where money goes back to. */
  readonly sender: Address;
  /** The mint of the deposit. */
  readonly mint: Address;
  /** How many groups of recipients it pays, each with a marker of its own. */
  readonly chunks: number;
  /** Lamports of rent a byte, decimal. */
  readonly rentPerByte: string;
  /** The end of the deposit window on the chain's clock, in milliseconds since the Unix epoch. */
  readonly windowEnds: number;
}

const orderLine: z.ZodType<OrderLine> = z.strictObject({
  id: z.string(),
  masterVersion: z.number().int().min(1),
  createdAt: z.number().int().min(0),
  layout: z.literal(1),
  sender: address,
  mint: address,
  chunks: z.number().int().min(1),
  rentPerByte: z.string().regex(/^\d+$/),
  windowEnds: z.number().int().min(0),
});

/** The line of an end that the chain does not know of: written before anybody is told. */
export interface EndLine {
  readonly id: string;
  readonly status: "failed" | "cancelled";
  readonly reason: string | null;
}

const endLine: z.ZodType<EndLine> = z.strictObject({
  id: z.string(),
  status: z.enum(["failed", "cancelled"]),
  reason: z.string().nullable(),
});

/** The schema of a line. */
export const journalLine: z.ZodType<JournalLine> = z.union([orderLine, endLine]);

/** A line of the journal; JSON holds it. */
export type JournalLine = OrderLine | EndLine;

/**
 * Keeps lines where the database's loss does not reach them.
 *
 * `write` resolves once the line is durable. It is awaited before a deposit address is handed out; if it rejects, or takes
 * longer than ten seconds, the order is refused with `ROUTING_UNAVAILABLE` upstream and nothing of it is kept. A line may be
 * of an order that was not taken after all, and of two ends of an order the first one counts. `read` gives all lines, the
 * oldest first: each start reads them.
 */
export interface RecoveryJournal {
  write(line: JournalLine): Promise<void>;
  /** The first end that was written of this order; null for none. */
  endOf(id: string): Promise<EndLine | null>;
  read(): AsyncIterable<JournalLine>;
}

/** The dependencies of a written line. */
export interface JournalParts {
  readonly journal: Pick<RecoveryJournal, "write" | "endOf">;
  readonly clock: Clock;
}

const CALLBACK_MS = 10_000;
/** Seconds after which ROUTING_UNAVAILABLE advises a retry. */
const RETRY_SECONDS = 30;

/**
 * Writes the line of an end unless one stands, and gives the one that does: it is what callers are told, whatever a copy of
 * the database has forgotten. Rejects unless the host answers in time: then nobody may be told.
 */
export async function recordEnd(
  parts: JournalParts,
  id: string,
  { status, reason }: ClosingOrder,
): Promise<EndLine> {
  const line = { id, status, reason };
  const before = await asked(parts, (journal) => journal.endOf(id));
  if (before !== null) return before;
  await asked(parts, (journal) => journal.write(line));
  // Another process may have written one first.
  return (await asked(parts, (journal) => journal.endOf(id))) ?? line;
}

function asked<T>(
  { journal, clock }: JournalParts,
  ask: (journal: JournalParts["journal"]) => Promise<T>,
): Promise<T> {
  return callHost(clock, { name: "recovery", deadlineMs: CALLBACK_MS, call: () => ask(journal) });
}

/** An order that is about to be taken, with its row. */
export type OrderDecision = Awaited<ReturnType<AcceptHandler<CreatedOrderBody>>> & {
  readonly order: OrderRecord;
};

/** Accepts orders as `accept` does, and records each right before the commit that takes it. */
export function journaled(
  accept: (request: CheckedRequest) => Promise<OrderDecision>,
  parts: JournalParts,
): AcceptHandler<CreatedOrderBody> {
  return async (request) => {
    const { body, commit, order } = await accept(request);
    return {
      body,
      async commit(writes) {
        await asked(parts, (journal) => journal.write(lineOf(order))).catch((cause: unknown) => {
          const details = { reason: "upstream", retryAfter: RETRY_SECONDS } as const;
          throw new PaymentError("ROUTING_UNAVAILABLE", details, { cause });
        });
        return commit(writes);
      },
    };
  };
}

/** The line of an order as it is stored. */
export function lineOf({ cut, rentPerByte, ...order }: OrderRecord): OrderLine {
  const { id, masterVersion, createdAt, layout, sender, mint, windowEnds } = order;
  const terms = { layout, sender, mint, chunks: cut.length, rentPerByte: String(rentPerByte), windowEnds };
  return { id, masterVersion, createdAt, ...terms };
}
