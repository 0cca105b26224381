/** Spreads the looks of one kind over the time in which every watch has its turn. */
import { elapsed, type Clock } from "../../../core/runtime.ts";
import type { Loop } from "../../kernel/loop.ts";

/** The most looks at once where a watcher says nothing else: a look that waits for a slow answer leaves other looks their turn. */
const LOOKS_AT_ONCE = 4;
const MAX_LOOKS_AT_ONCE = 64;
/** So long a look may take while the looks behind it keep their pace. */
const SLOW_LOOK_MS = 750;
/** Looks that a busy process, or slow nodes, have held up are made up for within this time, and no longer. */
const MAX_BEHIND_MS = 250;

export class LookPacer {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #looking: Pick<Loop, "signal">;
  readonly #onTurn: () => void;
  #gapMs = 0;
  #nextAt = 0;
  /** The end of the shortest wait under way. */
  #waitsUntil = Infinity;
  #atOnce = LOOKS_AT_ONCE;
  /** Whether looks are spread; else all that is due is looked at. */
  isSpread = false;

  /** @param onTurn Called when the next look may begin. */
  constructor(
    { clock, looking }: { readonly clock: Clock; readonly looking: Pick<Loop, "signal"> },
    intervalMs: number,
    onTurn: () => void,
  ) {
    this.#clock = clock;
    this.#looking = looking;
    this.#intervalMs = intervalMs;
    this.#onTurn = onTurn;
  }

  /** The number of looks that reach every watch within `roundMs`; undefined where nothing is said of it. */
  spread(looks: number, roundMs: number | undefined): void {
    const isLong = roundMs !== undefined && roundMs > this.#intervalMs;
    this.isSpread = isLong || (roundMs !== undefined && looks > LOOKS_AT_ONCE);
    this.#gapMs = Math.max(roundMs ?? 0, this.#intervalMs) / Math.max(1, looks);
    const needed = roundMs === undefined ? 0 : Math.ceil(SLOW_LOOK_MS / Math.max(this.#gapMs, 1));
    this.#atOnce = Math.min(MAX_LOOKS_AT_ONCE, Math.max(LOOKS_AT_ONCE, needed));
    // A crowd that has come meanwhile does not wait for a turn as far off as the few before it had theirs.
    this.#nextAt = Math.min(this.#nextAt, elapsed(this.#clock) + this.#gapMs);
  }

  /** Whether a look may begin beside so many; a hurried one waits for no turn. Else `onTurn` is called at its turn. */
  mayLook(underWay: number, isHurried: boolean): boolean {
    if (underWay >= this.#atOnce || this.#looking.signal.aborted) return false;
    const waitMs = isHurried || !this.isSpread ? 0 : this.#nextAt - elapsed(this.#clock);
    if (waitMs <= 0) return true;
    void this.#wait(waitMs);
    return false;
  }

  begun(): void {
    this.#nextAt = Math.max(this.#nextAt, elapsed(this.#clock) - MAX_BEHIND_MS) + this.#gapMs;
  }

  /** A further timer only for an earlier turn. */
  async #wait(ms: number): Promise<void> {
    const until = elapsed(this.#clock) + ms;
    if (until >= this.#waitsUntil) return;
    this.#waitsUntil = until;
    const { signal } = this.#looking;
    await this.#clock.sleep(ms, signal);
    if (this.#waitsUntil === until) this.#waitsUntil = Infinity;
    if (!signal.aborted) this.#onTurn();
  }
}
