/** Polls the ledger, or anything else, on behalf of instances that wait for it: every kind by itself. */
import { createHash } from "node:crypto";
import { KindPolling } from "./kind-polling.ts";
import type { PollingSurroundings } from "./kind-polling.ts";
import type { KindWatching, Watcher } from "./watcher.ts";

/** Keys of one kind are spread over so many shards, and thereby over at most so many processes. */
const SHARDS_PER_KIND = 16;

/** The shard of a key: the same in every process. */
export function shardOf(key: string): number {
  return createHash("sha256").update(key).digest().readUInt32BE(0) % SHARDS_PER_KIND;
}

/** What polling needs. */
type Surroundings = PollingSurroundings & {
  readonly storage: { releaseShards(holder: string): Promise<void> };
};

/** The polling of every kind, from `run` to `stop` and again. */
export class WatchPolling {
  readonly #watchers: Readonly<Record<string, Watcher>>;
  readonly #around: Surroundings;
  /** Empty while it does not run. */
  #kinds: ReadonlyMap<string, KindPolling> = new Map();
  #loops: Promise<unknown> = Promise.resolve();

  constructor(watchers: Readonly<Record<string, Watcher>>, around: Surroundings) {
    this.#watchers = watchers;
    this.#around = around;
  }

  /** Begins to poll. */
  run(): void {
    if (this.#kinds.size > 0) return;
    this.#kinds = new Map(
      Object.entries(this.#watchers).map(([kind, watcher]) => [
        kind,
        new KindPolling(kind, watcher, this.#around),
      ]),
    );
    this.#loops = Promise.all([...this.#kinds.values()].map((kind) => kind.run()));
  }

  /** Waits up to `timeoutMs` for the looks under way, then gives up the shards; no look begins any more. */
  async stop(timeoutMs: number): Promise<void> {
    const kinds = [...this.#kinds.values()];
    if (kinds.length === 0) return;
    this.#kinds = new Map();
    for (const kind of kinds) kind.stop();
    const { clock, storage, holder } = this.#around;
    const impatient = new AbortController();
    const patience = clock.sleep(timeoutMs, impatient.signal);
    await Promise.race([this.#loops, patience]);
    await Promise.all(kinds.map((kind) => kind.close(patience)));
    impatient.abort();
    await storage.releaseShards(holder);
  }

  /** Looks at every watch of every kind, now; true when any instance moved because of it. */
  async pollOnce(): Promise<boolean> {
    const moved = await Promise.all([...this.#kinds.values()].map((kind) => kind.lookAtAll()));
    return moved.includes(true);
  }

  /** A watch of this kind was armed here: its polling need not wait to find it. */
  armed(kind: string): void {
    this.#kinds.get(kind)?.armed();
  }

  /** How each kind is followed by this process; empty while it does not run. */
  standing(): Readonly<Record<string, KindWatching>> {
    return Object.fromEntries([...this.#kinds].map(([kind, polling]) => [kind, polling.standing()]));
  }
}
