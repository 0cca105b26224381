/** The host's own list of networks and names (with all names below them) that webhooks may not reach. */
import { BlockList, isIP } from "node:net";
import { domainToASCII } from "node:url";

/** Answers for one host's list. */
export interface DenyList {
  /** Takes a textual IPv4 or IPv6 address; an IPv4 address that is mapped into IPv6 counts as itself. */
  deniesAddress(ip: string): boolean;
  /** Takes the `hostname` of a parsed `URL`. */
  deniesHost(hostname: string): boolean;
}

/** A network of the list. */
export interface Network {
  readonly address: string;
  readonly family: "ipv4" | "ipv6";
  /** How many of the first bits are the network's. */
  readonly prefix: number;
}

/** An address, or a network in CIDR notation; null for anything else. */
export function readNetwork(text: string): Network | null {
  const [address = "", prefixText, more] = text.split("/");
  const version = isIP(address);
  if (version === 0 || address.includes("%") || more !== undefined) return null;
  const bits = version === 4 ? 32 : 128;
  const prefix = prefixText === undefined ? bits : Number(/^\d{1,3}$/.exec(prefixText)?.[0] ?? Number.NaN);
  if (!(prefix >= 0 && prefix <= bits)) return null;
  return { address, family: version === 4 ? "ipv4" : "ipv6", prefix };
}

/** A host's name as URLs have it, in lower case and ASCII; null for what is no name. */
export function readHostName(text: string): string | null {
  // What stands around a name in a URL would be dropped, and the rest taken for what was meant.
  const name = /[\s/?#@:\\]/.test(text) ? "" : domainToASCII(text);
  const isName = isIP(name) === 0 && /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/.test(name);
  return isName ? name : null;
}

/** Makes the list of what was read by {@link readNetwork} and {@link readHostName}. */
export function denyList(networks: readonly Network[], hosts: readonly string[]): DenyList {
  const blocked = new BlockList();
  for (const { address, prefix, family } of networks) blocked.addSubnet(address, prefix, family);
  return {
    deniesAddress(ip) {
      // The zone names an interface of this machine and is no part of the address.
      const [address = ""] = ip.split("%");
      const version = isIP(address);
      return version !== 0 && blocked.check(address, version === 4 ? "ipv4" : "ipv6");
    },
    deniesHost: (hostname) => hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`)),
  };
}
