/** Judges URLs, names and IP addresses: a tenant's webhook must never make this server talk to its own network. */
import { parseUrl } from "../../../core/parse-url.ts";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { domainToASCII } from "node:url";
import { holderOf, type NetworkAddress } from "../../../core/networks.ts";

type ReceiverUrlFault =
  "unparseable" | "not_https" | "credentials" | "private_address" | "too_long" | "bad_host" | "bad_port";

/** Longest URL taken: what proxies and databases are known to carry without trouble. */
export const MAX_RECEIVER_URL_LENGTH = 2_048;

/** Below this, ports belong to other protocols (RFC 6335, system ports); a TLS greeting has no business there. */
const FIRST_UNPRIVILEGED_PORT = 1_024;

/** Names that can only mean the server's own network (RFC 6761, RFC 6762, RFC 8375, ICANN's `internal`). */
const OWN_NETWORK = /(?:^|\.)(?:localhost|local|internal|home\.arpa|onion)$/;

const DNS_LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** The longest name that DNS can carry (RFC 1035), written without its final dot. */
const MAX_NAME_LENGTH = 253;

/**
 * URL parsers silently drop or trim these characters; a URL that contains such a character was not meant as it reads.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const SPACE_OR_CONTROL = /[\u0000-\u0020\u007f]/;

/**
 * Parses the URL of a receiver. Judges addresses only where the URL literally is one (`private_address`); what a name
 * resolves to is judged at every connection.
 *
 * A host must be a public-looking DNS name: at least two labels, none of the names reserved for local networks, no
 * final dot. The port is 443 or at least 1024. When the host application opened addresses with `allow` (development),
 * `localhost` and single labels are taken too. The host's own denials are refused like the guard's. With `allowLoopbackHttp`,
 * `http:` is taken for a literal loopback address and nothing else.
 */
export function parseReceiverUrl(
  text: string,
  rules: ReceiverRules = {},
): { readonly ok: URL } | { readonly refused: ReceiverUrlFault } {
  const { allowAddress: allow, deny } = rules;
  if (text.length > MAX_RECEIVER_URL_LENGTH) return { refused: "too_long" };
  const url = SPACE_OR_CONTROL.test(text) ? null : parseUrl(text);
  if (url === null) return { refused: "unparseable" };
  // Punycode and percent-encoding lengthen a URL, and the normalised form is what is stored and requested.
  if (url.href.length > MAX_RECEIVER_URL_LENGTH) return { refused: "too_long" };
  const isPlain = url.protocol === "http:" && rules.allowLoopbackHttp === true && isLoopbackUrl(url);
  if (url.protocol !== "https:" && !isPlain) return { refused: "not_https" };
  if (url.username !== "" || url.password !== "") return { refused: "credentials" };
  const address = literalAddress(url.hostname);
  if (address !== null && refusedAddress(address, isPlain ? isLoopbackAddress : allow, deny)) {
    return { refused: "private_address" };
  }
  if (deny?.deniesHost(url.hostname) === true) return { refused: "bad_host" };
  if (address === null && !plausibleName(url.hostname, allow !== undefined)) return { refused: "bad_host" };
  // The empty string is the scheme's own port, 443 or 80.
  const isUnprivileged = url.port === "" ? !isPlain : Number(url.port) >= FIRST_UNPRIVILEGED_PORT;
  if (!isUnprivileged) return { refused: "bad_port" };
  return { ok: url };
}

function plausibleName(name: string, development: boolean): boolean {
  const labels = name.split(".");
  if (name.length > MAX_NAME_LENGTH || !labels.every((label) => DNS_LABEL.test(label))) return false;
  return development || (labels.length > 1 && !OWN_NETWORK.test(name));
}

/** The host's own rules for receivers. */
export interface ReceiverRules {
  readonly allowAddress?: AllowAddress | undefined;
  readonly deny?: DenyList | undefined;
  /** Takes `http://127.0.0.1:PORT` and `http://[::1]:PORT`. For development only. */
  readonly allowLoopbackHttp?: boolean | undefined;
}

/** A name such as `localhost` is none: its address is the machine's to choose. */
const isLoopbackUrl = ({ hostname }: URL): boolean => isLoopbackAddress(literalAddress(hostname) ?? "");

/** Whether an address is this machine's own, in its usual notation. */
export const isLoopbackAddress: AllowAddress = (ip) => ip === "127.0.0.1" || ip === "::1";

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
  // Text around a name in a URL would be dropped, and the rest taken for the meaning.
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
