/** The chain on a real port, for wallets, scripts and other processes. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { RpcAnswer } from "./rpc/server.ts";

/** agave's limit for a request body. */
const MAX_BODY_BYTES = 50 * 1024;

/** Browser wallets call from any origin; a local chain has nothing to protect from them. */
const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "POST, GET, OPTIONS",
  "access-control-allow-headers": "*",
  "access-control-max-age": "86400",
};

/** A chain that listens. */
export interface Listener {
  /** Where, e.g. "http://127.0.0.1:8899". */
  readonly url: string;
  /** Stops listening and ends open connections. */
  close(): Promise<void>;
}

/** Answers one request body; rejects when `signal` aborts. */
type Answer = (body: string, signal: AbortSignal) => Promise<RpcAnswer>;

/** Listens at `host` and `port` (0: any free one). Rejects with a sentence when that is not possible. */
export async function listen(
  answer: Answer,
  { host, port }: { host: string; port: number },
): Promise<Listener> {
  const server = createServer((request, response) => void respond(answer, request, response));
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => reject(explained(cause, host, port)));
    server.listen(port, host, resolve);
  });
  const bound = server.address() as AddressInfo;
  const name = bound.family === "IPv6" ? `[${bound.address}]` : bound.address;
  return {
    url: `http://${name}:${bound.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function explained(cause: NodeJS.ErrnoException, host: string, port: number): Error {
  const problem =
    cause.code === "EADDRINUSE"
      ? `port ${port} of ${host} is in use: stop what listens there or choose another port`
      : cause.message;
  return new Error(`The local chain cannot listen: ${problem}.`, { cause });
}

async function respond(answer: Answer, request: IncomingMessage, response: ServerResponse): Promise<void> {
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
  const body = await readBody(request);
  if (body === undefined) return { status: 413, headers: { connection: "close" }, body: "" };
  return answer(body);
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
