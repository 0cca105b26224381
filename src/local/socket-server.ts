/** The websockets of a listening chain: opened on request, read, written to and closed. */
import { STATUS_CODES, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import type { RpcServer } from "./rpc/server.ts";
import { SocketHandler } from "./rpc/socket-handler.ts";

/** A subscription is a few hundred bytes. */
const MAX_MESSAGE_BYTES = 50 * 1024;

/** The most sockets of one listener: a client with more has forgotten to close them. */
const MAX_SOCKETS = 1000;

/** The most unread bytes of a slow reader, who is then dropped, as in agave. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/** The protocol's codes for closing. */
const CLOSE_CODE = { goingAway: 1001, unsupportedData: 1003 } as const;

/** The open sockets of one listener. */
export class SocketServer {
  readonly #server: RpcServer;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });

  constructor(server: RpcServer) {
    this.#server = server;
  }

  /** Answers an HTTP request to upgrade to a websocket. */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    const fault = this.#server.connectionFault();
    if (fault?.kind === "refuse") return refuse(stream, fault.status, fault.headers);
    if (this.#sockets.clients.size >= MAX_SOCKETS) return refuse(stream, 503);
    this.#sockets.handleUpgrade(request, stream, head, (socket) => this.#serve(socket));
  }

  /** Ends all of them. */
  close(): void {
    for (const socket of this.#sockets.clients) {
      socket.close(CLOSE_CODE.goingAway);
      // A client that does not answer the closing message must not keep the chain from closing.
      socket.terminate();
    }
    this.#sockets.close();
  }

  #serve(socket: WebSocket): void {
    const send = (text: string): void => {
      if (socket.readyState !== WebSocket.OPEN) return;
      if (socket.bufferedAmount > MAX_UNREAD_BYTES) socket.terminate();
      else socket.send(text);
    };
    const session = new SocketHandler(this.#server, { send, cut: () => socket.terminate() });
    socket.on("message", (data: Buffer, isBinary) => {
      if (isBinary) socket.close(CLOSE_CODE.unsupportedData);
      else void session.receive(data.toString("utf8"));
    });
    socket.on("close", () => session.close());
    // A broken connection is closed next; nothing else is to be done about it.
    socket.on("error", () => undefined);
  }
}

function refuse(stream: Duplex, status: number, headers: Readonly<Record<string, string>> = {}): void {
  const fields = { connection: "close", "content-length": "0", ...headers };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const answer = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n`;
  stream.on("error", () => stream.destroy()).end(answer, () => stream.destroy());
}
