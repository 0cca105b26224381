/** Looks twice a minute for what needs a person, and calls the host. */
import type { PaymentStorage } from "../../payment-storage.ts";
import type { MatterLookup } from "./list-matters.ts";
import { MatterReportWriter, type MatterReportWriterParts } from "./matter-report-writer.ts";

const LOOK_MS = 30_000;
/** So many new matters of each source are told in a look, if there are more; the next look tells further ones. */
const NEW_IN_A_LOOK = 200;

/** Sources of matters, and dependencies of reporting them. */
interface MatterReportLoopParts extends MatterReportWriterParts {
  readonly storage: Pick<PaymentStorage, "openMatters" | "matters" | "commit">;
  readonly lookForMatters: MatterLookup;
}

/** The looks of one process. */
export class MatterReportLoop {
  readonly #parts: MatterReportLoopParts;
  readonly #telling: MatterReportWriter;
  #running: AbortController | null = null;
  #reporting: Promise<void> = Promise.resolve();

  constructor(parts: MatterReportLoopParts) {
    this.#parts = parts;
    this.#telling = new MatterReportWriter(parts);
  }

  /** Looks once and tells everything there is to tell. Rejects when the storage does. */
  look(): Promise<void> {
    return this.#look(new AbortController().signal);
  }

  /** Looks twice a minute until `stop`. */
  run(): void {
    if (this.#running !== null) return;
    this.#running = new AbortController();
    void this.#keepLooking(this.#running.signal);
  }

  /** Ends the looks, and waits up to `timeoutMs` for the calls of the host. */
  async stop(timeoutMs: number): Promise<void> {
    this.#running?.abort();
    this.#running = null;
    const waiting = new AbortController();
    const reported = this.#reporting.catch(() => undefined);
    await Promise.race([reported, this.#parts.clock.sleep(timeoutMs, waiting.signal)]);
    waiting.abort();
  }

  /** A look reads the chain too, which may take long: `stop` waits only for what is told. */
  async #look(signal: AbortSignal): Promise<void> {
    const open = await this.#parts.storage.openMatters();
    // However many of one source are known already, they leave room for new ones.
    const found = await this.#parts.lookForMatters(open.length + NEW_IN_A_LOOK);
    if (signal.aborted) return;
    this.#reporting = this.#telling.tellAll(open, found);
    await this.#reporting;
  }

  async #keepLooking(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#parts;
    for (;;) {
      await clock.sleep(LOOK_MS, signal);
      if (signal.aborted) return;
      await this.#look(signal).catch((err: unknown) => {
        if (!signal.aborted) log.error({ err }, "looking for what needs a person failed");
      });
    }
  }
}
