/** A real egress proxy on loopback: HTTP CONNECT and nothing else. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

/** What it does with a CONNECT. */
export type ProxyManner = "connects" | "refuses" | "hangs" | "resets";

/** A running proxy. */
export interface ConnectProxy {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** What was asked of it: the name and port, and the headers. */
  readonly asked: readonly { readonly authority: string; readonly headers: IncomingHttpHeaders }[];
  /** Everything that came through from the client, as bytes. */
  seen(): Buffer;
  behave(manner: ProxyManner): void;
  close(): Promise<void>;
}

/** Starts a proxy on a free port. It connects to 127.0.0.1, whatever the name: only the port counts. */
export async function startConnectProxy(): Promise<ConnectProxy> {
  const asked: { authority: string; headers: IncomingHttpHeaders }[] = [];
  const seen: Buffer[] = [];
  const sockets = new Set<Socket>();
  let manner: ProxyManner = "connects";
  const server = createServer();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("connect", ({ url: authority = "", headers }, client: Socket) => {
    asked.push({ authority, headers });
    if (manner === "hangs") return;
    if (manner === "resets") return void client.resetAndDestroy();
    if (manner === "refuses") return void client.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    const receiver = connect(Number(authority.split(":").at(-1)), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      client.on("data", (chunk: Buffer) => seen.push(chunk));
      client.pipe(receiver).pipe(client);
    });
    receiver.on("error", () => client.destroy());
    client.once("close", () => receiver.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    seen: () => Buffer.concat(seen),
    behave: (next) => void (manner = next),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
