/** Polls the ledger, or anything else, on behalf of instances that wait for it: every kind by itself. */
import { elapsed } from "../../../runtime.ts";
import { WatchKindLoop, type WatchLoopParts } from "./watch-kind-loop.ts";
import { watchedKinds } from "../../kernel/stored-names.ts";
import { Pause } from "../../kernel/pause.ts";
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
  readonly #pause: Pause;
  #stopping = new AbortController();
  /** Empty while it does not run. */
  #kinds: ReadonlyMap<string, WatchKindLoop> = new Map();
  #loops: Promise<unknown> = Promise.resolve();
  /** Kinds of which a watch was armed here since the last glance has begun. */
  readonly #armed = new Set<string>();
  readonly #turns = new KeyedQueue();
  readonly needsAll = true;
  #isIdle = false;

  constructor(watchers: Readonly<Record<string, Watcher>>, around: WatchLoopParts) {
    this.#watchers = watchers;
    this.#around = around;
    this.#pause = new Pause(around.clock);
  }

  run(): void {
    const watchers = Object.entries(this.#watchers);
    if (this.#kinds.size > 0 || watchers.length === 0) return;
    this.#stopping = new AbortController();
    const stopping = this.#stopping.signal;
    this.#kinds = new Map(
      watchers.map(([kind, watcher]) => {
        // A signal of its own: Node warns of a leak where many listen to one.
        const around = { ...this.#around, signal: AbortSignal.any([stopping]) };
        return [kind, new WatchKindLoop(kind, watcher, around)];
      }),
    );
    const loops = [...this.#kinds.values()].map((kind) => kind.run());
    this.#loops = Promise.all([...loops, this.#keepGlancing(stopping)]);
  }

  /** Waits up to `timeoutMs` for the looks under way, then gives up the shards; no look begins any more. */
  async stop(timeoutMs: number): Promise<void> {
    const kinds = [...this.#kinds.values()];
    if (kinds.length === 0) return;
    this.#kinds = new Map();
    this.#stopping.abort();
    const { clock } = this.#around;
    const impatient = new AbortController();
    const patience = clock.sleep(timeoutMs, impatient.signal);
    await Promise.race([this.#loops, patience]);
    await Promise.all(kinds.map((kind) => kind.close(patience))).finally(() => impatient.abort());
  }

  /** Looks at every watch of every kind, now; true when any instance moved because of it. */
  async workOnce(): Promise<boolean> {
    if (this.#kinds.size > 0) await this.#glance(this.#stopping.signal);
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
    this.#pause.end();
  }

  /** The standing of each watch kind in this process; empty while the engine does not run. */
  standing(): Readonly<Record<string, WatchStatus>> {
    return Object.fromEntries([...this.#kinds].map(([kind, polling]) => [kind, polling.standing()]));
  }

  async #keepGlancing(signal: AbortSignal): Promise<void> {
    const { clock } = this.#around;
    while (!signal.aborted) {
      const began = elapsed(clock);
      this.#isIdle = !(await this.#glance(signal));
      await this.#pause.take(this.#isIdle ? IDLE_GLANCE_MS : GLANCE_MS, signal);
      // A pause that was ended early: not sooner than this all the same.
      await this.#pause.take(began + GLANCE_MS - elapsed(clock), signal);
    }
  }

  /** Asks for the watched kinds, and tells each kind. False when no polled kind is watched. */
  #glance(signal: AbortSignal): Promise<boolean> {
    return this.#turns.take("glance", async () => {
      this.#armed.clear();
      try {
        const watched = await watchedKinds(this.#around.storage);
        const kinds = [...this.#kinds].map(([kind, polling]) => {
          const isWatched = watched.includes(kind) || this.#armed.has(kind);
          polling.follow(isWatched);
          return isWatched;
        });
        return kinds.includes(true);
      } catch (err) {
        if (!signal.aborted) this.#around.log.warn({ err }, "the storage could not be asked what is watched");
        return true;
      }
    });
  }
}
