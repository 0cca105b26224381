/** The findings of a look at signatures: the news for the waiting instance, what is remembered of it, and its batches. */
import type { Evidence } from "../../ledger/belief.ts";
import type { Attempt, AttemptLook, Landing } from "../../ledger/ledger.ts";
import type { SignatureEvent, WalletTransferEvent } from "../../../machines/wallet-transfer.ts";
import type { Clock } from "../../core/runtime.ts";
import type { FrameStorage } from "../frame/frame-storage.ts";
import { attemptOf, lostAttempt } from "../frame/signed/stored-attempt.ts";

/** Null without news; a landing is told with its receipt. A seen transaction may still vanish, with an error too. */
export function newsOf(seen: Evidence<AttemptLook> | undefined): WalletTransferEvent | null {
  if (seen === undefined || seen.standing === "landed" || seen.standing === "seen") return null;
  if (seen.standing === "confirmed") return { type: "CONFIRMED" };
  switch (seen.death) {
    case "dead":
      return { type: "EXPIRED" };
    case "unprovable":
      return { type: "UNPROVABLE" };
    case "open":
      return null;
  }
}

/** The known state of a signature. */
type Known =
  /** Landed; the receipt was not asked for yet. */
  | { readonly is: "landed" }
  /** The receipt was missing, this many times in a row; not asked for again before `askAt`. */
  | { readonly is: "without receipt"; readonly askAt: number; readonly times: number }
  /** The event for its instance. */
  | { readonly is: "read"; readonly event: SignatureEvent };

/** More signatures than are ever under way at once; a dropped signature is only asked for again. */
const MAX_REMEMBERED = 20_000;
const FIRST_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 8_000;

/** The memory of one watcher: gone with its process, and limited. */
export class LandedSignatureCache {
  readonly #known = new Map<string, Known>();

  /** The event of a signature whose receipt was read, and whose instance has not taken the event yet. */
  eventOf(signature: string): SignatureEvent | null {
    const known = this.#known.get(signature);
    return known?.is === "read" ? known.event : null;
  }

  /** Whether the signature is known to have landed, so that its status need not be asked for. */
  hasLanded(signature: string): boolean {
    return this.#known.get(signature)?.is === "landed";
  }

  mayAsk(signature: string, now: number): boolean {
    const known = this.#known.get(signature);
    return known?.is !== "without receipt" || known.askAt <= now;
  }

  /** Notes a landing; its receipt will be asked for. */
  landed(signature: string): void {
    if (this.#known.get(signature)?.is !== "without receipt") this.#remember(signature, { is: "landed" });
  }

  /**
   * Notes a missing receipt, which is asked for again after a pause that doubles from 2 to 8 s. Meanwhile the status is
   * asked for: a signature that has not landed after all must not be waited for.
   */
  withoutReceipt(signature: string, now: number): void {
    const known = this.#known.get(signature);
    const times = known?.is === "without receipt" ? known.times + 1 : 1;
    const pause = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (times - 1));
    this.#remember(signature, { is: "without receipt", askAt: now + pause, times });
  }

  read(signature: string, event: SignatureEvent): void {
    this.#remember(signature, { is: "read", event });
  }

  /** Forgets a signature, about which nothing more is asked. */
  forget(signature: string): void {
    this.#known.delete(signature);
  }

  #remember(signature: string, known: Known): void {
    this.#known.delete(signature);
    this.#known.set(signature, known);
    if (this.#known.size <= MAX_REMEMBERED) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }
}

/** Attempts that are followed, each read once: what a look asks of them never changes. */
export class KnownAttempts {
  readonly #storage: Pick<FrameStorage, "attempts">;
  readonly #known = new Map<string, Attempt>();
  readonly #isOwnAlone: boolean;

  /** `isOwnAlone`: a landing under another signature is not looked for, and no death. */
  constructor(storage: Pick<FrameStorage, "attempts">, isOwnAlone: boolean) {
    this.#storage = storage;
    this.#isOwnAlone = isOwnAlone;
  }

  async of(signatures: readonly string[]): Promise<readonly Attempt[]> {
    const unknown = signatures.filter((signature) => !this.#known.has(signature));
    for (const record of unknown.length === 0 ? [] : await this.#storage.attempts(unknown)) {
      this.#known.set(record.id, attemptOf(record));
    }
    const attempts = signatures.map((signature) => this.#known.get(signature) ?? lostAttempt(signature));
    for (const [oldest] of this.#known) {
      if (this.#known.size <= MAX_REMEMBERED) break;
      this.#known.delete(oldest);
    }
    return this.#isOwnAlone ? attempts.map(ownAlone) : attempts;
  }
}

function ownAlone(attempt: Attempt): Attempt {
  return {
    ...attempt,
    bytes: new Uint8Array(),
    reference: null,
    lastValidBlockHeight: Number.MAX_SAFE_INTEGER,
  };
}

/** The longest time that an item waits for further items. */
const GATHER_MS = 50;

/** A batch of one look, so that not every item costs a commit of its own. */
export class LookBatch<T> {
  readonly #clock: Clock;
  readonly #handOn: (batch: readonly T[]) => Promise<void>;
  readonly #ending = new AbortController();
  readonly #handed: Promise<void>[] = [];
  #gathered: T[] = [];

  constructor(clock: Clock, handOn: (batch: readonly T[]) => Promise<void>) {
    this.#clock = clock;
    this.#handOn = handOn;
  }

  /** Adds an item to the batch, which is handed on within 50 ms. */
  add(item: T): void {
    this.#gathered.push(item);
    if (this.#gathered.length > 1) return;
    const gathered = this.#clock.sleep(GATHER_MS, this.#ending.signal);
    this.#handed.push(
      gathered.then(async () => {
        const batch = this.#gathered;
        this.#gathered = [];
        await this.#handOn(batch);
      }),
    );
  }

  /** Hands on the remaining items at once; resolves when all items are handed on. */
  async end(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#handed);
  }
}

/** The event of an agreed landing. It names the signature only where that is not the attempt's own. */
export function landingEvent(attempt: Attempt, landing: Evidence<Landing>): SignatureEvent {
  const { slot, error, blockTime, fee, signature } = landing;
  const other = signature === attempt.signature ? {} : { signature };
  return { type: "FINALIZED", slot, error, blockTime, fee: fee.toString(), ...other };
}
