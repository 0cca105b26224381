/** What a broken network does below HTTP: the ledger's own sockets against servers that misbehave byte by byte. */
import { fatesOf } from "../kit/fates.ts";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import type { Address } from "../../src/core/address.ts";
import type { LedgerUnavailable } from "../../src/ledger/ledger.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { signPayment } from "../kit/chain-fixture.ts";
import { chainTest } from "../kit/chain-test.ts";
import { virtualClock, type VirtualClock } from "../kit/virtual-clock.ts";
import { elapsed, turns } from "./scripted-node.ts";
import { receiptsOf } from "../kit/receipts.ts";

const OWNER = "Vote111111111111111111111111111111111111111" as Address;
const DEADLINE_MS = 8_000;
// To the third call.
const ANSWER = '{"jsonrpc":"2.0","id":"3","result":{"context":{"slot":7},"value":[null]}}';
const head = (length: string, extra = ""): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${extra}${length}\r\n\r\n`;
const ofLength = (length: number): string => `content-length: ${length}`;

interface Wire {
  readonly url: string;
  /** Connections that brought a request. */
  readonly requests: number;
  /** Resolves when the n-th request has come. */
  request(n: number): Promise<void>;
}

/** `wire` makes a server that does to each request what it is told; `n` counts from 1. */
const test = chainTest.extend("wire", ({}, { onCleanup }) => {
  const open: { server: Server; sockets: Set<Socket> }[] = [];
  onCleanup(() => {
    for (const { server, sockets } of open) {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  });
  return async (misbehave: (socket: Socket, n: number) => void): Promise<Wire> => {
    let requests = 0;
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("data", (bytes) => {
        if (!bytes.includes("POST ")) return;
        requests += 1;
        misbehave(socket, requests);
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    open.push({ server, sockets });
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/?api-key=k3y`,
      get requests() {
        return requests;
      },
      request: async (n) => {
        while (requests < n) await turns(1);
      },
    };
  };
});

/** The trouble of a ledger with this endpoint alone. `drive` turns the clock it waits by. */
async function trouble(
  url: string,
  drive: (clock: VirtualClock, asked: Promise<unknown>) => Promise<unknown> = async () => undefined,
): Promise<object> {
  const clock = virtualClock();
  const ledger = solanaLedger({ endpoints: [url], clock });
  const asked = ledger.mints([OWNER]).then(
    () => ({ kind: "none" }),
    (error: unknown) => (error as LedgerUnavailable).troubles[0] ?? {},
  );
  await drive(clock, asked);
  const found = await asked;
  await ledger.close();
  return found;
}

/** Lets the pauses between tries pass, slowly enough for real sockets. */
const slowly = (clock: VirtualClock, asked: Promise<unknown>): Promise<number> => elapsed(clock, asked, 1);

test("a socket that is accepted and never answered is given up after the deadline, and asked once", async ({
  wire,
}) => {
  const server = await wire(() => undefined);
  const found = await trouble(server.url, async (clock) => {
    await server.request(1);
    clock.advance(DEADLINE_MS - 1);
    await turns();
    clock.advance(1);
  });
  expect(found).toMatchObject({ kind: "timeout" });
  expect(server.requests).toBe(1);
});

test("an answer that drips byte by byte is given up at the deadline, however alive it looks", async ({
  wire,
}) => {
  const server = await wire((socket) => {
    socket.write(head(ofLength(1_000_000)));
    const drip = (): void => {
      if (!socket.destroyed) socket.write(" ", () => setImmediate(drip));
    };
    drip();
  });
  const found = await trouble(server.url, async (clock) => {
    await server.request(1);
    for (let second = 0; second < DEADLINE_MS / 1_000; second += 1) {
      await turns();
      clock.advance(1_000);
    }
  });
  expect(found).toMatchObject({ kind: "timeout" });
});

test("a connection that ends within the answer is tried again, and half an answer is never believed", async ({
  wire,
}) => {
  const server = await wire((socket, n) => {
    if (n === 3) socket.end(head(ofLength(ANSWER.length)) + ANSWER);
    else socket.end(head(ofLength(ANSWER.length)) + ANSWER.slice(0, -1));
  });
  expect(await trouble(server.url, slowly)).toEqual({ kind: "none" });
  expect(server.requests).toBe(3);
});

