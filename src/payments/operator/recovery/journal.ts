/** Has the host record each private order outside of the database, before its deposit address is handed out. */
import { PaymentError } from "../../../errors.ts";
import type { Clock } from "../../../runtime.ts";
import type { CreatedOrderBody } from "../../private/accept-order.ts";
import type { AcceptHandler } from "../../quotes/checked-request.ts";
import { callHost } from "../../call-host.ts";
import type { RecoveryEntry, RecoveryJournal } from "./entry.ts";

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
