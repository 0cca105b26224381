/** Compares the chain with the database at the start, and where it is silent then, again and again until it answers. */
import { LedgerUnavailable } from "../ledger/ledger.ts";
import { StartRefused } from "../payments/frame/secrets/bind-database.ts";
import type { Clock, Logger } from "../core/runtime.ts";

/** Whether this process may act on the chain, and why. */
export interface ChainStatus {
  /**
   * `unasked`: before `start()`. `compared`: it is the chain of this database. `silent`: it has not been reached since the
   * start. `refused`: what answers is not the chain of this database, or does not fit the options; see `message`.
   */
  readonly state: "unasked" | "compared" | "silent" | "refused";
  /** The reason why work is held back; null when nothing is. */
  readonly message: string | null;
}

interface ChainCheckParts {
  /** Compares, and answers the genesis hash. Changes nothing. */
  readonly compare: () => Promise<string>;
  /** Binds the database to this chain, or compares the chain with the database's chain. */
  readonly bind: (genesisHash: string) => Promise<void>;
  readonly gate: ChainGate;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A start waits so long for the chain. An orchestrator that waits for the start would give up on a longer one. */
const MAX_START_WAIT_MS = 10_000;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 15_000;

const COULD_NOT = "the chain could not be compared with this database; it is tried again";
const NOT_REACHED =
  "the chain has not been reached since the start, so it has not been compared with this database: " +
  "until then nothing is signed or sent, and no payment is taken";

/** Opens the gate, and only where the chain is that of the database. */
export class ChainCheck {
  readonly #parts: ChainCheckParts;
  #standing: ChainStatus = { state: "unasked", message: null };
  /** The comparison under way, or the last one. */
  #asked: Promise<boolean> = Promise.resolve(false);
  /** The last logged message, so that it is not repeated at every comparison. */
  #logged: string | null = null;

  constructor(parts: ChainCheckParts) {
    this.#parts = parts;
  }

  get standing(): ChainStatus {
    return this.#standing;
  }

  /**
   * Shuts the gate and compares. True once the gate is open; false when the chain is silent, or has not answered within ten
   * seconds, or the start was stopped. Throws `StartRefused`, and `LedgerUnavailable` where endpoints serve different chains.
   */
  async begin(signal: AbortSignal): Promise<boolean> {
    const { clock, log } = this.#parts;
    this.#shut("silent", NOT_REACHED);
    const asked = this.#ask(signal);
    const patience = new AbortController();
    const tooLong = clock.sleep(MAX_START_WAIT_MS, patience.signal).then(() => false);
    try {
      const isOpen = await Promise.race([asked, tooLong, aborted(signal)]);
      if (!isOpen && !signal.aborted) log.warn({ waitedMs: MAX_START_WAIT_MS }, NOT_REACHED);
      return isOpen;
    } catch (err) {
      if (isRefusal(err)) this.#shut("refused", refusalOf(err));
      if (!isSilence(err)) throw err;
      log.warn({ err }, NOT_REACHED);
      return false;
    } finally {
      patience.abort();
    }
  }

  /** Goes on where `begin` was left without an answer. True once the gate is open; false when it was stopped before. */
  async finish(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#parts;
    const stopped = aborted(signal);
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      try {
        // A node that hangs does not hold up a stop.
        return await Promise.race([this.#asked, stopped]);
      } catch (error) {
        this.#note(error);
      }
      await clock.sleep(pauseMs, signal);
      if (!signal.aborted) this.#ask(signal).catch(() => {});
    }
    return false;
  }

  #ask(signal: AbortSignal): Promise<boolean> {
    this.#asked = this.#compare(signal);
    return this.#asked;
  }

  async #compare(signal: AbortSignal): Promise<boolean> {
    const { compare, bind, gate } = this.#parts;
    const genesisHash = await compare();
    if (signal.aborted) return false;
    await bind(genesisHash);
    if (signal.aborted) return false;
    gate.open();
    this.#standing = { state: "compared", message: null };
    return true;
  }

  /** Logs what has changed since the last comparison. A refused state stays refused while the chain is silent. */
  #note(error: unknown): void {
    const { log } = this.#parts;
    if (isSilence(error)) return;
    const message = isRefusal(error) ? refusalOf(error) : COULD_NOT;
    if (isRefusal(error)) this.#shut("refused", message);
    if (message === this.#logged) return;
    this.#logged = message;
    log.error({ err: error }, message);
  }

  #shut(state: ChainStatus["state"], message: string): void {
    this.#parts.gate.shut(message);
    this.#standing = { state, message };
  }
}

/** The chain may be the right one, and cannot be asked. Endpoints of different chains have answered. */
function isSilence(error: unknown): boolean {
  return error instanceof LedgerUnavailable && !servesOthers(error);
}

function isRefusal(error: unknown): error is StartRefused | LedgerUnavailable {
  return error instanceof StartRefused || (error instanceof LedgerUnavailable && servesOthers(error));
}

function servesOthers({ troubles }: LedgerUnavailable): boolean {
  return troubles.length > 0 && troubles.every(({ kind }) => kind === "other_chain");
}

function refusalOf({ message }: Error): string {
  return `nothing is signed or sent, and no payment is taken: ${message}`;
}

function aborted(signal: AbortSignal): Promise<false> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(false);
    else signal.addEventListener("abort", () => resolve(false), { once: true });
  });
}

/**
 * The gate in front of the chain. While it is shut the chain cannot be asked and nothing new is taken: reads may come from a
 * wrong chain, and sends would move money there. Open until it is shut by a start: commands of an operator need no
 * start, and compare the chain themselves.
 */
export class ChainGate {
  #reason: string | null = null;

  /** From now on everything behind the gate fails with this reason, as in an outage. */
  shut(reason: string): void {
    this.#reason = reason;
  }

  /** The chain was compared with the database. */
  open(): void {
    this.#reason = null;
  }

  /** Throws `LedgerUnavailable` while it is shut. */
  pass(): void {
    if (this.#reason !== null) throw new LedgerUnavailable(this.#reason);
  }

  /** Asks, unless it is shut: then every question is rejected with `LedgerUnavailable`. */
  async past<T>(ask: () => Promise<T>): Promise<T> {
    this.pass();
    return await ask();
  }
}
