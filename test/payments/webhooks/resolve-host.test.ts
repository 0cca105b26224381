/** The look-up of names against a real name server on the loopback. */
// modules: webhooks
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { isIP } from "node:net";
import { expect, test as vitestTest } from "vitest";
import { dnsLookup } from "../../../src/payments/webhooks/sending/resolve-host.ts";

const TYPE_A = 1;
const NO_ERROR = 0;
const SERVER_FAILURE = 2;

/** What the name server knows: addresses in bytes by record type, a failure code, or silence. */
type Zone = (type: number) => { code: number; records: number[][] } | "silence";

/** A name server that answers what its zone says, and counts its questions. */
class NameServer {
  zone: Zone = () => "silence";
  questions = 0;
  readonly socket = createSocket("udp4").on("message", (query, from) => {
    this.questions += 1;
    const type = query.readUInt16BE(query.indexOf(0, 12) + 1);
    const reply = this.zone(type);
    if (reply === "silence") return;
    const end = query.indexOf(0, 12) + 5;
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180 | reply.code, 2);
    header.writeUInt16BE(reply.records.length, 6);
    header.writeUInt32BE(0, 8);
    const answers = reply.records.map((address) =>
      Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, address.length, ...address]),
    );
    this.socket.send(Buffer.concat([header, query.subarray(12, end), ...answers]), from.port, from.address);
  });
}

const test = vitestTest
  .extend("server", async ({}, { onCleanup }) => {
    const server = new NameServer();
    onCleanup(() => void server.socket.close());
    await once(server.socket.bind(0, "127.0.0.1"), "listening");
    return server;
  })
  .extend("lookup", ({ server }) => dnsLookup([`127.0.0.1:${server.socket.address().port}`]));

const IPV4 = [8, 8, 8, 8];
const IPV6 = [0x26, 0x06, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x11];
const never = new AbortController().signal;

test("all addresses of both families are found, IPv4 first", async ({ server, lookup }) => {
  server.zone = (type) => ({ code: NO_ERROR, records: type === TYPE_A ? [IPV4, [127, 0, 0, 1]] : [IPV6] });
  const found = await lookup("receiver.example", never);
  expect(found.map((address) => isIP(address))).toEqual([4, 4, 6]);
  expect(new Set(found)).toEqual(new Set(["8.8.8.8", "127.0.0.1", "2606:4700::1111"]));
});

test("one family that fails does not lose the other", async ({ server, lookup }) => {
  server.zone = (type) =>
    type === TYPE_A ? { code: NO_ERROR, records: [IPV4] } : { code: SERVER_FAILURE, records: [] };
  expect(await lookup("receiver.example", never)).toEqual(["8.8.8.8"]);
});

test("a name without any address rejects", async ({ server, lookup }) => {
  server.zone = () => ({ code: NO_ERROR, records: [] });
  await expect(lookup("receiver.example", never)).rejects.toThrow("no address found");
});

test("localhost is answered without asking anybody", async ({ server, lookup }) => {
  expect(await lookup("localhost", never)).toEqual(["127.0.0.1", "::1"]);
  expect(server.questions).toBe(0);
});

test("a name server that stays silent is left when the attempt is given up", async ({ server, lookup }) => {
  server.zone = () => "silence";
  const attempt = new AbortController();
  const found = lookup("receiver.example", attempt.signal);
  await once(server.socket, "message");
  attempt.abort();
  await expect(found).rejects.toThrow("no address found");
});
