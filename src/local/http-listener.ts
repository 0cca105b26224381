/** The chain on real ports, for wallets, scripts and other processes. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { bytesWithin } from "../core/bytes-within.ts";
import type { RpcAnswer } from "./rpc/server.ts";
import type { SocketServer } from "./socket-server.ts";

/** agave's limit for a request body. */
const MAX_BODY_BYTES = 50 * 1024;

/** Browser wallets call from any origin; a local chain has nothing to protect from them. */
const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "POST, GET, OPTIONS",
  "access-control-allow-headers": "*",
  "access-control-max-age": "86400",
};

/**
 * Ports asked for before a free one with a free successor is found. Linux gives odd ports to listeners and even ones to
 * connections: beside thousands of connections that were closed within a minute, nine in ten successors are taken.
 */
const PORT_ATTEMPTS = 200;

const LAST_PORT = 65_535;

/** A chain that listens. */
export interface Listener {
  /** The URL of JSON-RPC, e.g. "http://127.0.0.1:8899". */
  readonly url: string;
  /**
   * The URL for subscriptions, e.g. "ws://127.0.0.1:8900": the next port, where web3.js looks when it is told `url`
   * alone. The first port takes websockets, too. `signatureSubscribe` and `slotSubscribe` are there, by which clients
   * confirm; accounts and logs are read over HTTP.
   */
  readonly webSocketUrl: string;
  /** Stops listening and ends open connections. */
  close(): Promise<void>;
}

/** Host and port of a listener. */
interface Place {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}

/** The parts behind a listener. */
interface Listening {
  /** Answers one request body; rejects when `signal` aborts. */
  readonly answer: (body: string, signal: AbortSignal) => Promise<RpcAnswer>;
  readonly sockets: SocketServer;
}

/**
 * Listens at `host`, on `port` (0: any free one) and on the next. Rejects with a sentence when that is not possible.
 */
export async function listen({ answer, sockets }: Listening, { host, port }: Place): Promise<Listener> {
  const make = (): Server => {
    const server = createServer((request, response) => void respond(answer, request, response));
    return server.on("upgrade", (request, stream, head) => sockets.upgrade(request, stream, head));
  };
  const servers = await bindTwo(make, { host, port });
  const [first, next] = servers;
  return {
    url: `http://${first.address}`,
    webSocketUrl: `ws://${next.address}`,
    close: async () => {
      sockets.close();
      await Promise.all(servers.map(({ server }) => closed(server)));
    },
  };
}

/** A server and its address as a URL writes it. */
interface Bound {
  readonly server: Server;
  readonly address: string;
  readonly port: number;
}

/** Takes `port` and the one after it. */
async function bindTwo(make: () => Server, { host, port }: Place): Promise<[Bound, Bound]> {
  for (let attempt = 1; ; attempt += 1) {
    const first = await bind(make(), { host, port });
    const next = first.port < LAST_PORT ? first.port + 1 : 0;
    try {
      const purpose = `, where clients look for the websocket of port ${first.port}`;
      return [first, await bind(make(), { host, port: next }, purpose)];
    } catch (error) {
      await closed(first.server);
      if (port !== 0 || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

async function bind(server: Server, { host, port }: Place, purpose = ""): Promise<Bound> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const problem =
        cause.code === "EADDRINUSE"
          ? `port ${port} of ${host} is in use${purpose}: stop what listens there or choose another port`
          : cause.message;
      reject(new Error(`The local chain cannot listen: ${problem}.`, { cause }));
    });
    server.listen(port, host, resolve);
  });
  const { address, family, port: taken } = server.address() as AddressInfo;
  return { server, port: taken, address: `${family === "IPv6" ? `[${address}]` : address}:${taken}` };
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function respond(
  answer: Listening["answer"],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  try {
    const { status, headers, body } = await answerTo(request, (text) => answer(text, gone.signal));
    response.writeHead(status, { ...CORS, ...headers }).end(body);
  } catch {
    // The caller hung up, or the chain was closed while it waited.
    response.destroy();
  }
}

async function answerTo(
  request: IncomingMessage,
  answer: (body: string) => Promise<RpcAnswer>,
): Promise<RpcAnswer> {
  if (request.method === "OPTIONS") return { status: 204, headers: {}, body: "" };
  if (request.method === "GET" && request.url === "/health") return { status: 200, headers: {}, body: "ok" };
  if (request.method !== "POST") return { status: 405, headers: { allow: "POST, GET, OPTIONS" }, body: "" };
  const body = await bytesWithin(request, MAX_BODY_BYTES);
  if (body === null) return { status: 413, headers: { connection: "close" }, body: "" };
  return answer(body.toString("utf8"));
}
