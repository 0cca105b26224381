/** The client's address as the host's own function tells it, and the limit per address where no account can be asked about. */
import ipaddr from "ipaddr.js";
import { limitExceeded, writeRateLimit, type RateWindow } from "./rate-window.ts";

/** Requests per window and client. An unknown address (null) is not limited. */
export class ClientLimit {
  readonly #window: RateWindow;
  readonly #limit: number;

  constructor(window: RateWindow, limit: number) {
    this.#window = window;
    this.#limit = limit;
  }

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

/** The host's function did not tell an address; the message names the option and what it has to return. */
class NoClientAddress extends Error {
  override readonly name = "NoClientAddress";
}

/** The address, null when it is unknown. Throws `NoClientAddress` for what is neither, and for what the function throws. */
export function clientAddressBy(tell: (request: Request) => unknown, request: Request): string | null {
  const address = toldBy(tell, request);
  if (address === null || typeof address === "string") return address;
  const told = address === undefined ? "undefined" : `a value of type ${typeof address}`;
  throw new NoClientAddress(
    `createHttpHandler: the option clientAddress returned ${told}: return the client's IP address as a string, or null when it is unknown`,
  );
}

function toldBy(tell: (request: Request) => unknown, request: Request): unknown {
  try {
    return tell(request);
  } catch (cause) {
    throw new NoClientAddress(
      "createHttpHandler: the option clientAddress threw: return null when the client's IP address is unknown",
      { cause },
    );
  }
}
