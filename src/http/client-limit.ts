/** A limit per client address, for requests that no account can be asked about. */
import ipaddr from "ipaddr.js";
import { limitExceeded, writeRateLimit } from "./rate-limit.ts";
import type { RateWindow } from "./rate-window.ts";

/** Requests per window and client. An unknown address (null) is not limited. */
export class ClientLimit {
  readonly #window: RateWindow;
  readonly #limit: number;

  constructor(window: RateWindow, limit: number) {
    this.#window = window;
    this.#limit = limit;
  }

  /** Whether the next request of this client is refused. */
  isFull(address: string | null): boolean {
    // Reading the address costs more than all else here, and mostly no client has failed.
    if (address === null || this.#window.isEmpty) return false;
    return this.#window.standing(network(address), this.#limit).remaining === 0;
  }

  /** Counts a request and writes how its client stands. Throws `RATE_LIMIT_EXCEEDED`. */
  count(address: string | null, headers: Headers): void {
    if (address === null) return;
    const { accepted, standing } = this.#window.hit(network(address), this.#limit);
    writeRateLimit(headers, standing);
    if (!accepted) throw limitExceeded(standing, "none");
  }
}

/** The addresses that one client can easily obtain: an IPv4 address, or the 64-bit network of an IPv6 address. */
function network(address: string): string {
  if (!ipaddr.isValid(address)) return address.slice(0, 64);
  const ip = ipaddr.process(address);
  return ip.kind() === "ipv4" ? ip.toString() : ip.toByteArray().slice(0, 8).join(".");
}
