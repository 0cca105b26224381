/** Polls the ledger, or anything else, on behalf of instances that wait for it: every kind by itself. */
import { elapsed } from "../../../core/runtime.ts";
import { WatchKindLoop, type WatchLoopParts } from "./watch-kind-loop.ts";
import { watchedKinds } from "../../../workflow/watch-rows.ts";
import { Loop } from "../../kernel/loop.ts";
import { KeyedQueue } from "../../kernel/keyed-queue.ts";
import type { ModuleLoop } from "../../engine-module.ts";
import type { WatchStatus, Watcher } from "../../watcher-options.ts";

/** The pause between looks for watches of which this process holds no shard: the process may be handed a shard. */
const GLANCE_MS = 900;
/** The pause while nothing is watched anywhere. This glance is the only cost of an idle polling. */
const IDLE_GLANCE_MS = 3_600;

/** The polling of every kind, from `run` to `stop` and again. */
export class WatchLoop implements ModuleLoop {
  readonly #watchers: Readonly<Record<string, Watcher>>;
  readonly #around: WatchLoopParts;
  readonly #glances: Loop;
  /** Empty while it does not run. */
  #kinds: ReadonlyMap<string, WatchKindLoop> = new Map();
  /** Kinds of which a watch was armed here since the last glance has begun. */
  readonly #armed = new Set<string>();
  readonly #turns = new KeyedQueue();
  readonly needsAll = true;
  #isIdle = false;

  constructor(watchers: Readonly<Record<string, Watcher>>, around: WatchLoopParts) {
    this.#watchers = watchers;
    this.#around = around;
    this.#glances = new Loop({
      ...around,
      round: (signal) => this.#glanceAndRest(signal),
      pauseMs: () => GLANCE_MS,
      failure: "the storage could not be asked what is watched",
    });
  }

  run(): void {
    const watchers = Object.entries(this.#watchers);
    if (this.#kinds.size > 0 || watchers.length === 0) return;
    this.#kinds = new Map(
      watchers.map(([kind, watcher]) => [kind, new WatchKindLoop(kind, watcher, this.#around)]),
    );
    for (const kind of this.#kinds.values()) kind.run();
    this.#glances.run();
  }

  /** Waits up to `timeoutMs` for the looks under way, then gives up the shards; no look begins any more. */
  async stop(timeoutMs: number): Promise<void> {
    const kinds = [...this.#kinds.values()];
    if (kinds.length === 0) return;
    this.#kinds = new Map();
    const { clock } = this.#around;
    const impatient = new AbortController();
    const patience = clock.sleep(timeoutMs, impatient.signal);
    const ends = [this.#glances.stop(timeoutMs), ...kinds.map((kind) => kind.close(patience))];
    await Promise.all(ends).finally(() => impatient.abort());
  }

  /** Looks at every watch of every kind, now; true when any instance moved because of it. */
  async workOnce(): Promise<boolean> {
    // The loop tells why it failed.
    if (this.#kinds.size > 0) await this.#glance().catch(() => {});
    const moved = await Promise.all([...this.#kinds.values()].map((kind) => kind.lookAtAll()));
    return moved.includes(true);
  }

  /** A watch of this kind was armed here: its polling need not wait to find it. */
  armed(kind: string): void {
    this.#armed.add(kind);
    this.#kinds.get(kind)?.follow(true);
  }

  /** Wakes the polling: work is being done here, perhaps begun by another process, and may have new watches. */
  stir(): void {
    if (!this.#isIdle) return;
    this.#isIdle = false;
    this.#glances.wake();
  }

  /** The standing of each watch kind in this process; empty while the engine does not run. */
  standing(): Readonly<Record<string, WatchStatus>> {
    return Object.fromEntries([...this.#kinds].map(([kind, polling]) => [kind, polling.standing()]));
  }

  /** Woken or not, no glance comes sooner than that behind the one before. */
  async #glanceAndRest(signal: AbortSignal): Promise<number> {
    const { clock } = this.#around;
    const began = elapsed(clock);
    this.#isIdle = !(await this.#glance());
    await clock.sleep(began + GLANCE_MS - elapsed(clock), signal);
    return this.#isIdle ? IDLE_GLANCE_MS - GLANCE_MS : 0;
  }

  /** Asks for the watched kinds, and tells each kind. False when no polled kind is watched. */
  #glance(): Promise<boolean> {
    return this.#turns.take("glance", async () => {
      this.#armed.clear();
      const watched = await watchedKinds(this.#around.storage);
      const kinds = [...this.#kinds].map(([kind, polling]) => {
        const isWatched = watched.includes(kind) || this.#armed.has(kind);
        polling.follow(isWatched);
        return isWatched;
      });
      return kinds.includes(true);
    });
  }
}
