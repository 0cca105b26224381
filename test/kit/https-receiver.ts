/** A real HTTPS receiver of webhooks on loopback: records what arrives and answers as scripted. */
import { once } from "node:events";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { PaymentServiceOptions } from "../../src/service/payment-service-options.ts";
import { type LoopbackCertificate, sharedCertificate } from "./loopback-certificate.ts";

/** One request as it arrived. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The raw body: what a signature is verified over. */
  readonly body: Buffer;
  /** When the whole request was there, by the receiver's `now`. */
  readonly at: number;
}

/** Answers one request. An answer that never ends is allowed: closing the receiver ends it. */
export type ReceiverScript = (request: ReceivedRequest, response: ServerResponse) => void | Promise<void>;

/** A running receiver. */
export interface HttpsReceiver {
  /** `https://<host>:<port>/hook`. */
  readonly url: string;
  readonly port: number;
  /** The authority to trust, in PEM. */
  readonly ca: string;
  /** Options of a service that delivers to it. */
  readonly options: Partial<PaymentServiceOptions>;
  /** Everything received so far, in order of arrival. */
  readonly requests: readonly ReceivedRequest[];
  /** TCP connections ever accepted, also those that never spoke TLS. */
  connections(): number;
  /** TCP connections open now. */
  openConnections(): number;
  /** Replaces the script for the requests to come. */
  answer(script: ReceiverScript): void;
  /** Resolves with the next request that arrives after this call. */
  nextRequest(): Promise<ReceivedRequest>;
  /** Ends all connections, and goes on listening. */
  endConnections(): void;
  /** Resolves once no connection is open any more. */
  drained(): Promise<void>;
  /** Ends all connections and stops listening. */
  close(): Promise<void>;
}

/** What a receiver may be told; all of it has a default. */
export interface HttpsReceiverOptions {
  /** A certificate of its own; by default that of all receivers of this process. */
  readonly certificate?: LoopbackCertificate;
  /** The address to listen on; 127.0.0.1 by default. */
  readonly host?: string;
  /** The first script; answers 200 by default. */
  readonly script?: ReceiverScript;
  /** Gives {@link ReceivedRequest.at}; the machine's time by default. */
  readonly now?: () => number;
}

/** Starts a receiver on a free port. */
export async function startHttpsReceiver(options: HttpsReceiverOptions = {}): Promise<HttpsReceiver> {
  const { host = "127.0.0.1", now = Date.now } = options;
  const certificate = options.certificate ?? (await sharedCertificate());
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  const waiting: ((request: ReceivedRequest) => void)[] = [];
  let script = options.script ?? answerWith(200);
  let connections = 0;

  const server = createServer({ key: certificate.key, cert: certificate.cert }, (incoming, response) => {
    const chunks: Buffer[] = [];
    // A client that leaves in the middle is part of the tests.
    response.on("error", () => {});
    incoming.on("error", () => {});
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const { method = "", url: path = "", headers } = incoming;
      const request = { method, path, headers, body: Buffer.concat(chunks), at: now() };
      requests.push(request);
      for (const resolve of waiting.splice(0)) resolve(request);
      void script(request, response);
    });
  });
  // Longer than any test: who ends a kept connection is told by the test, not by Node's five seconds.
  server.keepAliveTimeout = 600_000;
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(0, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  return {
    url: `https://${host.includes(":") ? `[${host}]` : host}:${port}/hook`,
    port,
    ca: certificate.ca,
    options: {
      webhooks: { allowAddress: (ip) => ip === "127.0.0.1", ca: certificate.ca }, // modules: webhooks
    },
    requests,
    connections: () => connections,
    openConnections: () => sockets.size,
    answer: (next) => void (script = next),
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    endConnections: () => {
      for (const socket of sockets) socket.destroy();
    },
    drained: async () => {
      await Promise.all([...sockets].map((socket) => once(socket, "close")));
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      if (!server.listening) return;
      server.close();
      await once(server, "close");
    },
  };
}

/** Answers with a status and, if given, a body and headers. */
export function answerWith(
  status: number,
  body: string | Uint8Array = "",
  headers: Record<string, string> = {},
): ReceiverScript {
  return (_request, response) => {
    response.writeHead(status, headers).end(body);
  };
}

/** Waits for `gate` and then follows `script`. */
export function answerAfter(gate: Promise<unknown>, script: ReceiverScript): ReceiverScript {
  return async (request, response) => {
    await gate;
    await script(request, response);
  };
}

/** Takes the request and cuts the connection without an answer. */
export const cutConnection: ReceiverScript = (_request, response) => {
  response.socket?.destroy();
};
