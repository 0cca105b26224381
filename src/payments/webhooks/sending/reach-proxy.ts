/** Checks that the egress proxy accepts connections. Nothing is sent: neither credentials nor a request. */
import { connect } from "node:net";
import type { Clock } from "../../../runtime.ts";
import { withDeadline } from "./deadline.ts";

/** The time that an attempt waits for the proxy. */
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
