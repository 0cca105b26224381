/** The host's own list of networks and names (with all names below them) that webhooks may not reach. */
import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import { holderOf, type NetworkAddress } from "../../../networks.ts";

/** Answers for one host's list. */
export interface DenyList {
  /** Takes a textual IPv4 or IPv6 address; an IPv4 address that is mapped into IPv6 counts as itself. */
  deniesAddress(ip: string): boolean;
  /** Takes the `hostname` of a parsed `URL`. */
  deniesHost(hostname: string): boolean;
}

/** A host's name as URLs have it, in lower case and ASCII; null for what is no name. */
export function readHostName(text: string): string | null {
  // What stands around a name in a URL would be dropped, and the rest taken for what was meant.
  const name = /[\s/?#@:\\]/.test(text) ? "" : domainToASCII(text);
  const isName = isIP(name) === 0 && /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/.test(name);
  return isName ? name : null;
}

/** Makes the list of what was read by `readNetwork` and `readHostName`. */
export function denyList(networks: readonly NetworkAddress[], hosts: readonly string[]): DenyList {
  return {
    deniesAddress: holderOf(networks),
    deniesHost: (hostname) => hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`)),
  };
}
