/** Remembers what is known of signatures that have landed, so that no answer is asked for twice. */
import type { SignatureEvent } from "../../../machines/wallet-transfer.ts";

/** What is known of one. */
type Known =
  /** It has landed, and its receipt was not asked for yet. */
  | { readonly is: "landed" }
  /** Its receipt was not there, this many times in a row; not to be asked for before this time. */
  | { readonly is: "without receipt"; readonly askAt: number; readonly times: number }
  /** The event for its instance. */
  | { readonly is: "read"; readonly event: SignatureEvent };

/** More than are on their way at once; one that is dropped is only asked for again. */
const MAX_REMEMBERED = 20_000;
const FIRST_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 8_000;

/** The memory of one watcher: gone with its process, and limited. */
export class LandedSignatureCache {
  readonly #known = new Map<string, Known>();

  /** The event of one whose receipt was read, and whose instance could not take it so far. */
  eventOf(signature: string): SignatureEvent | null {
    const known = this.#known.get(signature);
    return known?.is === "read" ? known.event : null;
  }

  /** Whether it is known to have landed, so that its status need not be asked for. */
  hasLanded(signature: string): boolean {
    return this.#known.get(signature)?.is === "landed";
  }

  /** Whether the receipt of one that has landed may be asked for now. */
  mayAsk(signature: string, now: number): boolean {
    const known = this.#known.get(signature);
    return known?.is !== "without receipt" || known.askAt <= now;
  }

  /** It has landed; its receipt will be asked for. */
  landed(signature: string): void {
    if (this.#known.get(signature)?.is !== "without receipt") this.#remember(signature, { is: "landed" });
  }

  /**
   * Its receipt was asked for and is not there. It is asked for again after a pause that doubles from 2 to 8 s, and its
   * status meanwhile: one that has not landed after all must not be waited for.
   */
  withoutReceipt(signature: string, now: number): void {
    const known = this.#known.get(signature);
    const times = known?.is === "without receipt" ? known.times + 1 : 1;
    const pause = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (times - 1));
    this.#remember(signature, { is: "without receipt", askAt: now + pause, times });
  }

  /** Its receipt was read. */
  read(signature: string, event: SignatureEvent): void {
    this.#remember(signature, { is: "read", event });
  }

  /** Nothing more will be asked about it. */
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
