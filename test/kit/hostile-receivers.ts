/** Receivers that mean harm, on real sockets of loopback: one TLS server whose paths each behave badly in one way. */
import { once } from "node:events";
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import type { LoopbackCertificate } from "./loopback-certificate.ts";

/** Writes to a connection whose request has arrived; called once for each request. */
type Harm = (socket: TLSSocket) => void;

const SLOW_BYTE_MS = 1_000;

/** As long as the other side takes it, and not within one turn of the event loop. */
function pour(socket: TLSSocket, text: string): void {
  const next = (): void => {
    if (socket.destroyed) return;
    if (socket.write(text)) setImmediate(next);
    else socket.once("drain", next);
  };
  next();
}

const HARMS = {
  /** The status line, a byte a second. */
  slow: (socket) => {
    const bytes = "HTTP/1.1 200 OK\r\nx-patience: endless\r\n";
    let sent = 0;
    const timer = setInterval(() => socket.write(bytes.charAt(sent++) || "x"), SLOW_BYTE_MS);
    socket.once("close", () => clearInterval(timer));
  },
  /** Interim answers without end. */
  interim: (socket) => pour(socket, "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(64)),
  /** Breaks off within its headers. */
  resetting: (socket) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-le", () => socket.destroy());
  },
  redirecting: (socket) => {
    socket.write("HTTP/1.1 302 Found\r\nlocation: https://127.0.0.1/\r\ncontent-length: 0\r\n\r\n");
  },
  /** Headers without end. */
  hugeHeaders: (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    pour(socket, `x-huge: ${"a".repeat(8_000)}\r\n`);
  },
  /** Takes the request and says nothing. */
  silent: () => {},
} satisfies Record<string, Harm>;

/** `refused`: nothing listens there. `blackholed`: a connection is taken, and not a byte comes back. */
export type HostileManner = keyof typeof HARMS | "refused" | "blackholed";

/** Every manner. */
export const HOSTILE_MANNERS: readonly HostileManner[] = [
  ...(Object.keys(HARMS) as (keyof typeof HARMS)[]),
  "refused",
  "blackholed",
];

/** Those that keep an attempt until its deadline; the others end it at once. */
export const KEEPING_MANNERS: ReadonlySet<HostileManner> = new Set(["slow", "silent", "blackholed"]);

/** Running receivers. */
export interface HostileReceivers {
  /** The URL of one of them: no two share their connections. */
  urlOf(manner: HostileManner, webhook: number): string;
  close(): Promise<void>;
}

export async function startHostileReceivers({ key, cert }: LoopbackCertificate): Promise<HostileReceivers> {
  const sockets = new Set<Socket>();
  const tls = createTlsServer({ key, cert }, (socket) => {
    socket.on("error", () => {});
    socket.once("data", (head: Buffer) => {
      const manner = /^[A-Z]+ \/(\w+)/.exec(head.toString("latin1"))?.[1] ?? "";
      if (manner in HARMS) HARMS[manner as keyof typeof HARMS](socket);
      // Of a kept connection the next request is harmed as well.
      socket.on("data", () => manner === "redirecting" && HARMS.redirecting(socket));
    });
  });
  const blackhole = createTcpServer();
  for (const server of [tls, blackhole]) {
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => sockets.delete(socket));
    });
  }
  const [tlsPort, blackholePort, closedPort] = [
    await listening(tls),
    await listening(blackhole),
    await freePort(),
  ];
  return {
    urlOf(manner, webhook) {
      const port = { refused: closedPort, blackholed: blackholePort }[manner as string] ?? tlsPort;
      return `https://127.0.0.1:${port}/${manner}/${webhook}`;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all([tls, blackhole].map(closed));
    },
  };
}

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function closed(server: Server): Promise<void> {
  server.close();
  await once(server, "close");
}

/** A port that nothing listens on. */
async function freePort(): Promise<number> {
  const server = createTcpServer();
  const port = await listening(server);
  await closed(server);
  return port;
}
