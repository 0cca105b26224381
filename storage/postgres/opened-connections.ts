/** The connections that a storage has opened itself: they end with the storage, whatever the server says. */
import type { Cuttable } from "./driver.ts";

/** A server that says nothing is waited for so long at the end, in milliseconds. */
const GOODBYE_MS = 4_000;

export class OpenedConnections {
  readonly #open = new Set<Cuttable>();

  /** Remembers a connection until it has ended. */
  kept<C extends Cuttable>(client: C): C {
    this.#open.add(client);
    client.connection?.stream?.once("close", () => this.#open.delete(client));
    return client;
  }

  /** Ends them politely by this, or cuts what is still open after some seconds. Rejects as `politely` does before that. */
  async end(politely: () => Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      // oxlint-disable-next-line paystate/no-ambient -- bounds a goodbye and decides nothing that is stored
      timer = setTimeout(() => {
        for (const { connection } of this.#open) connection?.stream?.destroy();
        resolve();
      }, GOODBYE_MS);
    });
    await Promise.race([politely(), patience]).finally(() => clearTimeout(timer));
  }
}
