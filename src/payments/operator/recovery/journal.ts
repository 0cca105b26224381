/** Writing down which order has a deposit address, outside of the database, before anybody learns the address. */
import { PaymentError } from "../../../errors.ts";
import type { Clock } from "../../../runtime.ts";
import type { CreatedOrderBody } from "../../private/accept-order.ts";
import type { Accept } from "../../quotes/checked-request.ts";
import type { RecoveryEntry, RecoveryJournal } from "./entry.ts";

const JOURNAL_MS = 10_000;
/** What ROUTING_UNAVAILABLE advises. */
const RETRY_SECONDS = 30;

/** The same orders, each written down in the last moment before the commit that takes it. */
export function journaled(
  accept: Accept<CreatedOrderBody>,
  {
    journal,
    masterVersion,
    clock,
  }: {
    readonly journal: RecoveryJournal;
    /** The version that new addresses are derived from. */
    readonly masterVersion: number;
    readonly clock: Clock;
  },
): Accept<CreatedOrderBody> {
  const write = async (entry: RecoveryEntry): Promise<void> => {
    const ended = new AbortController();
    const deadline = clock.sleep(JOURNAL_MS, ended.signal).then((): void => {
      if (!ended.signal.aborted) throw new Error(`recovery did not end within ${JOURNAL_MS} ms`);
    });
    try {
      await Promise.race([journal(entry), deadline]);
    } catch (cause) {
      const details = { reason: "upstream", retryAfter: RETRY_SECONDS } as const;
      throw new PaymentError("ROUTING_UNAVAILABLE", details, { cause });
    } finally {
      ended.abort();
    }
  };

  return async (order) => {
    const { body, commit } = await accept(order);
    const entry = { id: body.transactionId, masterVersion, createdAt: Date.parse(body.createdAt) };
    return {
      body,
      async commit(writes) {
        await write(entry);
        return commit(writes);
      },
    };
  };
}
