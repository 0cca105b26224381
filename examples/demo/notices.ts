/** What came by webhook, compared with what should have come. */
import assert from "node:assert/strict";
import type { NoticeEvent } from "paystate/webhook";
import type { ReceivedNotice, Receiver } from "./receiver.ts";
import { ok } from "./screen.ts";
import { until } from "./until.ts";

/** The notices of a transaction that is completed. */
export const COMPLETED: readonly NoticeEvent[] = [
  "transaction.pending",
  "transaction.confirmed",
  "transaction.completed",
];

/** The notices of a transaction that fails after it was taken. */
export const FAILED: readonly NoticeEvent[] = ["transaction.pending", "transaction.failed"];

/** Waits for the last of the expected notices, shows all that came, and resolves with that last one. */
export async function showNotices(
  receiver: Receiver,
  transactionId: string,
  expected: readonly NoticeEvent[],
): Promise<ReceivedNotice> {
  const last = await until(`the webhook ${String(expected.at(-1))}`, () =>
    receiver.noticesOf(transactionId).find(({ event }) => event === expected.at(-1)),
  );
  const received = receiver.noticesOf(transactionId);
  const seen = new Set<string>();
  for (const { event, verified } of received) {
    assert(verified, `the signature of ${event} is wrong`);
    // A service that was killed may have delivered without knowing it.
    ok(`webhook ${event}, signature verified${seen.has(event) ? " (delivered again)" : ""}`);
    seen.add(event);
  }
  assert([...seen].join() === expected.join(), `expected the notices ${expected.join(", ")}`);
  return last;
}
