/** The ways into the handler: every test of the contract takes each of them, in a short run the one that the seed draws. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { HttpHandler } from "../../src/http/create-http-handler.ts";

/** Sends a request to a path below the base path. */
export type Ask = (path: string, init?: RequestInit) => Promise<Response>;

/** An opened way. */
export interface OpenWay {
  readonly ask: Ask;
  /** `http://…` of the listening server; null in process. */
  readonly origin: string | null;
  close(): Promise<void>;
}

/** One way into the handler. */
export interface Way {
  readonly name: string;
  /** The handler's base path on this way. */
  readonly basePath: string;
  /** What stands before the paths of answers such as `Location`. */
  readonly prefix: string;
  open(handler: HttpHandler): Promise<OpenWay>;
}

/** Listens on loopback until it is closed. */
export async function listening(
  listener: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<{ origin: string; close(): Promise<void> }> {
  const server = createServer((request, response) => void listener(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const IN_PROCESS: Way = {
  name: "through fetch",
  basePath: "",
  prefix: "",
  open: async ({ fetch }) => ({
    origin: null,
    ask: (path, init) => fetch(new Request(`http://pay.example${path}`, init)),
    close: async () => {},
  }),
};

/** A server that does something to the request before the handler sees it. */
function served(
  name: string,
  { basePath = "", mountedAt = "" }: { readonly basePath?: string; readonly mountedAt?: string },
  before: (request: IncomingMessage) => void | Promise<void> = () => {},
): Way {
  const prefix = `${mountedAt}${basePath}`;
  return {
    name,
    basePath,
    prefix,
    async open({ node }) {
      const { origin, close } = await listening(async (request, response) => {
        await before(request);
        await node(request, response);
      });
      return { origin, close, ask: (path, init) => fetch(`${origin}${prefix}${path}`, init) };
    },
  };
}

/** A body parser as frameworks have them, made by hand: it leaves no byte in the stream. */
const parser =
  (parse: (bytes: Buffer) => unknown) =>
  async (request: IncomingMessage & { body?: unknown }): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    Object.assign(request, { body: parse(Buffer.concat(chunks)) });
  };

/** What Express 4's parsers leave on a request whose body they did not read. */
const passedBy = (request: IncomingMessage): void => {
  Object.assign(request, { body: {} });
};

/** What Express does under `app.use("/api", …)`: it cuts the prefix off and remembers it. */
const mount = (request: IncomingMessage): void => {
  Object.assign(request, { baseUrl: "/api", url: request.url?.slice("/api".length) });
};

/** Through `fetch` and through a server of its own. */
export const WAYS: readonly Way[] = [IN_PROCESS, served("through node:http", {})];

/** Inside somebody else's server. */
export const HOSTED_WAYS: readonly Way[] = [
  served("under a base path", { basePath: "/payments" }),
  served("mounted by a framework", { mountedAt: "/api" }, mount),
  served(
    "behind a JSON parser",
    {},
    parser((bytes) => (bytes.length === 0 ? {} : JSON.parse(bytes.toString()))),
  ),
  served(
    "behind a parser that keeps the bytes",
    {},
    parser((bytes) => bytes),
  ),
  served(
    "behind a text parser",
    {},
    parser((bytes) => bytes.toString()),
  ),
  served("behind a parser that read nothing", {}, passedBy),
];
