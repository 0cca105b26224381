/** The life of a service, from `start` to `stop` and again: what begins at once, and what only once the chain is known. */
import { LedgerUnavailable } from "../ledger/ledger.ts";
import { ChainCheck, type ChainStatus } from "./chain-check.ts";
import { compareChain, type MintOptions } from "./compare-chain.ts";
import type { ServiceParts } from "./service-parts.ts";

/** A storage that does not answer for so long holds up no stop. */
const MAX_ANSWER_MS = 10_000;

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
    this.#parts.store.open();
    this.#starting = this.#start(stopping.signal).catch(async (error: unknown) => {
      // A comparison that is still under way must bind and open nothing for a start that was refused.
      stopping.abort();
      if (this.#stopping === stopping) this.#stopping = null;
      await this.#shutUnlessRunning();
      throw error;
    });
    return this.#starting;
  }

  /** See `PaymentService.stop`. */
  async stop(timeoutMs: number): Promise<void> {
    const { engine, waiters, report, retention, modules } = this.#parts;
    const works = modules.flatMap(({ work }) => work ?? []);
    const { store, context } = this.#parts;
    this.#stopping?.abort();
    this.#stopping = null;
    waiters.stop();
    const patience = new AbortController();
    const enough = context.clock.sleep(timeoutMs, patience.signal);
    const ended = Promise.all([
      engine.stop({ timeoutMs }),
      report.stop(timeoutMs),
      retention.stop(timeoutMs),
      Promise.race([Promise.all([...works.map((work) => work.stop()), store.hostRests()]), enough]),
      this.#waiting,
    ]);
    try {
      await ended;
      for (const work of works) await work.end(timeoutMs);
    } finally {
      patience.abort();
      await this.#shutUnlessRunning();
    }
  }

  /** Work that goes on all the same, since a node or a host hears no signal, uses the storage no more. */
  async #shutUnlessRunning(): Promise<void> {
    const { store, context } = this.#parts;
    if (this.#stopping !== null) return;
    const answered = new AbortController();
    const tooLong = context.clock.sleep(MAX_ANSWER_MS, answered.signal);
    await Promise.race([store.shut(), tooLong]);
    answered.abort();
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { engine, waiters, report, retention, chain, modules } = this.#parts;
    const isCompared = await this.#comparison.begin(signal);
    if (signal.aborted) return;
    await (isCompared ? this.#warn() : chain.bindWithoutChain());
    if (signal.aborted) return;
    // Before any other event: what callers were told before this database was restored stays as it was told.
    for (const module of modules) await module.beforeWork?.();
    if (signal.aborted) return;
    this.#tellWhatIsOff();
    waiters.start();
    if (isCompared) engine.run();
    else {
      // Nothing of the other charts is claimed, so that none of their deadlines passes, and no point of no return.
      engine.run({ only: modules.flatMap(({ chainless }) => chainless ?? []) });
      this.#waiting = this.#runOnceCompared(signal);
    }
    report.run();
    for (const { work } of modules) work?.run();
    retention.run();
  }

  async #runOnceCompared(signal: AbortSignal): Promise<void> {
    const { engine, context } = this.#parts;
    if (!(await this.#comparison.finish(signal)) || signal.aborted) return;
    context.log.info({}, "the chain has answered, and is the one of this database: all work goes on");
    engine.run();
    void this.#warn();
  }

  #tellWhatIsOff(): void {
    const { modules, swapper, context } = this.#parts;
    const off = [...modules.flatMap((module) => module.off ?? []), ...(swapper === null ? ["swaps"] : [])];
    if (off.length === 0) return;
    context.log.info({ off }, "not configured: requests are answered ROUTING_UNAVAILABLE off");
  }

  /** Writes warnings, without holding up the start. */
  async #warn(): Promise<void> {
    const { swapper, modules, context } = this.#parts;
    try {
      await swapper?.warn?.();
      for (const module of modules) await module.warn?.();
    } catch (err) {
      const said = "the service's own wallets could not be looked at";
      if (err instanceof LedgerUnavailable) context.log.warn({ err }, said);
      else context.log.error({ err }, said);
    }
  }
}
