/** Looks up the addresses of a receiver's name. */
import { Resolver } from "node:dns/promises";

/** Looks up all addresses of a name. Rejects when there are none; should stop when `signal` aborts. */
export type Lookup = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

/** First wait for a name server's answer, in milliseconds; with the second try it leaves time to connect. */
const NAME_SERVER_TIMEOUT_MS = 1_500;
const NAME_SERVER_TRIES = 2;

/**
 * Asks DNS itself rather than the operating system. `dns.lookup` blocks one of Node's four pool threads for as long as
 * a tenant's name server cares to wait, and cannot be cancelled: four tarpits would stop every other delivery. It also
 * reads the server's own hosts file and search domains, which are no business of a tenant's. `localhost` is answered
 * without asking (RFC 6761).
 *
 * @param servers - name servers as `ip` or `ip:port`; the system's when left out
 */
export function dnsLookup(servers?: readonly string[]): Lookup {
  return async (hostname, signal) => {
    if (hostname === "localhost") return ["127.0.0.1", "::1"];
    const resolver = new Resolver({ timeout: NAME_SERVER_TIMEOUT_MS, tries: NAME_SERVER_TRIES });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      // A failed lookup of one family must not lose the addresses of the second. IPv4 first: not every server reaches
      // IPv6.
      const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
      const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
      if (addresses.length === 0) throw new Error(`no address found for ${hostname}`);
      return addresses;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  };
}
