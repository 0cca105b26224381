/** Following the signed attempts of payments: the nodes' reports, and the end of their lives. */
import type { PaymentEvent } from "../../../machines/payment.ts";
import type { AttemptRecord } from "../tables/payments.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import type { Watcher } from "../../engine/index.ts";
import type { Ledger, SignatureStatus } from "../../ledger/ledger.ts";
import type { Clock, Logger } from "../../runtime.ts";
import { ConfirmedSignatureCache, ResendQueue } from "./resend-queue.ts";
import { deathOf } from "./signing-anew.ts";

interface AttemptWatchParts {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Logger;
  /** Pause between two looks, in milliseconds; also between two sends of the same bytes. */
  readonly intervalMs: number;
}

/** The most signatures in one call for statuses. */
const SIGNATURES_A_LOOK = 256;

/** A report about an attempt. The payment's marker decides. */
type Report = Extract<PaymentEvent, { readonly about: string }>;

/**
 * Polls attempts. One node's statuses are enough to read the marker; CONFIRMED is shown to callers and needs enough
 * endpoints. Unseen bytes are resent, unchanged, until enough witnesses are past their last height; not at the first
 * look, which may come within one pause of the first send.
 */
export function watchAttempts(watching: AttemptWatchParts): Watcher {
  const { storage, ledger, clock, intervalMs } = watching;
  const resending = new ResendQueue(watching);
  const confirmations = new ConfirmedSignatureCache(ledger);

  return {
    intervalMs,
    batchSize: SIGNATURES_A_LOOK,
    poll: async (watches, look) => {
      const before = resending.looking(watches.map(({ key }) => key));
      const signatures = watches.map(({ key }) => key);
      const statuses = await ledger.statuses(signatures);
      const reports = new Map<string, Report>();
      signatures.forEach((about, index) => {
        const report = reportOf(about, statuses[index] ?? null);
        if (report !== null) reports.set(about, report);
      });
      const hinted = [...reports].filter(([, { type }]) => type === "CONFIRMED").map(([about]) => about);
      const confirmed = await confirmations.among(hinted);
      for (const about of hinted) if (!confirmed.has(about)) reports.delete(about);

      const unseen = signatures.filter((_, index) => (statuses[index] ?? null) === null);
      const attempts = unseen.length === 0 ? [] : await storage.attempts(unseen);
      const heights = attempts.length === 0 ? { agreed: 0, highest: 0 } : await ledger.heights("finalized");
      const now = clock.now();
      const alive = attempts.filter((each) => deathOf(each, heights, now) === "none");
      for (const { id } of attempts) {
        if (!alive.some((each) => each.id === id)) reports.set(id, { type: "EXPIRED", about: id });
      }
      const events = watches.flatMap(({ key, instance }) => {
        const event = reports.get(key);
        return event === undefined ? [] : [{ instance, event }];
      });
      await look.tell(events);
      const again = alive.filter(({ id }) => before.has(id));
      await noteTaken(watching, await resending.send(again, look.signal));
      return [];
    },
  };
}

/** Half of the life of a blockhash: what endpoints took later says nothing about a price if it does not land. */
const EARLY_MS = 30_000;

/** Notes that an endpoint has taken bytes early: where they do not land, the next bytes bid more. */
async function noteTaken(
  { storage, clock }: Pick<AttemptWatchParts, "storage" | "clock">,
  attempts: readonly AttemptRecord[],
): Promise<void> {
  const takenAt = clock.now();
  const news = attempts.filter((each) => each.takenAt === null && takenAt - each.createdAt <= EARLY_MS);
  if (news.length === 0) return;
  // One commit each: an attempt that is no longer stored holds no other one up.
  await storage.commit(news.map(({ id }) => ({ writes: [{ table: "attempts", id, set: { takenAt } }] })));
}

function reportOf(about: string, status: SignatureStatus | null): Report | null {
  if (status?.commitment === "finalized") return { type: "REPORTED", about, error: status.error };
  // An error below finalized may still vanish on a fork.
  return status?.commitment === "confirmed" && status.error === null ? { type: "CONFIRMED", about } : null;
}
