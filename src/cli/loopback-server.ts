/** Servers on the loopback address: on the wanted port, or for 0 on that of the last start if it is free, else on any. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Only this machine reaches a development service. */
export const DEV_HOST = "127.0.0.1";

/**
 * The longest delay of the server's end by an open request. A browser's spare connection, which never asks, would delay
 * it without end.
 */
const MAX_CLOSE_MS = 500;

/** A port that an option names. */
interface PortOption {
  readonly option: string;
  readonly wanted: number;
  readonly last: number | undefined;
}

/**
 * Runs `take` with the wanted port; for 0 first with the port of the last start, so that addresses stay the same.
 * Rejects with a sentence that names the option to change.
 */
export async function takePort<T>(
  { option, wanted, last }: PortOption,
  take: (port: number) => Promise<T>,
): Promise<T> {
  try {
    if (wanted === 0 && last !== undefined) return await take(last).catch(() => take(0));
    return await take(wanted);
  } catch (cause) {
    // A chain takes the next port too: the port in use may differ from the wanted port.
    const taken = portInUse(cause);
    const reason = taken === null ? `port ${wanted} cannot be opened` : `port ${taken} is in use`;
    throw new Error(`${reason}: choose another one with ${option}, or 0 for any free one`, { cause });
  }
}

/** The port that another program has; the listener of the chain says it in the cause of its own error. */
function portInUse(error: unknown): number | null {
  const { code, port, cause } = error as NodeJS.ErrnoException & { readonly port?: number };
  if (code === "EADDRINUSE" && port !== undefined) return port;
  return cause === undefined ? null : portInUse(cause);
}

/** Takes the port with a server on the loopback address. */
export function listenOn(
  wanted: PortOption,
  make: () => Server,
): Promise<{ readonly server: Server; readonly port: number }> {
  return takePort(wanted, async (port) => {
    const server = make();
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, DEV_HOST, resolve);
    });
    return { server, port: (server.address() as AddressInfo).port };
  });
}

/** Stops listening, closes idle connections, lets running requests finish for a moment, then closes all. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const patience = setTimeout(() => server.closeAllConnections(), MAX_CLOSE_MS);
    server.close(() => {
      clearTimeout(patience);
      resolve();
    });
    server.closeIdleConnections();
  });
}
