/** Who asks: a key of ours or the host's own way, and a limit on how often one address may fail at it. */
import ipaddr from "ipaddr.js";
import { isPaymentError, PaymentError } from "../errors.ts";
import type { Caller } from "../payments/accounts/caller.ts";
import { limitExceeded } from "./admit-caller.ts";
import type { KnownCredentials } from "./known-credentials.ts";
import { writeRateLimit } from "./rate-limit-headers.ts";
import type { RateWindow } from "./rate-window.ts";

/** Finds the caller of a request; null when there is none. */
export type Authenticate = (request: Request) => Promise<Caller | null>;

/** How callers are found, and how failures at it are limited. */
export interface Authentication {
  readonly authenticate: Authenticate;
  readonly failures: RateWindow;
  readonly limit: number;
  /** What was good a while ago; null where the host authenticates by means of its own. */
  readonly known: KnownCredentials | null;
}

/**
 * The caller, or `INVALID_API_KEY`, or `RATE_LIMIT_EXCEEDED` once `address` has failed `limit` times within a minute: from
 * then on only keys that were good before are looked up, so that made-up ones cost nothing. Behind a proxy or a NAT many
 * clients share an address, and a key in use is never refused for what its neighbours did. An unknown address (null) is
 * not limited. A failure's standing is written to `headers`.
 */
export async function authenticateRequest(
  request: Request,
  address: string | null,
  headers: Headers,
  { authenticate, failures, limit, known }: Authentication,
): Promise<Caller> {
  const client = address === null ? null : network(address);
  const fail = (): never => {
    if (client !== null) {
      const hit = failures.hit(client, limit);
      writeRateLimit(headers, hit.standing);
      if (!hit.accepted) throw limitExceeded(hit.standing, "none");
    }
    throw new PaymentError("INVALID_API_KEY", {});
  };
  const isFull = client !== null && failures.standing(client, limit).remaining === 0;
  if (isFull && known !== null && !known.has(request)) return fail();
  const caller = await authenticate(request).catch((thrown: unknown) => {
    if (isPaymentError(thrown, "INVALID_API_KEY")) return null;
    throw thrown;
  });
  if (caller === null) return fail();
  known?.remember(request);
  return caller;
}

/** What one client can easily call its own: an IPv4 address, or the 64-bit network of an IPv6 address. */
function network(address: string): string {
  if (!ipaddr.isValid(address)) return address.slice(0, 64);
  const ip = ipaddr.process(address);
  return ip.kind() === "ipv4" ? ip.toString() : ip.toByteArray().slice(0, 8).join(".");
}
