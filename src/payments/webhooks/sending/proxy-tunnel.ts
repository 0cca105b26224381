/** A connection to a receiver through the host's egress proxy: HTTP CONNECT, then the bytes go through as they are. */
import { type ClientRequest, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { type Socket, connect } from "node:net";
import { parseUrl } from "../../../core/parse-url.ts";
import { type DeadlineOptions, withDeadline } from "./deadline.ts";
import type { Clock } from "../../../core/runtime.ts";

/**
 * How long the proxy may take to connect, in milliseconds. Shorter than an attempt, so that a proxy that hangs is seen as
 * such and not as a receiver that times out.
 */
const TUNNEL_DEADLINE_MS = 5_000;

/**
 * Reads the URL of a proxy: `http:` or `https:`, with or without percent-encoded credentials, and nothing after the port.
 * Null for anything else.
 */
export function readProxyUrl(text: string): URL | null {
  const url = parseUrl(text);
  if (url === null) return null;
  const isBare = url.pathname === "/" && url.search === "" && url.hash === "";
  const isHttp = url.protocol === "http:" || url.protocol === "https:";
  return isBare && isHttp && hasReadableCredentials(url) ? url : null;
}

/** URLs keep a percent sign that encodes nothing, and every attempt would fail on it. */
function hasReadableCredentials(url: URL): boolean {
  try {
    authorization(url);
    return true;
  } catch {
    return false;
  }
}

/**
 * Asks the proxy to connect to `target` and resolves with the socket that leads there. The proxy resolves the name. Rejects
 * when the proxy cannot be reached, or answers anything but 2xx, or nothing in time; with the caller's reason when that
 * gives up. The caller owns the socket.
 */
export function openTunnel(proxy: URL, target: URL, patience: Omit<DeadlineOptions, "ms">): Promise<Socket> {
  const deadline = { ms: TUNNEL_DEADLINE_MS, ...patience };
  return withDeadline(deadline, (signal) => tunnel(proxy, target, signal));
}

async function tunnel(proxy: URL, target: URL, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted();
  const asked = ask(proxy, target);
  const abandon = (): void => void asked.destroy(signal.reason as Error);
  signal.addEventListener("abort", abandon, { once: true });
  try {
    return await answered(asked);
  } finally {
    signal.removeEventListener("abort", abandon);
  }
}

function ask(proxy: URL, target: URL): ClientRequest {
  const authority = `${target.hostname}:${target.port === "" ? "443" : target.port}`;
  const hostname = proxy.hostname.replaceAll(/[[\]]/g, "");
  const options = {
    method: "CONNECT",
    host: hostname,
    ...(proxy.port === "" ? {} : { port: proxy.port }),
    path: authority,
    headers: { host: authority, ...authorization(proxy) },
    agent: false,
  } as const;
  // Node verifies nothing where NODE_TLS_REJECT_UNAUTHORIZED is 0; this connection is verified all the same.
  return proxy.protocol === "https:"
    ? requestHttps({ ...options, rejectUnauthorized: true })
    : requestHttp(options);
}

function authorization({ username, password }: URL): { readonly "proxy-authorization"?: string } {
  if (username === "" && password === "") return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` };
}

function answered(asked: ClientRequest): Promise<Socket> {
  return new Promise((resolve, reject) => {
    asked.on("error", reject);
    asked.once("connect", ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
      // Without a listener an error of the socket would end the process; TLS over it tells of the end.
      socket.on("error", () => {});
      if (statusCode < 200 || statusCode >= 300) {
        socket.destroy();
        reject(new Error(`the proxy answered CONNECT with ${statusCode}`));
        return;
      }
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    asked.once("close", () => reject(new Error("the proxy ended the connection")));
    asked.end();
  });
}

const MAX_CONNECT_MS = 5_000;

/** Null when it takes connections, else why not, in a few words and without the proxy's credentials. */
export async function proxyTrouble(proxy: URL, clock: Clock): Promise<string | null> {
  try {
    await withDeadline({ ms: MAX_CONNECT_MS, clock }, (signal) => connected(proxy, signal));
    return null;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code ?? message;
  }
}

function connected({ protocol, hostname, port }: URL, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const usual = protocol === "https:" ? 443 : 80;
    const socket = connect({
      host: hostname.replaceAll(/[[\]]/g, ""),
      port: port === "" ? usual : Number(port),
      signal,
    });
    // Aborted, it tells of an abort; the reason of it says what happened.
    socket.on("error", (error) => reject(signal.aborted ? (signal.reason as Error) : error));
    socket.once("connect", () => {
      socket.destroy();
      resolve();
    });
  });
}
