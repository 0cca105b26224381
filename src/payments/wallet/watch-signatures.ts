/** Follows signatures of callers' bytes on the chain: one watcher, and a row for each kind of watch. */
import type { WalletTransferEvent } from "../../../machines/wallet-transfer.ts";
import type { WatchRecord } from "../../workflow/watch-rows.ts";
import type { FrameStorage } from "../frame/frame-storage.ts";
import type { PollContext, Watcher } from "../../engine/index.ts";
import type { Evidence } from "../../ledger/belief.ts";
import { LedgerUnavailable, type AttemptLook, type Ledger } from "../../ledger/ledger.ts";
import type { Clock, Logger } from "../../core/runtime.ts";
import { KnownAttempts, landingEvent, LandedSignatureCache, LookBatch, newsOf } from "./signature-news.ts";
import { ResendQueue } from "../frame/resend-queue.ts";
import { inLanes, Semaphore } from "../frame/semaphore.ts";

interface SignatureWatchDeps {
  readonly storage: Pick<FrameStorage, "attempts">;
  readonly ledger: Pick<Ledger, "look" | "statuses" | "landings" | "broadcast" | "takeSendPlace">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Pause between two looks at what was sent, in milliseconds; also between two sends of the same bytes. */
  readonly intervalMs: number;
}

/** How signatures of one kind are followed. */
interface WatchKind {
  /** Default: the pause between two looks at what was sent. */
  readonly intervalMs?: number;
  /** Whether bytes that the chain has not seen are sent again, unchanged. */
  readonly resends?: true;
  /** Whether only landings under their own signature are looked for: one call for 256. */
  readonly isOwnAlone?: true;
  /** News for the instances besides landings. */
  readonly tells: readonly WalletTransferEvent["type"][];
}

// A node with the history of that time is added by a person, and a death is rarely wrong: neither is a matter of seconds.
const UNPROVABLE_INTERVAL_MS = 60_000;
const EXPIRED_INTERVAL_MS = 5 * 60_000;

const KINDS = {
  /** Our own broadcasts, until they land or are proved dead. */
  landing: { resends: true, tells: ["CONFIRMED", "EXPIRED", "UNPROVABLE"] },
  /** Bytes that a caller may still broadcast after cancelling here; we never send it ourselves. */
  strayLanding: { tells: ["CONFIRMED", "EXPIRED", "UNPROVABLE"] },
  /** Bytes whose fate is not proved: nothing is told while it stays so. */
  unprovable: { intervalMs: UNPROVABLE_INTERVAL_MS, tells: ["EXPIRED"] },
  /** Bytes that were judged dead. */
  expired: { intervalMs: EXPIRED_INTERVAL_MS, isOwnAlone: true, tells: [] },
} satisfies Record<string, WatchKind>;

/** A watcher for each kind. */
export function watchSignatures(deps: SignatureWatchDeps): Record<keyof typeof KINDS, Watcher> {
  return {
    landing: watcherOf(deps, KINDS.landing),
    strayLanding: watcherOf(deps, KINDS.strayLanding),
    unprovable: watcherOf(deps, KINDS.unprovable),
    expired: watcherOf(deps, KINDS.expired),
  };
}

function watcherOf(deps: SignatureWatchDeps, kind: WatchKind): Watcher {
  const following = new FollowedSignatures(deps, kind);
  const resending = new ResendQueue(deps);
  return {
    intervalMs: kind.intervalMs ?? deps.intervalMs,
    batchSize: MAX_SIGNATURES_PER_LOOK,
    poll: async (watches, look) => {
      // Also when nothing can be found out now: then the next look sends all the same.
      const before = resending.looking(watches.map(({ key }) => key));
      const { landed, absent } = await following.lookAt(watches, look);
      const again = absent.filter((signature) => before.has(signature));
      const isSending = kind.resends === true && again.length > 0;
      await Promise.all([
        following.readReceipts(landed, look),
        isSending ? deps.storage.attempts(again).then((bytes) => resending.send(bytes, look.signal)) : [],
      ]);
      return [];
    },
  };
}

/** 64 bytes of zeros, which nobody can have signed: a cheap question to an endpoint. */
const NOBODYS_SIGNATURE = "1".repeat(64);
/** The most signatures that one call for statuses takes. */
const MAX_SIGNATURES_PER_LOOK = 256;
/**
 * Landings in one question, and questions at once: a question asks every witness for all statuses, and one node for
 * each receipt. So nodes that take 200 ms answer 3,000 landings within 40 s.
 */
