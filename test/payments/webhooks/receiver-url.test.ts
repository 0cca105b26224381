/** Which URLs a webhook may have. */
// modules: webhooks
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  MAX_RECEIVER_URL_LENGTH,
  parseReceiverUrl,
} from "../../../src/payments/webhooks/sending/receiver-url.ts";
import { anyCharacter } from "../../kit/any-character.ts";

const verdict = (text: string, allow?: (ip: string) => boolean): string => {
  const parsed = parseReceiverUrl(text, { allowAddress: allow });
  return "ok" in parsed ? parsed.ok.href : parsed.refused;
};

test.each([
  ["https://hooks.example.com/a?b=c", "https://hooks.example.com/a?b=c"],
  ["HTTPS://Hooks.Example.COM", "https://hooks.example.com/"],
  ["https://hooks.example.com:443/", "https://hooks.example.com/"],
  ["https://hooks.example.com:8443/", "https://hooks.example.com:8443/"],
  ["https://bücher.example/", "https://xn--bcher-kva.example/"],
  ["https://8.8.8.8/", "https://8.8.8.8/"],
  ["https://[2606:4700::1]/", "https://[2606:4700::1]/"],
])("%s is taken", (text, href) => expect(verdict(text)).toBe(href));

test.each([
  ["", "unparseable"],
  ["hooks.example.com", "unparseable"],
  ["https://", "unparseable"],
  ["https://exa mple.com", "unparseable"],
  ["https://hooks.exa\nmple.com/", "unparseable"],
  [" https://hooks.example.com/", "unparseable"],
  ["https://1.2.3.256/", "unparseable"],
  ["https://hooks.example.com:65536/", "unparseable"],
  ["http://hooks.example.com/", "not_https"],
  ["ftp://hooks.example.com/", "not_https"],
  ["javascript:alert(1)", "not_https"],
  ["https://user@hooks.example.com/", "credentials"],
  ["https://user:password@hooks.example.com/", "credentials"],
  ["https://localhost/", "bad_host"],
  ["https://api.localhost/", "bad_host"],
  ["https://intranet/", "bad_host"],
  ["https://printer.local/", "bad_host"],
  ["https://metadata.google.internal/", "bad_host"],
  ["https://router.home.arpa/", "bad_host"],
  ["https://hooks.example.com./", "bad_host"],
  ["https://hooks..example.com/", "bad_host"],
  ["https://*.example.com/", "bad_host"],
  [`https://${"a".repeat(64)}.example/`, "bad_host"],
  [`https://${"a.".repeat(130)}example/`, "bad_host"],
  ["https://hooks.example.com:0/", "bad_port"],
  ["https://hooks.example.com:22/", "bad_port"],
  ["https://hooks.example.com:80/", "bad_port"],
])("%j is refused as %s", (text, reason) => expect(verdict(text)).toBe(reason));

test.each([
  "https://127.0.0.1/",
  "https://2130706433/",
  "https://0x7f000001/",
  "https://0177.0.0.1/",
  "https://127.1/",
  "https://0x7f.1/",
  "https://１２７.０.０.１/",
  "https://0/",
  "https://169.254.169.254/latest/meta-data",
  "https://2852039166/",
  "https://10.0.0.1:8443/",
  "https://[::]/",
  "https://[::1]/",
  "https://[::ffff:127.0.0.1]/",
  "https://[::ffff:8.8.8.8]/",
  "https://[64:ff9b::7f00:1]/",
  "https://[2002:7f00:1::]/",
  "https://[fe80::1]/",
  "https://[fd00:ec2::254]/",
])("H10: %s is refused as private_address", (text) => expect(verdict(text)).toBe("private_address"));

test("a URL of 2,048 characters is taken and one of 2,049 is not", () => {
  const start = "https://hooks.example.com/";
  const ofLength = (length: number): string => start + "a".repeat(length - start.length);
  expect(verdict(ofLength(MAX_RECEIVER_URL_LENGTH))).toBe(ofLength(MAX_RECEIVER_URL_LENGTH));
  expect(verdict(ofLength(MAX_RECEIVER_URL_LENGTH + 1))).toBe("too_long");
});

test("a URL that grows past the limit when it is normalised is too long", () => {
  expect(verdict(`https://hooks.example.com/${"ł".repeat(1_000)}`)).toBe("too_long");
});

test("the host's own option opens loopback literals and local names for development", () => {
  const allow = (ip: string): boolean => ip === "127.0.0.1";
  expect(verdict("https://127.0.0.1:8443/", allow)).toBe("https://127.0.0.1:8443/");
  expect(verdict("https://localhost:8443/", allow)).toBe("https://localhost:8443/");
  expect(verdict("https://127.0.0.2:8443/", allow)).toBe("private_address");
});

test("a host name with letters beyond ASCII is taken also after thousands of calls", () => {
  for (let call = 0; call < 20_000; call += 1) verdict(`https://a${call}.example/`);
  expect(verdict("https://bücher.example/")).toBe("https://xn--bcher-kva.example/");
});

test("any text gets a verdict, and what is taken is taken again in its normal form", () => {
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.webUrl(),
    fc.string().map((part) => `https://${part}`),
  );
  fc.assert(
    fc.property(text, (given) => {
      const parsed = parseReceiverUrl(given);
      return "refused" in parsed || verdict(parsed.ok.href) === parsed.ok.href;
    }),
  );
});

test.each([
  ["http://127.0.0.1:3000/hook", "http://127.0.0.1:3000/hook"],
  ["http://[::1]:3000/", "http://[::1]:3000/"],
  ["http://2130706433:3000/", "http://127.0.0.1:3000/"],
])("H32: with allowLoopbackHttp %s is taken", (text, href) => {
  const parsed = parseReceiverUrl(text, { allowLoopbackHttp: true });
  expect("ok" in parsed && parsed.ok.href).toBe(href);
});

test.each([
  ["http://localhost:3000/", "not_https"],
  ["http://127.0.0.2:3000/", "not_https"],
  ["http://[::ffff:127.0.0.1]:3000/", "not_https"],
  ["http://10.0.0.1:3000/", "not_https"],
  ["http://hooks.example.com:3000/", "not_https"],
  ["http://127.0.0.1/", "bad_port"],
  ["http://127.0.0.1:22/", "bad_port"],
  ["http://user@127.0.0.1:3000/", "credentials"],
  ["https://127.0.0.1:3000/", "private_address"],
])("H32: with allowLoopbackHttp %s is refused as %s", (text, reason) => {
  expect(parseReceiverUrl(text, { allowLoopbackHttp: true })).toEqual({ refused: reason });
});

test("H32: a denied loopback address stays denied", () => {
  const deny = { deniesAddress: (ip: string) => ip === "127.0.0.1", deniesHost: () => false };
  const parsed = parseReceiverUrl("http://127.0.0.1:3000/", { allowLoopbackHttp: true, deny });
  expect(parsed).toEqual({ refused: "private_address" });
});
