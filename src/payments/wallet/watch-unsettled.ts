/** Follows what the usual watch could not settle: bytes whose fate is not proved, and bytes that were judged dead. */
import type { SignatureEvent, WalletTransferEvent } from "../../../machines/wallet-transfer.ts";
import type { WatchRecord } from "../../workflow/watch-rows.ts";
import type { FrameStorage } from "../frame/frame-storage.ts";
import type { WatchEvent, Watcher } from "../../engine/index.ts";
import type { Attempt, Ledger } from "../../ledger/ledger.ts";
import { attemptOf } from "../frame/signed/stored-attempt.ts";
import { landingEvent } from "./signature-news.ts";

interface UnsettledWatchParts {
  readonly storage: FrameStorage;
  readonly ledger: Ledger;
}

// A node with the history of that time is added by a person, and a death is rarely wrong: neither is a matter of seconds.
const UNPROVABLE_INTERVAL_MS = 60_000;
const EXPIRED_INTERVAL_MS = 5 * 60_000;

/** Asks for all the evidence again and again. While the fate stays unprovable, or cannot be asked for, no event is sent. */
export function watchUnprovable(watching: UnsettledWatchParts): Watcher {
  return {
    intervalMs: UNPROVABLE_INTERVAL_MS,
    poll: async (watches) => {
      const attempts = await attemptsOf(watching, watches);
      const fates = await watching.ledger.fates(attempts);
      const dead = attempts.filter((_, index) => fates[index] === "dead");
      const landed = attempts.filter((_, index) => fates[index] === "landed");
      const found = new Map<string, WalletTransferEvent>(await landedOf(watching, landed));
      for (const { signature } of dead) found.set(signature, { type: "EXPIRED" });
      return eventsFor(watches, found);
    },
  };
}

/** Looks whether bytes that were judged dead have landed, under their own signature only: one call for 256. */
export function watchExpired(watching: UnsettledWatchParts): Watcher {
  return {
    intervalMs: EXPIRED_INTERVAL_MS,
    poll: async (watches) => {
      const attempts = await attemptsOf(watching, watches);
      const bytes = new Uint8Array();
      const bySignature = attempts.map((attempt): Attempt => ({ ...attempt, bytes, reference: null }));
      return eventsFor(watches, await landedOf(watching, bySignature));
    },
  };
}

async function attemptsOf(
  { storage }: UnsettledWatchParts,
  watches: readonly WatchRecord[],
): Promise<readonly Attempt[]> {
  return (await storage.attempts(watches.map(({ key }) => key))).map(attemptOf);
}

async function landedOf(
  { ledger }: UnsettledWatchParts,
  attempts: readonly Attempt[],
): Promise<ReadonlyMap<string, SignatureEvent>> {
  const found = new Map<string, SignatureEvent>();
  if (attempts.length === 0) return found;
  const landings = await ledger.landings(attempts);
  attempts.forEach((attempt, index) => {
    const landing = landings[index] ?? null;
    if (landing !== null) found.set(attempt.signature, landingEvent(attempt, landing));
  });
  return found;
}

function eventsFor(
  watches: readonly WatchRecord[],
  found: ReadonlyMap<string, WalletTransferEvent>,
): readonly WatchEvent[] {
  return watches.flatMap(({ key, instance }) => {
    const event = found.get(key);
    return event === undefined ? [] : [{ instance, event }];
  });
}
