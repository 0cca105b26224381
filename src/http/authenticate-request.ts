/** Who asks: a key of ours or the host's own way, and a limit on how often one address may fail at it. */
import ipaddr from "ipaddr.js";
import { isPaymentError, PaymentError } from "../errors.ts";
import type { Caller } from "../payments/caller.ts";
import { limitExceeded } from "./admit-caller.ts";
import { writeRateLimit } from "./rate-limit-headers.ts";
import type { RateWindow } from "./rate-window.ts";

/** Finds the caller of a request; null when there is none. */
export type Authenticate = (request: Request) => Promise<Caller | null>;

/**
 * The caller, or `INVALID_API_KEY`, or `RATE_LIMIT_EXCEEDED` once `address` has failed `limit` times within a minute.
 * Only failures are limited: behind a proxy or a NAT many clients share an address, and a good key is never refused
 * for what its neighbours did. An unknown address (null) is not limited.
 * A failure's standing is written to `headers`.
 */
export async function authenticateRequest(
  request: Request,
  address: string | null,
  headers: Headers,
  {
    authenticate,
    failures,
    limit,
  }: { readonly authenticate: Authenticate; readonly failures: RateWindow; readonly limit: number },
): Promise<Caller> {
  const caller = await authenticate(request).catch((thrown: unknown) => {
    if (isPaymentError(thrown, "INVALID_API_KEY")) return null;
    throw thrown;
  });
  if (caller !== null) return caller;
  if (address !== null) {
    const hit = failures.hit(network(address), limit);
    writeRateLimit(headers, hit.standing);
    if (!hit.accepted) throw limitExceeded(hit, "none");
  }
  throw new PaymentError("INVALID_API_KEY", {});
}

/** What one client can easily call its own: an IPv4 address, or the 64-bit network of an IPv6 address. */
function network(address: string): string {
  if (!ipaddr.isValid(address)) return address.slice(0, 64);
  const ip = ipaddr.process(address);
  return ip.kind() === "ipv4" ? ip.toString() : ip.toByteArray().slice(0, 8).join(".");
}
