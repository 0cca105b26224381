/** Following signatures on the chain until they have landed for good or can never land any more. */
import type { SignatureEvent } from "../../machines/wallet-transfer.ts";
import type { AttemptRecord } from "../../storage/records.ts";
import type { PaymentStorage, WatchRecord } from "../../storage/storage.ts";
import type { WatchEvent, Watcher } from "../engine/index.ts";
import type { Fate, Ledger } from "../ledger/ledger.ts";
import { isWhole } from "../ledger/wire-format.ts";
import type { Logger } from "../runtime.ts";

interface SignatureWatching {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly log: Logger;
  /** Pause between two looks, in milliseconds; also between two sends of the same bytes. */
  readonly intervalMs: number;
}

/**
 * Follows what we broadcast: unseen bytes are sent again, unchanged, until they land or are proved dead. Not at the first
 * look at them, which comes within one pause of their first send, before most nodes can have seen them.
 */
export function watchLanding(watching: SignatureWatching): Watcher {
  const { ledger, log, intervalMs } = watching;
  let lookedAt: ReadonlySet<string> = new Set();
  return {
    intervalMs,
    poll: async (watches) => {
      const before = lookedAt;
      // Also when nothing can be found out now: then the next look comes a pause later all the same.
      lookedAt = new Set(watches.map(({ key }) => key));
      const { events, unseen } = await lookAt(watches, watching);
      const again = unseen.filter(({ id }) => before.has(id));
      await Promise.all(
        again.map(({ id, bytes }) =>
          ledger.broadcast(bytes).catch((err: unknown) => {
            log.debug({ signature: id, err }, "a rebroadcast was not acknowledged");
          }),
        ),
      );
      return events;
    },
  };
}

/** Looks for what a caller may still broadcast after cancelling here; we never send it ourselves (CONTRACT section 4). */
export function watchStrayLanding(watching: SignatureWatching): Watcher {
  return {
    intervalMs: watching.intervalMs,
    poll: async (watches) => (await lookAt(watches, watching)).events,
  };
}

/** What the chain says of each watched signature, and which ones it has not seen and that may still land. */
async function lookAt(
  watches: readonly WatchRecord[],
  { storage, ledger }: SignatureWatching,
): Promise<{ events: WatchEvent[]; unseen: AttemptRecord[] }> {
  const signatures = watches.map(({ key }) => key);
  const statuses = await ledger.statuses(signatures);
  const found = new Map<string, SignatureEvent>();

  const missing = signatures.filter((_, index) => statuses[index] === null);
  const attempts = missing.length === 0 ? [] : await storage.attempts(missing);
  const fates = new Map<string, Fate>();
  if (attempts.length > 0) {
    const asked = attempts.map(({ id, lastValidBlockHeight }) => ({ signature: id, lastValidBlockHeight }));
    const answers = await ledger.fates(asked);
    asked.forEach(({ signature }, index) => fates.set(signature, answers[index] ?? "open"));
  }
  for (const [signature, fate] of fates) if (fate === "dead") found.set(signature, { type: "EXPIRED" });

  // A node may know nothing of what another one calls landed: asking for fates asks them all.
  const finalized = signatures.filter(
    (signature, index) => statuses[index]?.commitment === "finalized" || fates.get(signature) === "landed",
  );
  const receipts = finalized.length === 0 ? [] : await ledger.receipts(finalized);
  finalized.forEach((signature, index) => {
    const receipt = receipts[index];
    // Without its receipt the end of a transfer would be told without its fee; the next look finds it.
    if (receipt === null || receipt === undefined) return;
    const { slot, error, blockTime, fee } = receipt;
    found.set(signature, { type: "FINALIZED", slot, error, blockTime, fee: fee.toString() });
  });
  signatures.forEach((signature, index) => {
    const status = statuses[index];
    // An error below finalized may still vanish on a fork; it counts when it is final.
    if (status?.commitment === "confirmed" && status.error === null) {
      found.set(signature, { type: "CONFIRMED" });
    }
  });

  return {
    events: watches.flatMap(({ key, instance }) => {
      const event = found.get(key);
      return event === undefined ? [] : [{ instance, event }];
    }),
    // What the other side of a swap has not signed yet is nobody's to send.
    unseen: attempts.filter(({ id, bytes }) => fates.get(id) === "open" && isWhole(bytes)),
  };
}
