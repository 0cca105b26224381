/** Notes when a key was last used, coarsely and beside the request. */
import { commitOne } from "../../../storage/decided.ts";
import type { Clock, Logger } from "../../runtime.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import type { ApiKeyRecord } from "../tables/identity.ts";

/** The precision of the noted time: a key in constant use costs one write in this time, for all processes together. */
const COARSENESS_MS = 60_000;

/** Dependencies of noting the last use. */
interface LastUseWriterParts {
  readonly storage: Pick<PaymentStorage, "commit">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The last uses of keys, as one process sees them. */
export class LastUseWriter {
  readonly #parts: LastUseWriterParts;
  /** Keys whose use is being written. */
  readonly #writing = new Set<string>();

  constructor(parts: LastUseWriterParts) {
    this.#parts = parts;
  }

  /** Returns at once. No request waits for this write or fails with it. */
  note({ id, lastUsedAt }: Pick<ApiKeyRecord, "id" | "lastUsedAt">): void {
    const now = this.#parts.clock.now();
    if (this.#writing.has(id) || (lastUsedAt !== null && now - lastUsedAt < COARSENESS_MS)) return;
    this.#writing.add(id);
    void this.#write(id, now);
  }

  async #write(id: string, now: number): Promise<void> {
    const { storage, log } = this.#parts;
    try {
      await commitOne(storage, { writes: [{ table: "apiKeys", id, set: { lastUsedAt: now } }] });
    } catch (error) {
      // The next use notes it. A database that takes no writes is told of by everything else.
      log.debug({ err: error, keyId: id }, "the last use of a key could not be noted");
    } finally {
      this.#writing.delete(id);
    }
  }
}
