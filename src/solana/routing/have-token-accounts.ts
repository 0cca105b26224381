/** Reads which owners already have a token account, so that its rent need not be paid. */
import type { Address } from "../../address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import { agree } from "../agree.ts";
import type { NodeContext } from "../ask.ts";
import { ACCOUNT_HEAD } from "../layouts.ts";
import { TOKEN_PROGRAM } from "../programs.ts";
import { readAccounts } from "../read-accounts.ts";
import { associatedTokenAccount } from "../associated-token-account.ts";

// Where accounts lie is derived between calls, half a millisecond each, so that hundreds do not hold up this process.
const OWNERS_AT_ONCE = 25;

/**
 * See `RoutingLedger.haveTokenAccounts`. A token account whose owner gave it to somebody else also counts as existing:
 * it costs no rent, and a transfer to it fails. Lamports that a stranger sent to the address make no account.
 */
export async function haveTokenAccounts(
  nodes: NodeContext,
  owners: readonly Address[],
  mint: Address,
): Promise<Evidence<readonly boolean[]>> {
  const found: Evidence<boolean>[] = [];
  for (let start = 0; start < owners.length; start += OWNERS_AT_ONCE) {
    const batch = owners.slice(start, start + OWNERS_AT_ONCE);
    const addresses = batch.map((owner) => associatedTokenAccount(owner, mint));
    const read = readAccounts(addresses, "confirmed", ACCOUNT_HEAD);
    const present = await agree(nodes, {
      subject: "the token accounts of owners",
      question: async (endpoint) => (await read(endpoint)).map((account) => account?.owner === TOKEN_PROGRAM),
      textOf: String,
    });
    found.push(...present);
  }
  return found;
}
