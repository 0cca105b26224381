/** The life of a service, from `start` to `stop` and again: what begins at once, and what only once the chain is known. */
import { LedgerUnavailable } from "../ledger/ledger.ts";
import { ChainCheck, type ChainStatus } from "./chain-check.ts";
import { compareChain, type MintOptions } from "./compare-chain.ts";
import type { ServiceParts } from "./service-parts.ts";

/** Runs the loops of a service. */
export class ServiceLoop {
  readonly #parts: ServiceParts;
  readonly #comparison: ChainCheck;
  /** Null while it does not run. */
  #stopping: AbortController | null = null;
  #starting: Promise<void> = Promise.resolve();
  #waiting: Promise<void> = Promise.resolve();

  constructor(parts: ServiceParts, named: MintOptions) {
    const { chain, gate } = parts;
    const { clock, log } = parts.context;
    this.#parts = parts;
    this.#comparison = new ChainCheck({
      compare: () => compareChain(parts, named),
      bind: (genesisHash) => chain.bindTo(genesisHash),
      gate,
      clock,
      log,
    });
  }

  /** Whether this process may act on the chain. */
  get chain(): ChainStatus {
    return this.#comparison.standing;
  }

  /** See `PaymentService.start`. While it runs, once more changes nothing. */
  start(): Promise<void> {
    if (this.#stopping !== null) return this.#starting;
    const stopping = new AbortController();
    this.#stopping = stopping;
    this.#starting = this.#start(stopping.signal).catch((error: unknown) => {
      // A comparison that is still under way must bind and open nothing for a start that was refused.
      stopping.abort();
      if (this.#stopping === stopping) this.#stopping = null;
      throw error;
    });
    return this.#starting;
  }

  /** See `PaymentService.stop`. */
  async stop(timeoutMs: number): Promise<void> {
    const { engine, waiters, notices, report, retention, webhooks, signs } = this.#parts;
    this.#stopping?.abort();
    this.#stopping = null;
    waiters.stop();
    await Promise.all([
      engine.stop({ timeoutMs }),
      report.stop(timeoutMs),
      retention.stop(timeoutMs),
      signs.stop(),
      this.#waiting,
    ]);
    await notices.stop(timeoutMs);
    await webhooks.delivery.endIdle();
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { engine, waiters, notices, report, retention, chain, webhooks, signs } = this.#parts;
    const isCompared = await this.#comparison.begin(signal);
    if (signal.aborted) return;
    await (isCompared ? this.#warn() : chain.bindWithoutChain());
    if (signal.aborted) return;
    // Before anything is signed or ended: whether another copy of the database may have been at work.
    await signs.start();
    if (signal.aborted) return;
    waiters.start();
    if (isCompared) engine.run();
    else {
      // Nothing of the other charts is claimed, so that none of their deadlines passes, and no point of no return.
      engine.run({ only: [webhooks.deliveries] });
      this.#waiting = this.#runOnceCompared(signal);
    }
    report.run();
    notices.run();
    retention.run();
  }

  async #runOnceCompared(signal: AbortSignal): Promise<void> {
    const { engine, context } = this.#parts;
    if (!(await this.#comparison.finish(signal)) || signal.aborted) return;
    context.log.info({}, "the chain has answered, and is the one of this database: all work goes on");
    engine.run();
    void this.#warn();
  }

  /** Writes warnings, without holding up the start. */
  async #warn(): Promise<void> {
    const { swapper, routing, context } = this.#parts;
    try {
      await swapper?.warn?.();
      await routing?.warn();
    } catch (err) {
      const said = "the service's own wallets could not be looked at";
      if (err instanceof LedgerUnavailable) context.log.warn({ err }, said);
      else context.log.error({ err }, said);
    }
  }
}
