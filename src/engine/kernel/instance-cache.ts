/** A cache of the instances that this process committed last, so that the next step of a busy instance needs no read. */
import type { KnownInstance } from "../../workflow/step-context.ts";

// Somewhat more than are under way at once; with contexts of a kilobyte, four megabytes.
const MAX_KNOWN = 4_096;
// The most characters of all cached snapshots together.
const MAX_KNOWN_TEXT = 16 * 1024 * 1024;

/**
 * Another process may have changed or removed the instance since. So a cached one may only lead to a commit, which storage
 * refuses when its stamp is not the last. Before the caller decides to do nothing, it reads the storage.
 */
export class InstanceCache {
  readonly #known = new Map<string, KnownInstance>();
  #text = 0;

  get(id: string): KnownInstance | undefined {
    return this.#known.get(id);
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
    this.#known.set(instance.id, instance);
    this.#text += instance.snapshot.length;
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN && this.#text <= MAX_KNOWN_TEXT) return;
      this.#forget(oldest);
    }
  }

  #forget(id: string): void {
    const instance = this.#known.get(id);
    if (instance === undefined) return;
    this.#known.delete(id);
    this.#text -= instance.snapshot.length;
  }
}
