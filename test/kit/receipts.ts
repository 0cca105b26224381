/** The receipts of finalized transactions, of which a test knows the signature alone. */
import type { Landing, Ledger } from "../../src/ledger/ledger.ts";

/** In the order asked; null for what is not final. */
export async function receiptsOf(
  ledger: Pick<Ledger, "landings">,
  signatures: readonly string[],
): Promise<readonly (Landing | null)[]> {
  const unknown = { bytes: new Uint8Array(), messageHash: "", blockhash: "", reference: null };
  const window = { lastValidBlockHeight: Number.MAX_SAFE_INTEGER, firstSlot: 0 };
  return await ledger.landings(signatures.map((signature) => ({ signature, ...unknown, ...window })));
}
