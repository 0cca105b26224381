/** Asks whether enough endpoints show signatures in a confirmed block, once for each signature. */
import type { Evidence } from "../../ledger/belief.ts";
import { LedgerUnavailable, type Ledger } from "../../ledger/ledger.ts";

/** A signature is watched for minutes; a forgotten signature is asked for again. */
const MAX_REMEMBERED = 10_000;

/** The confirmed signatures of one watcher. */
export class ConfirmedSignatureCache {
  readonly #ledger: Pick<Ledger, "confirmed">;
  #known = new Set<string>();

  constructor(ledger: Pick<Ledger, "confirmed">) {
    this.#ledger = ledger;
  }

  /**
   * The signatures that enough endpoints show in a block; without those that too few endpoints could be asked about.
   */
  async among(signatures: readonly string[]): Promise<ReadonlySet<string>> {
    const unknown = signatures.filter((signature) => !this.#known.has(signature));
    const shown = unknown.length === 0 ? [] : await this.#ledger.confirmed(unknown).catch(unlessSilent);
    if (this.#known.size > MAX_REMEMBERED) this.#known = new Set();
    for (const [index, signature] of unknown.entries()) if (shown[index] === true) this.#known.add(signature);
    return new Set(signatures.filter((signature) => this.#known.has(signature)));
  }
}

function unlessSilent(error: unknown): Evidence<readonly boolean[]> {
  if (error instanceof LedgerUnavailable) return [];
  throw error;
}
