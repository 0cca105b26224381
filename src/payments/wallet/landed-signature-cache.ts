/** Remembers landed signatures and their receipts, so that no answer is asked for twice. */
import type { SignatureEvent } from "../../../machines/wallet-transfer.ts";

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

  /** Whether the receipt of one that has landed may be asked for now. */
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

  /** Notes a receipt that was read. */
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