test("a connection that is always cut, or speaks no HTTP, is unreachable", async ({ wire }) => {
  for (const misbehave of [
    (socket: Socket) => socket.destroy(),
    (socket: Socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"),
    (socket: Socket) => socket.end(`${head("transfer-encoding: chunked")}5\r\n{"jso`),
  ]) {
    const server = await wire(misbehave);
    expect(await trouble(server.url, slowly)).toMatchObject({ kind: "unreachable" });
    expect(server.requests).toBe(3);
  }
});

test("an endless answer is cut off at its bound, before its deadline and before it fills the memory", async ({
  wire,
}) => {
  let sent = 0;
  const megabyte = Buffer.alloc(1024 * 1024, " ");
  const server = await wire((socket) => {
    socket.write(head(ofLength(1_000_000_000)));
    const pour = (): void => {
      if (socket.destroyed) return;
      sent += megabyte.length;
      socket.write(megabyte, pour);
    };
    pour();
  });
  // Nobody turns the clock: what ends it is the size.
  const found = await trouble(server.url);
  expect(found).toMatchObject({ kind: "garbled", message: "an answer that is too large" });
  expect(sent).toBeLessThan(64 * 1024 * 1024);
});

test("a small answer that unpacks to a huge one is cut off at the same size", async ({ wire }) => {
  const bomb = gzipSync(Buffer.alloc(256 * 1024 * 1024, " "));
  expect(bomb.length).toBeLessThan(1024 * 1024);
  const server = await wire((socket) => {
    socket.write(head(ofLength(bomb.length), "content-encoding: gzip\r\n"));
    socket.write(bomb);
  });
  const found = await trouble(server.url);
  expect(found).toMatchObject({ kind: "garbled", message: "an answer that is too large" });
});

test("the body of an error status is not waited for", async ({ wire }) => {
  const server = await wire((socket) => {
    socket.write("HTTP/1.1 403 Forbidden\r\ncontent-length: 1000000\r\n\r\nno");
  });
  expect(await trouble(server.url)).toMatchObject({ kind: "http", code: 403 });
});

test("a redirect is not followed: the bytes and the key in the path go nowhere else", async ({ wire }) => {
  const elsewhere = await wire(() => undefined);
  for (const status of [301, 302, 307, 308]) {
    const server = await wire((socket) => {
      socket.end(`HTTP/1.1 ${status} Moved\r\nlocation: ${elsewhere.url}\r\ncontent-length: 0\r\n\r\n`);
    });
    expect(await trouble(server.url)).toMatchObject({ kind: "http", code: status });
  }
  expect(elsewhere.requests).toBe(0);
});

test("closing the ledger ends a call that hangs", async ({ wire }) => {
  const server = await wire(() => undefined);
  const ledger = solanaLedger({ endpoints: [server.url], clock: virtualClock() });
  const asked = ledger.mints([OWNER]);
  asked.catch(() => undefined);
  await server.request(1);
  await ledger.close();
  await expect(asked).rejects.toThrow("the ledger is closed");
});

test("P25: no websocket is ever opened, so a dead one changes nothing", async ({ world }) => {
  let upgrades = 0;
  const proxy = createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      void world.chain
        .fetch("http://local", { body })
        .then((answer) => answer.text())
        .then((text) => response.end(text));
    });
  });
  proxy.on("upgrade", (_, socket) => {
    upgrades += 1;
    socket.destroy();
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  const ledger = world.ledgerOf([`http://127.0.0.1:${port}`]);
  const alice = world.wallet("alice", { lamports: 1_000_000_000n });
  const transfers = [{ recipient: world.wallet("bob", { lamports: 1_000_000n }).address, amount: 5n }];
  const payment = { sender: alice.address, mint: null, decimals: 9, transfers };
  const { bytes } = await ledger.buildPayment(payment, new Uint8Array(32));
  const answer = await ledger.verifyPayment(signPayment(bytes, alice.secretKey), payment);
  if ("refused" in answer) throw new Error(answer.refused);
  const { signature } = answer.verified;
  await ledger.simulatePayment(answer.verified, payment);
  await ledger.broadcast(answer.verified.bytes);
  world.chain.advance(40);
  expect(await ledger.statuses([signature])).toMatchObject([{ commitment: "finalized" }]);
  expect(await receiptsOf(ledger, [signature])).toMatchObject([{ error: null }]);
  expect(await fatesOf(ledger, [{ ...answer.verified, reference: null }])).toEqual(["landed"]);
  await ledger.balances(alice.address);
  await ledger.position();
  expect(upgrades).toBe(0);
  proxy.closeAllConnections();
  proxy.close();
});
