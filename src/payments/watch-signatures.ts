/** Following signatures on the chain until they have landed for good or can never land any more. */
import type { SignatureEvent } from "../../machines/wallet-transfer.ts";
import type { AttemptRecord } from "../../storage/records.ts";
import type { PaymentStorage, WatchRecord } from "../../storage/storage.ts";
import type { Look, Watcher } from "../engine/index.ts";
import { LedgerUnavailable } from "../ledger/ledger.ts";
import type { Fate, Ledger } from "../ledger/ledger.ts";
import type { Clock, Logger } from "../runtime.ts";
import { Gathering } from "./gathering.ts";
import { LandedSignatures } from "./landed-signatures.ts";
import { Resending } from "./resending.ts";
import { landedEvent, standingOf } from "./signature-news.ts";
import type { Standing } from "./signature-news.ts";
import { inLanes, Slots } from "./slots.ts";

/** What following signatures needs. */
export interface SignatureWatching {
  readonly storage: Pick<PaymentStorage, "attempts">;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Logger;
  /** Pause between two looks, in milliseconds; also between two sends of the same bytes. */
  readonly intervalMs: number;
}

/** What one call for statuses takes. */
const SIGNATURES_A_LOOK = 256;
/** Receipts are one call each. So many at once answer 3,000 within 40 s from a node that takes 200 ms. */
const RECEIPTS_AT_ONCE = 16;

/** Follows what we broadcast: unseen bytes are sent again, unchanged, until they land or are proved dead. */
export function watchLanding(watching: SignatureWatching): Watcher {
  const following = new FollowedSignatures(watching);
  const resending = new Resending(watching);
  return {
    intervalMs: watching.intervalMs,
    batchSize: SIGNATURES_A_LOOK,
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
export function watchStrayLanding(watching: SignatureWatching): Watcher {
  const following = new FollowedSignatures(watching);
  return {
    intervalMs: watching.intervalMs,
    batchSize: SIGNATURES_A_LOOK,
    poll: async (watches, look) => {
      const { landed } = await following.lookAt(watches, look);
      await following.readReceipts(landed, look);
      return [];
    },
  };
}

/** What one watcher knows of its signatures from look to look. */
class FollowedSignatures {
  readonly #around: SignatureWatching;
  readonly #landed = new LandedSignatures();
  readonly #slots = new Slots(RECEIPTS_AT_ONCE);

  constructor(around: SignatureWatching) {
    this.#around = around;
  }

  /**
   * Tells what needs no receipt: confirmed, expired, and what was read before and could not be told. The rest: those whose
   * receipt is wanted now, and the attempts that the chain has not seen.
   */
  async lookAt(
    watches: readonly WatchRecord[],
    look: Look,
  ): Promise<{ readonly landed: readonly WatchRecord[]; readonly absent: readonly AttemptRecord[] }> {
    await this.#tellRead(watches, look);
    const unread = watches.filter(({ key }) => this.#landed.eventOf(key) === null);
    const unknown = unread.filter(({ key }) => !this.#landed.hasLanded(key)).map(({ key }) => key);
    const { standings, attempts } = await this.#standings(unknown);
    const told = unread.flatMap(({ key, instance }): { instance: string; event: SignatureEvent }[] => {
      const standing = standings.get(key);
      if (standing === "confirmed") return [{ instance, event: { type: "CONFIRMED" } }];
      return standing === "expired" ? [{ instance, event: { type: "EXPIRED" } }] : [];
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
  async readReceipts(landed: readonly WatchRecord[], look: Look): Promise<void> {
    const read = new Gathering<WatchRecord>(this.#around.clock, (those) => this.#tellRead(those, look));
    const lanes = { lanes: RECEIPTS_AT_ONCE, signal: look.signal };
    const left = await inLanes(lanes, landed, async (watch) => {
      const isRead = await this.#slots.use(() => this.#readReceipt(watch.key));
      if (isRead) read.add(watch);
      else look.missed([watch]);
    });
    look.missed(left);
    await read.end();
  }

  /** How far each of these is, and the stored attempts of those that the asked node has not seen. */
  async #standings(signatures: readonly string[]): Promise<{
    readonly standings: ReadonlyMap<string, Standing>;
    readonly attempts: readonly AttemptRecord[];
  }> {
    const { storage, ledger } = this.#around;
    const statuses = signatures.length === 0 ? [] : await ledger.statuses(signatures);
    const missing = signatures.filter((_, index) => (statuses[index] ?? null) === null);
    const attempts = missing.length === 0 ? [] : await storage.attempts(missing);
    const asked = attempts.map(({ id, lastValidBlockHeight }) => ({ signature: id, lastValidBlockHeight }));
    const answers = asked.length === 0 ? [] : await ledger.fates(asked);
    const fates = new Map(
      asked.map(({ signature }, index): [string, Fate] => [signature, answers[index] ?? "open"]),
    );
    const standings = new Map(
      signatures.map((signature, index): [string, Standing] => [
        signature,
        standingOf(statuses[index] ?? null, fates.get(signature)),
      ]),
    );
    return { standings, attempts };
  }

  /** False when it is not there, or could not be asked for. */
  async #readReceipt(signature: string): Promise<boolean> {
    if (this.#landed.eventOf(signature) !== null) return true;
    const [receipt = null] = await this.#around.ledger.receipts([signature]).catch(unlessSilent);
    if (receipt !== null) this.#landed.read(signature, landedEvent(receipt));
    else this.#landed.withoutReceipt(signature, this.#around.clock.now());
    return receipt !== null;
  }

  /** Tells those of them whose receipt was read; it is kept until the instance has been told. */
  async #tellRead(watches: readonly WatchRecord[], look: Look): Promise<void> {
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

/** One receipt that cannot be had must not keep the others from being told. */
function unlessSilent(error: unknown): readonly null[] {
  if (error instanceof LedgerUnavailable) return [null];
  throw error;
}
