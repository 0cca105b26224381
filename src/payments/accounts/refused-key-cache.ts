/** Remembers refused keys for a minute, so that a program that goes on using one costs no look-ups. */
import { elapsed, type Clock } from "../../runtime.ts";
import type { ApiKeyRecord } from "../tables/identity.ts";

const REMEMBERED_MS = 60_000;
/** Beyond this number the key that was looked up first is forgotten. */
const MAX_KEYS = 10_000;

interface RefusedKey {
  readonly until: number;
  /** Null where no such key is stored. */
  readonly key: ApiKeyRecord | null;
}

/** Refused keys by the hash of their secret. What refuses a key stays: its end, its environment, its addresses. */
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
