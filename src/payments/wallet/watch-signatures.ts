/** Follows signatures on the chain until they have landed for good or can never land. */
import type { WalletTransferEvent } from "../../../machines/wallet-transfer.ts";
import type { AttemptRecord } from "../frame/tables/attempts.ts";
import type { WatchRecord } from "../../workflow/watch-rows.ts";
import type { FrameStorage } from "../frame/frame-storage.ts";
import type { PollContext, Watcher } from "../../engine/index.ts";
import type { Hint } from "../../ledger/belief.ts";
import { LedgerUnavailable, type Attempt, type Ledger, type SignatureStatus } from "../../ledger/ledger.ts";
import type { Clock, Logger } from "../../core/runtime.ts";
import {
  landingEvent,
  LookBatch,
  LandedSignatureCache,
  standingOf,
  type SignatureState,
} from "./signature-news.ts";
import { ConfirmedSignatureCache, ResendQueue } from "../frame/resend-queue.ts";
import { inLanes, Semaphore } from "../frame/semaphore.ts";
import { attemptOf, lostAttempt } from "../frame/signed/stored-attempt.ts";

interface SignatureWatchParts {
  readonly storage: Pick<FrameStorage, "attempts">;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Logger;
  /** Pause between two looks, in milliseconds; also between two sends of the same bytes. */
  readonly intervalMs: number;
}

/** The most signatures that one call for statuses takes. */
const MAX_SIGNATURES_PER_LOOK = 256;
/**
 * Landings in one question, and questions at once: a question asks every witness for all statuses, and one node for
 * each receipt. So nodes that take 200 ms answer 3,000 landings within 40 s.
 */
const LANDINGS_PER_QUESTION = 16;
const MAX_QUESTIONS_AT_ONCE = 2;
/**
 * A lying endpoint may report "finalized" for bytes that no other endpoint has seen. So one poll of sixteen ignores the
 * first endpoint's answer: the remaining endpoints are asked, and the bytes are judged or sent again. A look is one
 * poll or several: with a fixed step the same signatures could always be missed; steps of the golden ratio reach all
 * signatures.
 */
const GOLDEN_STEP = 0x9e37_79b1;
const isHintless = (poll: number): boolean => Math.imul(poll, GOLDEN_STEP) >>> 28 === 0;

/** Follows what we broadcast: unseen bytes are sent again, unchanged, until they land or are proved dead. */
export function watchLanding(watching: SignatureWatchParts): Watcher {
  const following = new FollowedSignatures(watching);
  const resending = new ResendQueue(watching);
  return {
    intervalMs: watching.intervalMs,
    batchSize: MAX_SIGNATURES_PER_LOOK,
    poll: async (watches, look) => {
      // Also when nothing can be found out now: then the next look sends all the same.
      const before = resending.looking(watches.map(({ key }) => key));
      const { landed, absent } = await following.lookAt(watches, look);
      const again = absent.filter(({ id }) => before.has(id));
      await Promise.all([following.readReceipts(landed, look), resending.send(again, look.signal)]);
      return [];
    },
  };
}

/** Looks for what a caller may still broadcast after cancelling here; we never send it ourselves. */
export function watchStrayLanding(watching: SignatureWatchParts): Watcher {
  const following = new FollowedSignatures(watching);
  return {
    intervalMs: watching.intervalMs,
    batchSize: MAX_SIGNATURES_PER_LOOK,
    poll: async (watches, look) => {
      const { landed } = await following.lookAt(watches, look);
      await following.readReceipts(landed, look);
      return [];
    },
  };
}

/** The state of one watcher's signatures between looks. */
class FollowedSignatures {
  readonly #around: SignatureWatchParts;
  readonly #landed = new LandedSignatureCache();
  readonly #slots = new Semaphore(MAX_QUESTIONS_AT_ONCE);
  readonly #confirmations: ConfirmedSignatureCache;
  #polls = 0;

  constructor(around: SignatureWatchParts) {
    this.#around = around;
    this.#confirmations = new ConfirmedSignatureCache(around.ledger);
  }

