/** Reads the URL of a webhook, or names what is wrong with it, before any name is looked up. */
import { parseUrl } from "../../../parse-url.ts";
import { type AllowAddress, literalAddress, refusedAddress, type DenyList } from "./address-guard.ts";

/** The reasons of INVALID_URL. */
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
 * `localhost` and single labels are taken too. What the host denies is refused like what the guard refuses.
 */
export function parseReceiverUrl(
  text: string,
  allow?: AllowAddress,
  deny?: DenyList,
): { readonly ok: URL } | { readonly refused: ReceiverUrlFault } {
  if (text.length > MAX_RECEIVER_URL_LENGTH) return { refused: "too_long" };
  const url = SPACE_OR_CONTROL.test(text) ? null : parseUrl(text);
  if (url === null) return { refused: "unparseable" };
  // Punycode and percent-encoding lengthen a URL, and the normalised form is what is stored and requested.
  if (url.href.length > MAX_RECEIVER_URL_LENGTH) return { refused: "too_long" };
  if (url.protocol !== "https:") return { refused: "not_https" };
  if (url.username !== "" || url.password !== "") return { refused: "credentials" };
  const address = literalAddress(url.hostname);
  if (address !== null && refusedAddress(address, allow, deny)) return { refused: "private_address" };
  if (deny?.deniesHost(url.hostname) === true) return { refused: "bad_host" };
  if (address === null && !plausibleName(url.hostname, allow !== undefined)) return { refused: "bad_host" };
  // The empty string is the scheme's own port, 443.
  if (url.port !== "" && Number(url.port) < FIRST_UNPRIVILEGED_PORT) return { refused: "bad_port" };
  return { ok: url };
}

function plausibleName(name: string, development: boolean): boolean {
  const labels = name.split(".");
  if (name.length > MAX_NAME_LENGTH || !labels.every((label) => DNS_LABEL.test(label))) return false;
  return development || (labels.length > 1 && !OWN_NETWORK.test(name));
}
