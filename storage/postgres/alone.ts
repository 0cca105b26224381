/** A statement that a server takes in no transaction, such as the build of an index, on a connection of its own. */
import { once } from "node:events";
import type { ListeningClient } from "./driver.ts";
import { isUnsupported } from "./explain.ts";
import type { Connections } from "./open.ts";

/** Rejects when it is called off; the server may go on. */
export async function carryOutAlone(
  text: string,
  connections: Pick<Connections, "listener" | "unhurried">,
  off: AbortSignal,
): Promise<void> {
  off.throwIfAborted();
  const client = await connected(connections);
  const over = new AbortController();
  try {
    off.throwIfAborted();
    const calledOff = once(off, "abort", { signal: over.signal }).then(() =>
      Promise.reject(new Error("called off")),
    );
    await Promise.race([client.query(text), calledOff]);
  } finally {
    over.abort();
    await client.end().catch(() => {});
  }
}

/** No setting may be left in a session of a pooler, which refuses those of a connection: there the limits of the role hold. */
async function connected({ listener, unhurried }: Pick<Connections, "listener" | "unhurried">) {
  try {
    return await open(unhurried);
  } catch (error) {
    if (!isUnsupported(error)) throw error;
    return open(listener);
  }
}

async function open(make: () => Promise<ListeningClient>): Promise<ListeningClient> {
  const client = await make();
  // The next question notices whatever it says while idle.
  client.on("error", () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
}
