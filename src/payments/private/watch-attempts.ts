/** Follows the signed bytes of transfers: the nodes' reports, and the end of their lives. */
import type { TransferEvent } from "../../../machines/transfer.ts";
import type { AttemptRecord } from "../frame/tables/attempts.ts";
import type { PrivateStorage } from "./private-storage.ts";
import type { Watcher } from "../../engine/index.ts";
import type { Ledger, SignatureStatus } from "../../ledger/ledger.ts";
import type { Clock, Logger } from "../../core/runtime.ts";
import { ConfirmedSignatureCache, ResendQueue } from "../frame/resend-queue.ts";
import { isDead } from "./attempt-death.ts";

interface AttemptWatchParts {
  readonly storage: PrivateStorage;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Logger;
  /** Pause between two looks, in milliseconds; also between two sends of the same bytes. */
  readonly intervalMs: number;
}

/** The most signatures in one call for statuses. */
const SIGNATURES_A_LOOK = 256;

/** The news of a look at an attempt. The chain decides the outcome of its transfer. */
type Report = Extract<TransferEvent, { readonly type: "CONFIRMED" | "REPORTED" }>;

/**
 * Polls attempts, and sends them. One node's statuses are enough to look at an order; CONFIRMED is shown to callers and needs
 * enough endpoints. Bytes that no block shows are sent at each look, unchanged, until enough witnesses are past their last
 * height.
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
        const report = reportOf(statuses[index] ?? null);
        if (report !== null) reports.set(about, report);
      });
      const hinted = [...reports].filter(([, { type }]) => type === "CONFIRMED").map(([about]) => about);
      const confirmed = await confirmations.among(hinted);
      for (const about of hinted) if (!confirmed.has(about)) reports.delete(about);

      const isUnseen = new Set(signatures.filter((_, index) => (statuses[index] ?? null) === null));
      const open = signatures.filter((signature) => !reports.has(signature) || !before.has(signature));
      const attempts = open.length === 0 ? [] : await storage.attempts(open);
      const { agreed } = attempts.length === 0 ? { agreed: 0 } : await ledger.heights("finalized");
      for (const each of attempts) {
        if (!reports.has(each.id) && isDead(each, agreed)) reports.set(each.id, { type: "REPORTED" });
      }
      // No node's word keeps bytes from being sent once.
      const isNew = ({ id, createdAt }: AttemptRecord): boolean =>
        !before.has(id) && clock.now() - createdAt <= EARLY_MS;
      const sent = attempts.filter((each) => isNew(each) || (isUnseen.has(each.id) && !isDead(each, agreed)));
      const events = watches.flatMap(({ key, instance }) => {
        const event = reports.get(key);
        return event === undefined ? [] : [{ instance, event }];
      });
      await look.tell(events);
      await noteTaken(watching, await resending.send(sent, look.signal, ({ id }) => !before.has(id)));
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

function reportOf(status: SignatureStatus | null): Report | null {
  if (status?.commitment === "finalized") return { type: "REPORTED" };
  // An error below finalized may still vanish on a fork.
  return status?.commitment === "confirmed" && status.error === null ? { type: "CONFIRMED" } : null;
}
