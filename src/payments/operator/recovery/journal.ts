/** The journal of private orders outside of the database: each is recorded before its deposit address is handed out. */
import { PaymentError } from "../../../errors.ts";
import type { Clock } from "../../../runtime.ts";
import type { CreatedOrderBody } from "../../private/accept-order.ts";
import type { AcceptHandler } from "../../quotes/checked-request.ts";
import { callHost } from "../../host-parts.ts";

/** An entry that restores a deposit address, together with the master secret. The entry itself is no secret. */
export interface RecoveryEntry {
  /** The transaction's id. */
  readonly id: string;
  /** The version of the master secret that the address is derived from. */
  readonly masterVersion: number;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
}

/**
 * Keeps an entry where the database's loss does not reach it, and resolves once it is durable. It is awaited before a
 * deposit address is handed out; where it rejects, or takes longer than ten seconds, the order is refused with
 * `ROUTING_UNAVAILABLE` upstream and nothing of it is kept. An entry may be of an order that was not taken after all.
 */
export type RecoveryJournal = (entry: RecoveryEntry) => Promise<void>;

const CALLBACK_MS = 10_000;
/** Seconds after which ROUTING_UNAVAILABLE advises a retry. */
const RETRY_SECONDS = 30;

/** Dependencies of the journal. */
interface JournalParts {
  readonly journal: RecoveryJournal;
  /** The version of the master secret that new addresses are derived from. */
  readonly masterVersion: number;
  readonly clock: Clock;
}

/** Accepts orders as `accept` does, and records each right before the commit that takes it. */
export function journaled(
  accept: AcceptHandler<CreatedOrderBody>,
  journaling: JournalParts,
): AcceptHandler<CreatedOrderBody> {
  return async (order) => {
    const { body, commit } = await accept(order);
    const { masterVersion } = journaling;
    const entry = { id: body.transactionId, masterVersion, createdAt: Date.parse(body.createdAt) };
    return {
      body,
      async commit(writes) {
        await record(journaling, entry);
        return commit(writes);
      },
    };
  };
}

/** Throws `ROUTING_UNAVAILABLE` unless the host has recorded the entry in time. */
async function record({ journal, clock }: JournalParts, entry: RecoveryEntry): Promise<void> {
  try {
    await callHost(clock, { name: "recovery", deadlineMs: CALLBACK_MS, call: () => journal(entry) });
  } catch (cause) {
    const details = { reason: "upstream", retryAfter: RETRY_SECONDS } as const;
    throw new PaymentError("ROUTING_UNAVAILABLE", details, { cause });
  }
}