  /**
   * Tells what needs no receipt: confirmed, expired, and what was read before and could not be told. The rest: those whose
   * receipt is wanted now, and the attempts that the chain has not seen.
   */
  async lookAt(
    watches: readonly WatchRecord[],
    look: PollContext,
  ): Promise<{ readonly landed: readonly WatchRecord[]; readonly absent: readonly AttemptRecord[] }> {
    const unread = watches.filter(({ key }) => this.#landed.eventOf(key) === null);
    await this.#tellRead(watches, look);
    const unknown = unread.filter(({ key }) => !this.#landed.hasLanded(key)).map(({ key }) => key);
    const { standings, attempts } = await this.#standings(unknown);
    const told = unread.flatMap(({ key, instance }) => {
      const event = eventOf(standings.get(key));
      return event === null ? [] : [{ instance, event }];
    });
    for (const [signature, standing] of standings) if (standing === "landed") this.#landed.landed(signature);
    await look.tell(told);
    const now = this.#around.clock.now();
    const landed = unread.filter(({ key }) => (standings.get(key) ?? "landed") === "landed");
    look.missed(landed.filter(({ key }) => !this.#landed.mayAsk(key, now)));
    return {
      landed: landed.filter(({ key }) => this.#landed.mayAsk(key, now)),
      absent: attempts.filter(({ id }) => standings.get(id) === "absent"),
    };
  }

  /** Asks for the receipts of these, tells what came within a moment, and says which could not be had in this look. */
  async readReceipts(landed: readonly WatchRecord[], look: PollContext): Promise<void> {
    const read = new LookBatch<WatchRecord>(this.#around.clock, (those) => this.#tellRead(those, look));
    const lanes = { lanes: MAX_QUESTIONS_AT_ONCE, signal: look.signal };
    const left = await inLanes(lanes, groupsOf(landed, LANDINGS_PER_QUESTION), async (group) => {
      await this.#slots.use(() => this.#readLandings(group));
      for (const watch of group) {
        if (this.#landed.eventOf(watch.key) === null) look.missed([watch]);
        else read.add(watch);
      }
    });
    look.missed(left.flat());
    await read.end();
  }

  /** The status of each signature, and the stored attempts of signatures that the asked node has not seen. */
  async #standings(signatures: readonly string[]): Promise<{
    readonly standings: ReadonlyMap<string, SignatureState>;
    readonly attempts: readonly AttemptRecord[];
  }> {
    const { storage, ledger } = this.#around;
    const statuses = await this.#hints(signatures);
    const missing = signatures.filter((_, index) => (statuses[index] ?? null) === null);
    const attempts = missing.length === 0 ? [] : await storage.attempts(missing);
    const asked = attempts.map(attemptOf);
    const answers = asked.length === 0 ? [] : await ledger.fates(asked);
    const fates = new Map(asked.map(({ signature }, index) => [signature, answers[index]]));
    const told = new Map(
      signatures.map((signature, index): [string, SignatureState] => [
        signature,
        standingOf(statuses[index] ?? null, fates.get(signature)),
      ]),
    );
    return { standings: await this.#agreed(told), attempts };
  }

  /** Confirms hints: one endpoint's `confirmed` is only a hint, which enough endpoints must share. */
  async #agreed(told: ReadonlyMap<string, SignatureState>): Promise<ReadonlyMap<string, SignatureState>> {
    const hinted = [...told]
      .filter(([, standing]) => standing === "confirmed")
      .map(([signature]) => signature);
    const confirmed = await this.#confirmations.among(hinted);
    return new Map(
      [...told].map(([signature, standing]): [string, SignatureState] => [
        signature,
        standing === "confirmed" && !confirmed.has(signature) ? "pending" : standing,
      ]),
    );
  }

  /** The statuses at one endpoint: good enough to choose the signatures that the other endpoints are asked about. */
  async #hints(signatures: readonly string[]): Promise<Hint<readonly (SignatureStatus | null)[]>> {
    if (signatures.length === 0) return [];
    this.#polls += 1;
    if (isHintless(this.#polls)) return signatures.map(() => null);
    return this.#around.ledger.statuses(signatures);
  }

  /** Reads the landings that enough endpoints agree on; missing landings are asked for again later. */
  async #readLandings(watches: readonly WatchRecord[]): Promise<void> {
    const unread = watches.filter(({ key }) => this.#landed.eventOf(key) === null).map(({ key }) => key);
    const attempts = await this.#attemptsOf(unread);
    const landings = await this.#around.ledger.landings(attempts).catch(unlessSilent);
    attempts.forEach((attempt, index) => {
      const landing = landings[index] ?? null;
      if (landing !== null) this.#landed.read(attempt.signature, landingEvent(attempt, landing));
      else this.#landed.withoutReceipt(attempt.signature, this.#around.clock.now());
    });
  }

  async #attemptsOf(signatures: readonly string[]): Promise<readonly Attempt[]> {
    const stored = signatures.length === 0 ? [] : await this.#around.storage.attempts(signatures);
    const known = new Map(stored.map((record) => [record.id, attemptOf(record)]));
    return signatures.map((signature) => known.get(signature) ?? lostAttempt(signature));
  }

  /** Reports landings whose receipt was read; a receipt is kept until the instance has taken the event. */
  async #tellRead(watches: readonly WatchRecord[], look: PollContext): Promise<void> {
    const events = watches.flatMap(({ key, instance }) => {
      const event = this.#landed.eventOf(key);
      return event === null ? [] : [{ instance, event }];
    });
    if (events.length === 0) return;
    const untold = new Set((await look.tell(events)).map(({ instance }) => instance));
    const read = watches.filter(({ key }) => this.#landed.eventOf(key) !== null);
    look.missed(read.filter(({ instance }) => untold.has(instance)));
    for (const { key, instance } of read) if (!untold.has(instance)) this.#landed.forget(key);
  }
}

/** Null for what is reported later, or not at all. */
function eventOf(standing: SignatureState | undefined): WalletTransferEvent | null {
  switch (standing) {
    case "confirmed":
      return { type: "CONFIRMED" };
    case "expired":
      return { type: "EXPIRED" };
    case "unprovable":
      return { type: "UNPROVABLE" };
    default:
      return null;
  }
}

function groupsOf<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  const groups: (readonly T[])[] = [];
  for (let start = 0; start < items.length; start += size) groups.push(items.slice(start, start + size));
  return groups;
}

/** Landings that cannot be had must not hold up the others. */
function unlessSilent(error: unknown): readonly null[] {
  if (error instanceof LedgerUnavailable) return [];
  throw error;
}
