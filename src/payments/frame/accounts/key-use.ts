/** Memory of one process about the use of keys: when each was last used, and which were refused. */
import { commitOne } from "../../../../storage/decided.ts";
import { type Clock, type Logger, elapsed } from "../../../core/runtime.ts";
import type { FrameStorage } from "../frame-storage.ts";
import type { ApiKeyRecord } from "../tables/identity.ts";

/** The precision of the noted time: a key in constant use costs one write in this time, for all processes together. */
const COARSENESS_MS = 60_000;

interface LastUseWriterParts {
  readonly storage: Pick<FrameStorage, "commit">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Notes when keys were last used, coarsely and beside the request. */
export class LastUseWriter {
  readonly #parts: LastUseWriterParts;
  /** Keys whose use is being written. */
  readonly #writing = new Set<string>();

  constructor(parts: LastUseWriterParts) {
    this.#parts = parts;
  }

  /** Returns at once. No request waits for this write or fails with it. */
  note({ id, lastUsedAt }: Pick<ApiKeyRecord, "id" | "lastUsedAt">): void {
    const now = this.#parts.clock.now();
    if (this.#writing.has(id) || (lastUsedAt !== null && now - lastUsedAt < COARSENESS_MS)) return;
    this.#writing.add(id);
    void this.#write(id, now);
  }

  async #write(id: string, now: number): Promise<void> {
    const { storage, log } = this.#parts;
    try {
      await commitOne(storage, { writes: [{ table: "apiKeys", id, set: { lastUsedAt: now } }] });
    } catch (error) {
      // The next use notes it. A database that takes no writes is told of by everything else.
      log.debug({ err: error, keyId: id }, "the last use of a key could not be noted");
    } finally {
      this.#writing.delete(id);
    }
  }
}

const REMEMBERED_MS = 60_000;
/** Beyond this number the key that was looked up first is forgotten. */
const MAX_KEYS = 10_000;

interface RefusedKey {
  readonly until: number;
  /** Null where no such key is stored. */
  readonly key: ApiKeyRecord | null;
}

/**
 * Refused keys by the hash of their secret, so that a program that goes on using one costs no look-ups. The reason for a
 * refusal stays: its end, its environment, its addresses.
 */
export class RefusedKeyCache {
  readonly #clock: Clock;
  readonly #keys = new Map<string, RefusedKey>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined for a key that has to be looked up. */
  get(secretHash: string): ApiKeyRecord | null | undefined {
    const refused = this.#keys.get(secretHash);
    return refused !== undefined && refused.until > elapsed(this.#clock) ? refused.key : undefined;
  }

  add(secretHash: string, key: ApiKeyRecord | null): void {
    this.#keys.delete(secretHash);
    this.#keys.set(secretHash, { until: elapsed(this.#clock) + REMEMBERED_MS, key });
    const [first] = this.#keys.keys();
    if (this.#keys.size > MAX_KEYS && first !== undefined) this.#keys.delete(first);
  }
}
