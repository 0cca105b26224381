/** H10: what the host denies is never connected to, however it is named, and whatever else is opened. */
// modules: webhooks
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDeliveryClient } from "../../../src/payments/webhooks/sending/attempt.ts";
import {
  type AllowAddress,
  refusedAddress,
  denyList,
  readHostName,
  type DenyList,
  parseReceiverUrl,
} from "../../../src/payments/webhooks/sending/receiver-url.ts";
import { readNetwork } from "../../../src/core/networks.ts";
import { type HttpsReceiver, startHttpsReceiver } from "../../kit/https-receiver.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";

let receiver: HttpsReceiver;

beforeAll(async () => {
  receiver = await startHttpsReceiver();
});
afterAll(() => receiver.close());

const denying = (addresses: readonly string[], hosts: readonly string[] = []): DenyList =>
  denyList(
    addresses.map((text) => readNetwork(text) ?? expect.fail(`${text} was not read`)),
    hosts.map((text) => readHostName(text) ?? expect.fail(`${text} was not read`)),
  );
const anything: AllowAddress = () => true;

test.each([
  ["8.8.8.0/24", "8.8.8.8", "8.8.9.8"],
  ["8.8.8.8", "8.8.8.8", "8.8.8.9"],
  ["8.8.8.8/30", "8.8.8.11", "8.8.8.12"],
  ["2606:4700::/32", "2606:4700:0:1::1", "2606:4701::1"],
  ["2606:4700::1111", "2606:4700:0:0::1111", "2606:4700::1112"],
  ["0.0.0.0/0", "1.1.1.1", "2606:4700::1"],
])("%s denies %s and not %s", (network, inside, outside) => {
  const deny = denying([network]);
  expect(refusedAddress(inside, undefined, deny)).toBe(true);
  expect(refusedAddress(outside, undefined, deny)).toBe(false);
});

test("what is denied stays denied although the host opens addresses, mapped and scoped forms included", () => {
  const deny = denying(["10.0.0.0/8", "fe80::/10"]);
  for (const ip of ["10.1.2.3", "::ffff:10.1.2.3", "fe80::1", "fe80::1%eth0"]) {
    expect(refusedAddress(ip, anything), ip).toBe(false);
    expect(refusedAddress(ip, anything, deny), ip).toBe(true);
  }
  expect(refusedAddress("192.168.0.1", anything, deny)).toBe(false);
});

test("a denied name is refused in any case, with every name below it, and no other", () => {
  const deny = denying(["8.8.8.0/24"], ["Example.COM", "b\u00fccher.example"]);
  const read = (url: string): object => parseReceiverUrl(url, { deny });
  for (const host of [
    "example.com",
    "EXAMPLE.com",
    "a.b.example.com",
    "b\u00fccher.example",
    "xn--bcher-kva.example",
  ]) {
    expect(read(`https://${host}/`), host).toEqual({ refused: "bad_host" });
  }
  for (const host of ["example.org", "notexample.com", "example.com.evil.org"]) {
    expect(read(`https://${host}/`), host).toHaveProperty("ok");
  }
  expect(read("https://8.8.8.8/")).toEqual({ refused: "private_address" });
  expect(read("https://134744072/")).toEqual({ refused: "private_address" });
});

test.each([
  ["the name itself", denying([], ["receiver.test"])],
  ["an address it resolves to", denying(["127.0.0.0/8"])],
  ["an address beside one that is open", denying(["8.8.8.8"])],
])("H10: no connection is opened when the list denies %s", async (_, deny) => {
  const delivery = createDeliveryClient({
    clock: virtualClock(),
    ca: receiver.ca,
    allowAddress: anything,
    deny,
    lookup: () => Promise.resolve(["127.0.0.1", "8.8.8.8"]),
  });
  const url = `https://receiver.test:${receiver.port}/`;
  expect(await delivery.attempt({ url, body: "{}", headers: {} })).toMatchObject({
    error: "blocked_address",
  });
  expect(await delivery.reach(url)).toBe(false);
  expect(receiver.connections()).toBe(0);
});

test.each([
  "",
  "10.0.0.0/33",
  "10.0.0/8",
  "10.0.0.0/",
  "10.0.0.0/8/8",
  "::/129",
  "fe80::1%eth0",
  "0x7f.1",
  "example.com",
])("%j is no network", (text) => expect(readNetwork(text)).toBeNull());
test.each([
  "",
  "https://example.com",
  "example.com/",
  "example.com.",
  "*.example.com",
  "10.0.0.1",
  "[::1]",
  "a b",
  "a:443",
])("%j is no name", (text) => expect(readHostName(text)).toBeNull());
