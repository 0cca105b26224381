/** Remembers recently valid API keys, to distinguish them from invented keys without a look-up where no checksum tells. */
import { sha256Hex } from "../payments/ids.ts";

/**
 * Beyond this number the longest unused header is forgotten; it is then looked up like any unknown header, unless its
 * client has failed too often.
 */
const MAX_KEYS = 10_000;

/** Hashes of `Authorization` headers. Being known opens nothing: each request is still looked up. */
export class CredentialCache {
  // A Set keeps the order of insertion, and every use inserts again: the first one is the longest unused.
  readonly #hashes = new Set<string>();

  has(request: Request): boolean {
    return this.#hashes.has(hashOf(request));
  }

  remember(request: Request): void {
    const hash = hashOf(request);
    this.#hashes.delete(hash);
    this.#hashes.add(hash);
    const [longestUnused] = this.#hashes;
    if (longestUnused !== undefined && this.#hashes.size > MAX_KEYS) this.#hashes.delete(longestUnused);
  }
}

function hashOf({ headers }: Request): string {
  return sha256Hex(headers.get("authorization") ?? "");
}
