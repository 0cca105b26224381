/** Authenticates requests, by API keys or in the host's own way, and limits failed attempts of one address. */
import { isPaymentError, PaymentError } from "../errors/errors.ts";
import type { Caller } from "../payments/frame/accounts/caller.ts";
import type { ClientLimit } from "./client-limit.ts";
import { isUntold } from "../payments/frame/accounts/api-keys.ts";
import { isCheckedKey } from "../payments/frame/accounts/key-text.ts";
import { sha256Hex } from "../payments/frame/ids.ts";

/** Finds the caller of a request that comes from this address (null: unknown); null when there is none. */
export type CallerLookup = (request: Request, address: string | null) => Promise<Caller | null>;

interface AuthenticationParts {
  readonly authenticate: CallerLookup;
  readonly failures: ClientLimit;
  /** Recently valid credentials; null when the host authenticates in its own way. */
  readonly known: CredentialCache | null;
}

export class Authentication {
  readonly #parts: AuthenticationParts;
  /** False once the database's secret did not open, so that a look-up alone tells a made-up key. */
  #areToldByChecksum = true;

  constructor(parts: AuthenticationParts) {
    this.#parts = parts;
  }

  /**
   * The caller, or `INVALID_API_KEY`. A key whose checksum tells whether it was made up costs no look-up then, and is
   * never counted: every such key gets the same answer. Other wrong keys count, and after too many the answer is
   * `RATE_LIMIT_EXCEEDED`: from then on only those that were valid before are looked up. Behind a proxy or a NAT many clients
   * share an address. An unknown address (null) is not limited. A failure's standing is written to `headers`.
   */
  async callerOf(request: Request, address: string | null, headers: Headers): Promise<Caller> {
    const { failures, known } = this.#parts;
    const isChecked = (): boolean =>
      this.#areToldByChecksum && known !== null && isCheckedKey(request.headers.get("authorization"));
    // The window is looked at first: hashing the credentials of every request would cost more.
    const isLikelyMadeUp = known !== null && !isChecked() && failures.isFull(address) && !known.has(request);
    const caller = isLikelyMadeUp ? null : await this.#find(request, address);
    if (caller === null) {
      if (!isChecked()) failures.count(address, headers);
      throw new PaymentError("INVALID_API_KEY", {});
    }
    known?.remember(request);
    return caller;
  }

  async #find(request: Request, address: string | null): Promise<Caller | null> {
    try {
      return await this.#parts.authenticate(request, address);
    } catch (thrown) {
      if (!isPaymentError(thrown, "INVALID_API_KEY")) throw thrown;
      if (isUntold(thrown)) this.#areToldByChecksum = false;
      return null;
    }
  }
}

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
