/** Removes what is old enough, a little at a time, in one process at a time: a pass every ten minutes. */
import { offBy } from "../../core/clock-trust.ts";
import { elapsed, type Clock } from "../../core/runtime.ts";
import type { EngineStorage, Lease } from "../../../storage/storage.ts";
import { thrownText } from "../../core/thrown.ts";
import type { EngineContext } from "../kernel/engine-context.ts";
import { Loop } from "../kernel/loop.ts";
import { steadyClock } from "../kernel/steady-clock.ts";

export interface RetentionRule {
  /** The name of the sweep, such as `finished`: for the log. */
  readonly name: string;
  /** Goes through what is old enough, a batch at a time; tells after each batch how much of it was removed. */
  batches(): AsyncIterable<number>;
}

interface RetentionLoopParts extends Pick<EngineContext, "clock" | "log" | "holder"> {
  readonly storage: Pick<EngineStorage, "lease">;
  /** Loops with the same name take turns, also across processes. */
  readonly name: string;
  /** Compares the clock with a trusted clock before each pass. */
  readonly compareClock?: () => Promise<unknown>;
}

/** The progress of the removals in this process. */
export interface RemovalStatus {
  /** The end of this process's last pass, in milliseconds since the Unix epoch; null before the end of the first pass. */
  readonly lastPassAt: number | null;
  /** The number of rows that this process has removed so far. */
  readonly removed: number;
  /** Why the last pass left something old, such as the archive's error; null when it removed all. */
  readonly error: string | null;
  /** The sweep that this process is making now; null between passes. */
  readonly sweep: {
    /** The rows to remove, such as `notices`. */
    readonly name: string;
    /** Its beginning, in milliseconds since the Unix epoch. */
    readonly since: number;
    /** The number of rows that it has removed so far. */
    readonly removed: number;
  } | null;
}

const PASS_EVERY_MS = 600_000;
/** Between two batches others have their turn at the database: for this time, or as long as the batch has taken. */
const PAUSE_MS = 20;
const MAX_PAUSE_MS = 1_000;
/** The pause between two log lines about a long sweep. */
const TELL_EVERY_MS = 60_000;
/** Longer than an archive may take, so that a slow one is not called by a second process meanwhile. */
const LEASE_MS = 180_000;

/** From `run` to `stop`. */
export class RetentionLoop {
  readonly #sweeps: readonly RetentionRule[];
  readonly #around: RetentionLoopParts;
  /** For pauses. Trust in the clock goes by the host's own clock, as everywhere in the process. */
  readonly #clock: Clock;
  /** A separate holder name, since other leases of this process are given up at other times. */
  readonly #holder: string;
  readonly #passes: Loop;
  #leasedAt = 0;
  #lastPassAt: number | null = null;
  #removed = 0;
  #sweep: RemovalStatus["sweep"] = null;
  /** Errors by sweep. Logged once, at the beginning. */
  readonly #errors = new Map<string, string>();

  constructor(sweeps: readonly RetentionRule[], around: RetentionLoopParts) {
    this.#sweeps = sweeps;
    this.#around = around;
    this.#clock = steadyClock(around.clock, around.log);
    this.#holder = `${around.holder} ${around.name}`;
    this.#passes = new Loop({
      clock: this.#clock,
      log: around.log,
      round: (signal) => this.#pass(signal),
      pauseMs: () => PASS_EVERY_MS,
      failure: "the storage could not be asked whose turn it is to remove what is old",
    });
  }

  /** Begins the passes; the first is made after a pause, as are all others. */
  run(): void {
    if (this.#sweeps.length === 0) return;
    offBy(this.#around.clock);
    this.#passes.run(PASS_EVERY_MS);
  }

  /** Begins no batch any more, and waits up to `timeoutMs` for the one in hand. */
  async stop(timeoutMs: number): Promise<void> {
    await this.#passes.stop(timeoutMs);
    if (this.#leasedAt > 0) await this.#lease(0);
    this.#leasedAt = 0;
  }

  standing(): RemovalStatus {
    const [error = null] = [...this.#errors].map(([name, reason]) => `${name}: ${reason}`);
    return { lastPassAt: this.#lastPassAt, removed: this.#removed, error, sweep: this.#sweep };
  }

  async #pass(signal: AbortSignal): Promise<void> {
    await this.#around.compareClock?.();
    if (!this.#isTrusted() || !(await this.#isMyTurn())) return;
    for (const sweep of this.#sweeps) {
      try {
        if (!(await this.#carryOut(sweep, signal))) return;
        if (this.#errors.delete(sweep.name)) {
          this.#around.log.info({ sweep: sweep.name }, "what is old is removed again");
        }
      } catch (err) {
        this.#failed(sweep, err);
      }
    }
    this.#lastPassAt = this.#around.clock.now();
  }

  #isTrusted(): boolean {
    const { clock, log } = this.#around;
    const offMs = offBy(clock);
    if (offMs === null) {
      this.#errors.delete("clock");
      return true;
    }
    const isNews = !this.#errors.has("clock");
    this.#errors.set("clock", `it was off by ${offMs} ms: nothing is removed for an hour`);
    if (isNews) log.error({ offMs }, "the clock was off: nothing that is old is removed for an hour");
    return false;
  }

  /** False when it was stopped, or another process has taken over. */
  async #carryOut(sweep: RetentionRule, signal: AbortSignal): Promise<boolean> {
    const { clock, log } = this.#around;
    let batchAt = elapsed(clock);
    let toldAt = batchAt;
    this.#sweep = { name: sweep.name, since: clock.now(), removed: 0 };
    try {
      for await (const removed of sweep.batches()) {
        this.#removed += removed;
        this.#sweep = { ...this.#sweep, removed: this.#sweep.removed + removed };
        if (elapsed(clock) - toldAt >= TELL_EVERY_MS) {
          log.info(this.#sweep, "what is old is being removed");
          toldAt = elapsed(clock);
        }
        await this.#clock.sleep(Math.min(Math.max(PAUSE_MS, elapsed(clock) - batchAt), MAX_PAUSE_MS), signal);
        batchAt = elapsed(clock);
        const isFresh = batchAt - this.#leasedAt < LEASE_MS / 3;
        if (signal.aborted || !(isFresh || (await this.#isMyTurn()))) return false;
      }
      return !signal.aborted;
    } finally {
      this.#sweep = null;
    }
  }

  #failed({ name }: RetentionRule, err: unknown): void {
    const isNews = !this.#errors.has(name);
    this.#errors.set(name, thrownText(err));
    const { log } = this.#around;
    if (isNews) log.error({ sweep: name, err }, "what is old could not be removed; it is tried again");
  }

  async #isMyTurn(): Promise<boolean> {
    const isMine = (await this.#lease(LEASE_MS)).some(({ holder }) => holder === this.#holder);
    if (isMine) this.#leasedAt = elapsed(this.#around.clock);
    return isMine;
  }

  #lease(leaseMs: number): Promise<readonly Lease[]> {
    const { storage, clock, name } = this.#around;
    const names = [`keep/${name}`];
    return storage.lease({ names, holder: this.#holder, now: () => clock.now(), leaseMs });
  }
}
