/** Checksums of API keys under a secret of their own, so that a made-up key is told without a look-up. */
import { createHmac } from "node:crypto";
import { elapsed, type Clock, type Logger, type Random } from "../../../core/runtime.ts";
import type { FrameStorage } from "../frame-storage.ts";
import { bindFact, bindSecrets } from "./bind-database.ts";
import type { MasterSecret, SealScope, SecretBox } from "./secret-box.ts";

const FACT = "apiKeyChecksum";
const PLACE: SealScope = { table: "facts", row: FACT, owner: "" };
const SECRET_BYTES = 32;
const CHECKSUM_LENGTH = 16;
/** Made-up keys have the secret read again, and no oftener than this. */
const KEPT_MS = 60_000;

interface KeyChecksumsParts {
  readonly storage: FrameStorage;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly sealing: SecretBox;
  readonly masterSecrets: readonly MasterSecret[];
}

/** Checksums under a database's secret, which is made once and stays when the master secret is rotated. */
export class KeyChecksums {
  readonly #with: KeyChecksumsParts;
  #secret: Promise<string | null> | null = null;
  #readAt = -Infinity;

  constructor(parts: KeyChecksumsParts) {
    this.#with = parts;
  }

  /**
   * The checksum of a key's text. Null when the master secret that seals the checksum secret is not given any more: only
   * a look-up tells then. Rejects with what the storage throws, and with `StartRefused` for another master secret.
   */
  async of(text: string): Promise<string | null> {
    const secret = await (this.#secret ??= this.#read());
    if (secret === null) return null;
    return createHmac("sha256", secret).update(text).digest("hex").slice(0, CHECKSUM_LENGTH);
  }

  /** A restored backup may have brought another secret: reads the secret anew, at once where a key is issued. */
  renew(): void {
    this.#secret = null;
  }

  /** Does the same for a key whose checksum is wrong; false where the secret was read within the last minute. */
  renewIfOld(): boolean {
    const isOld = elapsed(this.#with.clock) - this.#readAt >= KEPT_MS;
    if (isOld) this.renew();
    return isOld;
  }

  async #read(): Promise<string | null> {
    this.#readAt = elapsed(this.#with.clock);
    try {
      return this.#opened((await this.#with.storage.fact(FACT)) ?? (await this.#make()));
    } catch (thrown) {
      this.#secret = null; // The next key asks the storage again.
      throw thrown;
    }
  }

  async #make(): Promise<string> {
    const { storage, random, sealing, masterSecrets } = this.#with;
    await bindSecrets(storage, masterSecrets);
    const secret = Buffer.from(random.bytes(SECRET_BYTES)).toString("hex");
    return bindFact(storage, FACT, sealing.seal(secret, PLACE));
  }

  #opened(sealed: string): string | null {
    const { sealing, log } = this.#with;
    try {
      return sealing.open(sealed, PLACE);
    } catch (error) {
      log.warn({ err: error }, "every API key is looked up: the secret of their checksums does not open");
      return null;
    }
  }
}
