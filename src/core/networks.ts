/** Networks of IP addresses in CIDR notation, and whether an address lies in one of them. */
import { BlockList, isIP } from "node:net";

/** An address, or all addresses that begin with the same bits. */
export interface NetworkAddress {
  readonly address: string;
  readonly family: "ipv4" | "ipv6";
  /** The number of leading bits that name the network. */
  readonly prefix: number;
}

/** An address, or a network in CIDR notation; null for anything else. */
export function readNetwork(text: string): NetworkAddress | null {
  const [address = "", prefixText, more] = text.split("/");
  const version = isIP(address);
  if (version === 0 || address.includes("%") || more !== undefined) return null;
  const bits = version === 4 ? 32 : 128;
  const prefix = prefixText === undefined ? bits : Number(/^\d{1,3}$/.exec(prefixText)?.[0] ?? Number.NaN);
  if (!(prefix >= 0 && prefix <= bits)) return null;
  return { address, family: version === 4 ? "ipv4" : "ipv6", prefix };
}

/** Tells of textual addresses whether one of the networks holds them. An IPv4 address that is mapped into IPv6 counts as itself. */
export function holderOf(networks: readonly NetworkAddress[]): (ip: string) => boolean {
  const held = new BlockList();
  for (const { address, prefix, family } of networks) held.addSubnet(address, prefix, family);
  return (ip) => {
    // The zone names an interface of this machine and is no part of the address.
    const [address = ""] = ip.split("%");
    const version = isIP(address);
    return version !== 0 && held.check(address, version === 4 ? "ipv4" : "ipv6");
  };
}
