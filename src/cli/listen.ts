/** Taking a port: the wanted one, or for 0 the one of the last start if it is free, else any. */
import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Only this machine reaches a development service. */
export const DEV_HOST = "127.0.0.1";

/** Runs `take` with the wanted port; for 0 first with the port of the last start, so that addresses stay the same. */
export async function takePort<T>(
  wanted: number,
  last: number | undefined,
  take: (port: number) => Promise<T>,
): Promise<T> {
  if (wanted !== 0 || last === undefined) return take(wanted);
  try {
    return await take(last);
  } catch {
    return take(0);
  }
}

/** Listens on the loopback address. Rejects with a sentence when the port is taken or not ours to take. */
export async function listenOn(
  port: number,
  listener: RequestListener,
): Promise<{ server: Server; port: number }> {
  const server = createServer(listener);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === "EADDRINUSE" ? "is in use" : "cannot be opened";
      reject(
        new Error(`port ${port} ${reason}: choose another one with --port, or 0 for any free one`, { cause }),
      );
    });
    server.listen(port, DEV_HOST, resolve);
  });
  return { server, port: (server.address() as AddressInfo).port };
}

/** Stops listening, lets running requests finish, closes idle connections. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}
