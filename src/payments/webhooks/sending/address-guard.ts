/** Judges names and IP addresses: a tenant's webhook must never make this server talk to its own network. */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { domainToASCII } from "node:url";
import { holderOf, type NetworkAddress } from "../../../networks.ts";

/** The host's own exception to the guard, for development: true opens an address that would be refused. */
export type AllowAddress = (ip: string) => boolean;

/** Azure's platform endpoint answers virtual machines on this public address; no range of a registry names it. */
const METADATA_ON_PUBLIC_ADDRESSES: ReadonlySet<string> = new Set(["168.63.129.16"]);

/** All of IPv6 that is handed out for use on the Internet (RFC 4291); what lies outside reaches no public receiver. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** Interface ids of ISATAP (RFC 5214) end in an IPv4 address; so do mapped, NAT64, 6to4 and Teredo, refused by range. */
const ISATAP_MARK = 0x5efe;

/**
 * Whether deliveries may not go to `ip`, a textual IPv4 or IPv6 address without brackets.
 *
 * Only plain public unicast passes. Refused are private, loopback, link-local, CGNAT, metadata, unspecified, broadcast,
 * multicast, reserved, documentation and benchmark networks, every IPv6 outside 2000::/3, every form that carries an
 * IPv4 address inside (also a public one: no receiver needs it and the inner address escapes the eye), scoped
 * addresses, and text that is no address in its usual notation. `allow` is asked only about what would be refused, and
 * never about what the host's own list denies.
 */
export function refusedAddress(ip: string, allow?: AllowAddress, deny?: DenyList): boolean {
  return deny?.deniesAddress(ip) === true || (!isPublic(ip) && allow?.(ip) !== true);
}

/**
 * The address that a URL's host literally is, without brackets, or null when the host is a name. Takes the `hostname`
 * of a parsed `URL`, which has already turned decimal, octal and hexadecimal notations into the usual one.
 */
export function literalAddress(hostname: string): string | null {
  const bare = hostname.startsWith("[") && hostname.endsWith("]") ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? null : bare;
}

function isPublic(ip: string): boolean {
  // isIP first: ipaddr.js also reads "127.1", "0x7f000001" and the like, which are refused here.
  switch (isIP(ip)) {
    case 4:
      return ipaddr.IPv4.parse(ip).range() === "unicast" && !METADATA_ON_PUBLIC_ADDRESSES.has(ip);
    case 6:
      return !ip.includes("%") && isPublicIPv6(ipaddr.IPv6.parse(ip));
    default:
      return false;
  }
}

function isPublicIPv6(address: ipaddr.IPv6): boolean {
  return address.match(GLOBAL_UNICAST) && address.range() === "unicast" && address.parts[5] !== ISATAP_MARK;
}

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
