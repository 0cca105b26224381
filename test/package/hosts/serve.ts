/** The HTTP server of the runtime that this runs on: Bun's and Deno's take the handler's `fetch`, Node's its `node`. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { HttpHandler } from "paystate";

/** A server that has been started. */
export interface Served {
  readonly port: number;
  end(): void;
}

type Fetch = HttpHandler["fetch"];

/** The part of Bun's and Deno's globals that is used here. */
interface Runtime {
  readonly Bun?: {
    serve(options: { port: number; hostname: string; fetch: Fetch }): { port: number; stop(): void };
  };
  readonly Deno?: {
    serve(
      options: { port: number; hostname: string },
      fetch: Fetch,
    ): { readonly addr: { readonly port: number }; shutdown(): void };
  };
}

/** Serves on a free port of this machine. */
export async function serve(handler: HttpHandler): Promise<Served> {
  const { Bun, Deno } = globalThis as Runtime;
  const options = { port: 0, hostname: "127.0.0.1" };
  const fetch: Fetch = (request) => handler.fetch(request);
  if (Bun !== undefined) {
    const server = Bun.serve({ ...options, fetch });
    return { port: server.port, end: () => server.stop() };
  }
  if (Deno !== undefined) {
    const server = Deno.serve(options, fetch);
    return { port: server.addr.port, end: () => server.shutdown() };
  }
  const server = createServer((request, response) => void handler.node(request, response));
  server.listen(options.port, options.hostname);
  await once(server, "listening");
  const end = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, end };
}