const LANDINGS_PER_QUESTION = 16;
const MAX_QUESTIONS_AT_ONCE = 2;
/** The state of one watcher's signatures between looks. */
class FollowedSignatures {
  readonly #deps: SignatureWatchDeps;
  readonly #kind: WatchKind;
  readonly #landed = new LandedSignatureCache();
  readonly #attempts: KnownAttempts;
  readonly #slots = new Semaphore(MAX_QUESTIONS_AT_ONCE);

  constructor(deps: SignatureWatchDeps, kind: WatchKind) {
    this.#deps = deps;
    this.#kind = kind;
    this.#attempts = new KnownAttempts(deps.storage, kind.isOwnAlone === true);
  }

  /**
   * Tells what needs no receipt: confirmed, expired, and what was read before and could not be told. The rest: those whose
   * receipt is wanted now, and the signatures that not every endpoint shows.
   */
  async lookAt(
    watches: readonly WatchRecord[],
    look: PollContext,
  ): Promise<{ readonly landed: readonly WatchRecord[]; readonly absent: readonly string[] }> {
    const unread = watches.filter(({ key }) => this.#landed.eventOf(key) === null);
    await this.#tellRead(watches, look);
    const asked = unread.filter(({ key }) => !this.#landed.hasLanded(key)).map(({ key }) => key);
    const seen = await this.#looks(asked);
    // Too few endpoints have answered. If none answers at all, the look has failed, and no bytes are sent again.
    const isSilent = [...seen.values()].every(({ standing }) => standing === null);
    if (isSilent && asked.length > 0) await this.#deps.ledger.statuses([NOBODYS_SIGNATURE]);
    await look.tell(
      unread.flatMap(({ key, instance }) => {
        const event = newsOf(seen.get(key));
        return event !== null && this.#kind.tells.includes(event.type) ? [{ instance, event }] : [];
      }),
    );
    for (const [signature, { standing }] of seen) if (standing === "landed") this.#landed.landed(signature);
    const now = this.#deps.clock.now();
    // A signature that was not asked about had landed before.
    const landed = unread.filter(({ key }) => !seen.has(key) || seen.get(key)?.standing === "landed");
    look.missed(landed.filter(({ key }) => !this.#landed.mayAsk(key, now)));
    return {
      landed: landed.filter(({ key }) => this.#landed.mayAsk(key, now)),
      absent: asked.filter((signature) => isUnseen(seen.get(signature))),
    };
  }

  /** Asks for the receipts of these, tells what came within a moment, and says which could not be had in this look. */
  async readReceipts(landed: readonly WatchRecord[], look: PollContext): Promise<void> {
    const read = new LookBatch<WatchRecord>(this.#deps.clock, (those) => this.#tellRead(those, look));
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

  async #looks(signatures: readonly string[]): Promise<ReadonlyMap<string, Evidence<AttemptLook>>> {
    if (signatures.length === 0) return new Map();
    const looks = await this.#deps.ledger.look(await this.#attempts.of(signatures));
    return new Map(
      signatures.flatMap((signature, index): [string, Evidence<AttemptLook>][] => {
        const seen = looks[index];
        return seen === undefined ? [] : [[signature, seen]];
      }),
    );
  }

  /** Reads the landings that enough endpoints agree on; missing landings are asked for again later. */
  async #readLandings(watches: readonly WatchRecord[]): Promise<void> {
    const unread = watches.filter(({ key }) => this.#landed.eventOf(key) === null).map(({ key }) => key);
    const attempts = await this.#attempts.of(unread);
    const landings = await this.#deps.ledger.landings(attempts).catch(unlessSilent);
    attempts.forEach((attempt, index) => {
      const landing = landings[index] ?? null;
      if (landing !== null) this.#landed.read(attempt.signature, landingEvent(attempt, landing));
      else this.#landed.withoutReceipt(attempt.signature, this.#deps.clock.now());
    });
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

/** Whether bytes may have to be sent again: not every endpoint shows them, and they may still land. */
function isUnseen(seen: AttemptLook | undefined): boolean {
  if (seen?.death !== "open") return false;
  return seen.standing === null || seen.standing === "absent" || seen.standing === "partly";
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
