/** Remembers revoked keys for a minute, so that a program that goes on using one costs no look-ups. */
import type { Clock } from "../../runtime.ts";

const REMEMBERED_MS = 60_000;
/** Beyond this number the key that was looked up first is forgotten. */
const MAX_KEYS = 10_000;

/** Hashes of the secrets of keys that were found revoked. A revoked key stays so. */
export class RevokedKeyCache {
  readonly #clock: Clock;
  readonly #until = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(secretHash: string): boolean {
    return (this.#until.get(secretHash) ?? 0) > this.#clock.now();
  }

  add(secretHash: string): void {
    this.#until.delete(secretHash);
    this.#until.set(secretHash, this.#clock.now() + REMEMBERED_MS);
    const [first] = this.#until.keys();
    if (this.#until.size > MAX_KEYS && first !== undefined) this.#until.delete(first);
  }
}
