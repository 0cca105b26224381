/** One HTTP exchange with a receiver over a guarded connection that serves nothing else. */
import type { Dispatcher } from "undici";
import { openReceiverSocket, ReceiverConnectError, type SocketOptions } from "./receiver-socket.ts";
import { parseReceiverUrl } from "./receiver-url.ts";

/** Most a receiver may answer in headers, in bytes; Node's own bound. */
const MAX_RESPONSE_HEADER_BYTES = 16 * 1024;

/**
 * Sends one request to `text`, a receiver's URL, and gives the answer to `read` as soon as its headers are here; follows
 * no redirect, decompresses nothing. The connection is closed when `read` has settled. Bounded only by `signal`.
 *
 * Rejects with {@link ReceiverConnectError} before a request was sent, with undici's errors after.
 */
export async function exchange<T>(
  text: string,
  request: Pick<Dispatcher.RequestOptions, "method" | "headers" | "body">,
  socketOptions: SocketOptions,
  signal: AbortSignal,
  read: (answer: Dispatcher.ResponseData) => Promise<T>,
): Promise<T> {
  const parsed = parseReceiverUrl(text, socketOptions.allowAddress);
  // A stored URL was accepted once; the rules may have become stricter since.
  if ("refused" in parsed) throw new ReceiverConnectError("blocked_address", parsed.refused);
  const url = parsed.ok;
  // Loaded by the first delivery: a host without webhooks never pays for it.
  const { Client } = await import("undici");
  const socket = await openReceiverSocket(url, socketOptions, signal);
  const client = new Client(url.origin, {
    // Not at once: undici takes no socket while it is still asking for one.
    connect: (_options, connected) => queueMicrotask(() => connected(null, socket)),
    // No keep-alive: each attempt resolves, judges and verifies anew.
    pipelining: 0,
    maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
    // The caller's absolute deadline instead of undici's timers, which start again at every stage.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  try {
    return await read(await client.request({ ...request, path: url.pathname + url.search, signal }));
  } finally {
    await client.destroy();
    socket.destroy();
  }
}
