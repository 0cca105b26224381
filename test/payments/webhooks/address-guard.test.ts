/** The address guard against an oracle written from IANA's registries, with its own parser and arithmetic. */
// modules: webhooks
import { isIPv4 } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { literalAddress, refusedAddress } from "../../../src/payments/webhooks/sending/receiver-url.ts";
import { runsOf } from "../../kit/thorough.ts";

// IANA IPv4 Special-Purpose Address Registry, multicast, and Azure's platform address.
const REFUSED_IPV4 = [
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24",
  "192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15",
  "198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 255.255.255.255/32 168.63.129.16/32",
]
  .join(" ")
  .split(" ");

// IANA IPv6 Special-Purpose Address Registry, the part inside 2000::/3.
const REFUSED_IPV6 = ["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"];
const PUBLIC_IPV6 = "2000::/3";

function toNumber(ip: string): bigint {
  if (isIPv4(ip)) return ip.split(".").reduce((sum, octet) => sum * 256n + BigInt(octet), 0n);
  const [head = "", tail] = ip.split("::");
  const groups = (part: string | undefined): string[] =>
    part === undefined || part === "" ? [] : part.split(":");
  const left = groups(head);
  const right = groups(tail);
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => "0");
  return [...left, ...zeros, ...right].reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}

function toText(value: bigint, bits: 32 | 128): string {
  const [step, count, radix] = bits === 32 ? ([8n, 4, 10] as const) : ([16n, 8, 16] as const);
  const groups = Array.from({ length: count }, (_, index) =>
    ((value >> (step * BigInt(count - 1 - index))) & ((1n << step) - 1n)).toString(radix),
  );
  return groups.join(bits === 32 ? "." : ":");
}

function inside(value: bigint, cidr: string): boolean {
  const [base = "", length = ""] = cidr.split("/");
  const host = BigInt((isIPv4(base) ? 32 : 128) - Number(length));
  return value >> host === toNumber(base) >> host;
}

const oracleIPv4 = (value: bigint): boolean => REFUSED_IPV4.some((cidr) => inside(value, cidr));
const oracleIPv6 = (value: bigint): boolean =>
  !inside(value, PUBLIC_IPV6) ||
  REFUSED_IPV6.some((cidr) => inside(value, cidr)) ||
  ((value >> 32n) & 0xffffn) === 0x5efen;

/** Addresses in the block, at its borders and one step outside. */
const near = (cidr: string, bits: 32 | 128): fc.Arbitrary<bigint> => {
  const [base = "", length = ""] = cidr.split("/");
  const first = toNumber(base);
  const last = first + (1n << BigInt(bits - Number(length))) - 1n;
  const limit = (1n << BigInt(bits)) - 1n;
  const step = (value: bigint): bigint => (value < 0n ? 0n : value > limit ? limit : value);
  return fc.oneof(
    fc.constantFrom(first, last, step(first - 1n), step(last + 1n)),
    fc.bigInt({ min: first, max: last }),
  );
};

const any = (bits: 32 | 128): fc.Arbitrary<bigint> => fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n });
const ipv4 = fc.oneof(any(32), ...REFUSED_IPV4.map((cidr) => near(cidr, 32)));
const ipv6 = fc.oneof(any(128), ...[...REFUSED_IPV6, PUBLIC_IPV6].map((cidr) => near(cidr, 128)));

test("H10: the guard agrees with IANA's IPv4 registry on random addresses and all borders", () => {
  fc.assert(
    fc.property(ipv4, (value) => refusedAddress(toText(value, 32)) === oracleIPv4(value)),
    { numRuns: runsOf(5_000) },
  );
});

test("H10: the guard agrees with IANA's IPv6 registry on random addresses and all borders", () => {
  fc.assert(
    fc.property(ipv6, (value) => refusedAddress(toText(value, 128)) === oracleIPv6(value)),
    { numRuns: runsOf(5_000) },
  );
});

test("H10: an IPv4 address of any kind inside an IPv6 address is refused", () => {
  const hex = (value: bigint): string => toText(value, 128).split(":").slice(6).join(":");
  fc.assert(
    fc.property(any(32), (value) => {
      const inner = hex(value);
      const embedded = [
        `::ffff:${toText(value, 32)}`,
        `::ffff:${inner}`,
        `::${inner}`,
        `64:ff9b::${inner}`,
        `64:ff9b:1::${inner}`,
        `2002:${inner}::1`,
        `2001:0:${inner}::1`,
        `2606:4700::5efe:${inner}`,
        `2606:4700::200:5efe:${inner}`,
      ];
      expect(embedded.filter((ip) => !refusedAddress(ip))).toEqual([]);
    }),
  );
});

test.each(["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700:4700::1111", "2a00:1450:4001::8a"])(
  "%s is public and passes",
  (ip) => expect(refusedAddress(ip)).toBe(false),
);

test.each([
  "169.254.169.254",
  "100.100.100.200",
  "192.0.0.192",
  "168.63.129.16",
  "fd00:ec2::254",
  "fd20:ce::254",
])("H10: the metadata service at %s is refused", (ip) => expect(refusedAddress(ip)).toBe(true));

test.each([
  "",
  "localhost",
  "8.8",
  "0x08080808",
  "134744072",
  "010.8.8.8",
  "8.8.8.8 ",
  "[2606:4700::1]",
  "2606:4700::1%eth0",
])("%j is no address in its usual notation and is refused", (text) =>
  expect(refusedAddress(text)).toBe(true),
);

test("the host's own option opens only what it names", () => {
  const allow = (ip: string): boolean => ip === "127.0.0.1";
  expect(refusedAddress("127.0.0.1", allow)).toBe(false);
  expect(refusedAddress("127.0.0.2", allow)).toBe(true);
  expect(refusedAddress("8.8.8.8", () => false)).toBe(false);
});

test("a URL's host is an address or a name", () => {
  expect(literalAddress("127.0.0.1")).toBe("127.0.0.1");
  expect(literalAddress("[::1]")).toBe("::1");
  expect(literalAddress("receiver.example")).toBeNull();
});
