/**
 * The parts that watchers of signatures share: bytes that the chain has not seen are sent again, confirmations are asked for
 * once.
 */
import type { AttemptRecord } from "./tables/attempts.ts";
import { type Ledger, LedgerUnavailable, type Sighting } from "../../ledger/ledger.ts";
import { isWhole } from "../../ledger/wire-format.ts";
import type { Clock, Logger } from "../../core/runtime.ts";
import { inLanes, Semaphore } from "./semaphore.ts";
import type { Evidence } from "../../ledger/belief.ts";

/**
 * The most sends at once, of all looks together: thousands of unseen bytes must not keep the node from answering them.
 */
const SENDS_AT_ONCE = 32;
/** Bytes live for a minute or two: a signature that was not looked at for so long is no longer followed here. */
const FORGET_AFTER_MS = 10 * 60_000;

/** The last look at one signature and its last send, as numbers in the order of the sends. */
interface Sent {
  lookedAt: number;
  /** The number of the send, 0 before the first from here. */
  send: number;
}

interface ResendParts {
  readonly ledger: Pick<Ledger, "broadcast" | "takeSendPlace">;
  readonly clock: Clock;
  readonly log: Logger;
}

export class ResendQueue {
  readonly #around: ResendParts;
  readonly #slots = new Semaphore(SENDS_AT_ONCE);
  readonly #sent = new Map<string, Sent>();
  #sends = 0;
  #forgetAt = 0;

  constructor(around: ResendParts) {
    this.#around = around;
  }

  /**
   * Notes a look at these signatures, and returns the signatures that were looked at before. The first look may come
   * before most nodes have seen the bytes, within one interval of the first send: bytes missing at the first look are
   * not resent.
   */
  looking(signatures: readonly string[]): ReadonlySet<string> {
    const now = this.#around.clock.now();
    const before = new Set<string>();
    for (const signature of signatures) {
      const known = this.#sent.get(signature);
      if (known === undefined) this.#sent.set(signature, { lookedAt: now, send: 0 });
      else {
        known.lookedAt = now;
        before.add(signature);
      }
    }
    if (now >= this.#forgetAt) this.#forget(now);
    return before;
  }

  #forget(now: number): void {
    this.#forgetAt = now + FORGET_AFTER_MS;
    for (const [signature, { lookedAt }] of this.#sent) {
      if (lookedAt < now - FORGET_AFTER_MS) this.#sent.delete(signature);
    }
  }

  /**
   * Sends these, those sent longest ago first, until the signal aborts, and returns those that an endpoint took. A send that
   * fails is tried again at the next look. `hasPlace`: a place was taken when the bytes were signed.
   */
  async send(
    attempts: readonly AttemptRecord[],
    signal: AbortSignal,
    hasPlace: (attempt: AttemptRecord) => boolean = () => false,
  ): Promise<readonly AttemptRecord[]> {
    // Bytes that the other side of a swap has not signed are not sent.
    const whole = attempts.filter(({ bytes }) => isWhole(bytes));
    const sendOf = ({ id }: AttemptRecord): number => this.#sent.get(id)?.send ?? 0;
    const inOrder = whole.toSorted((a, b) => sendOf(a) - sendOf(b));
    const taken: AttemptRecord[] = [];
    await inLanes({ lanes: SENDS_AT_ONCE, signal }, inOrder, (attempt) =>
      // Other looks send as well: their bytes that were sent longer ago go first.
      this.#slots.use(async () => {
        const { id, bytes } = attempt;
        const sent = this.#sent.get(id);
        if (!hasPlace(attempt) && !(await this.#around.ledger.takeSendPlace("again"))) return;
        this.#sends += 1;
        if (sent !== undefined) sent.send = this.#sends;
        try {
          await this.#around.ledger.broadcast(bytes);
          taken.push(attempt);
        } catch (err) {
          this.#around.log.debug({ signature: id, err }, "a rebroadcast was not acknowledged");
        }
      }, sendOf(attempt)),
    );
    return taken;
  }
}

/** A signature is watched for minutes; a forgotten signature is asked for again. */
const MAX_REMEMBERED = 10_000;

/** Whether enough endpoints show signatures in a confirmed block, asked once for each signature of one watcher. */
export class ConfirmedSignatureCache {
  readonly #ledger: Pick<Ledger, "sightings">;
  #known = new Set<string>();

  constructor(ledger: Pick<Ledger, "sightings">) {
    this.#ledger = ledger;
  }

  /**
   * The signatures that enough endpoints show in a block; without those that too few endpoints could be asked about.
   */
  async among(signatures: readonly string[]): Promise<ReadonlySet<string>> {
    const unknown = signatures.filter((signature) => !this.#known.has(signature));
    const shown = unknown.length === 0 ? [] : await this.#ledger.sightings(unknown).catch(unlessSilent);
    if (this.#known.size > MAX_REMEMBERED) this.#known = new Set();
    const confirmed = unknown.filter((_, index) => shown[index] === "confirmed");
    for (const signature of confirmed) this.#known.add(signature);
    return new Set(signatures.filter((signature) => this.#known.has(signature)));
  }
}

function unlessSilent(error: unknown): Evidence<readonly Sighting[]> {
  if (error instanceof LedgerUnavailable) return [];
  throw error;
}
