/** A cache of the instances that this process committed last, so that the next step of a busy one needs no read. */
import type { InstanceRecord } from "../../storage/storage.ts";
import type { Clock } from "../runtime.ts";

/** As much of a stored instance as a step is decided from. */
export type KnownInstance = Pick<
  InstanceRecord,
  "id" | "workflow" | "hash" | "version" | "status" | "snapshot"
>;

// Somewhat more than are under way at once; with contexts of a kilobyte, four megabytes.
const MAX_KNOWN = 4_096;
// Characters of their snapshots, however large each one is.
const MAX_KNOWN_TEXT = 16 * 1024 * 1024;
// Less than the hour for which an instance that has ended is kept at least: one that is known so long may have ended in
// another process, been removed, and begun again under the same id. Its new life reaches the same versions.
const MAX_KNOWN_MS = 600_000;

interface Entry {
  readonly instance: KnownInstance;
  readonly keptAt: number;
}

/**
 * Another process may have changed the instance since. So a cached instance may only lead to a commit, which storage
 * refuses when its version is out of date. Before the caller decides to do nothing, it reads the storage.
 */
export class RecentInstances {
  readonly #clock: Clock;
  readonly #known = new Map<string, Entry>();
  #text = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(id: string): KnownInstance | undefined {
    const entry = this.#known.get(id);
    if (entry === undefined) return undefined;
    const age = this.#clock.now() - entry.keptAt;
    // Where the clock was set back, the age is not known.
    return age >= 0 && age <= MAX_KNOWN_MS ? entry.instance : undefined;
  }

  /** Removes the instance from the cache and returns it: if the caller fails, the next one reads the storage. */
  take(id: string): KnownInstance | undefined {
    const instance = this.get(id);
    this.#forget(id);
    return instance;
  }

  /** Keeps it, unless it is done: a done instance takes no more steps. */
  keep(instance: KnownInstance): void {
    if (instance.status === "done") return;
    this.#forget(instance.id);
    this.#known.set(instance.id, { instance, keptAt: this.#clock.now() });
    this.#text += instance.snapshot.length;
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN && this.#text <= MAX_KNOWN_TEXT) return;
      this.#forget(oldest);
    }
  }

  #forget(id: string): void {
    const entry = this.#known.get(id);
    if (entry === undefined) return;
    this.#known.delete(id);
    this.#text -= entry.instance.snapshot.length;
  }
}
