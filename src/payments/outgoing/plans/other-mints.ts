/**
 * Foreign tokens at a deposit address: mints that the service does not use, recorded, and moved only by an operator's
 * order.
 */
import { SOL_MINT, type Address } from "../../../address.ts";
import { LedgerUnavailable, type Ledger } from "../../../ledger/ledger.ts";
import type { Assets } from "../../assets/assets.ts";

/** Anybody can invent mints and send them here; more than a few are of no use. */
const MAX_MINTS = 10;

/**
 * The name of a mint in the ledger of an address. Wrapped SOL is a token like any other; by its mint alone it would be
 * counted as lamports.
 */
export function nameOfMint(mint: string): string {
  return mint === SOL_MINT ? `wrapped ${SOL_MINT}` : mint;
}

/** Wrapped SOL counts in the associated account only: what strangers wrap on markers is the sponsor's. */
async function wrappedSol(ledger: Ledger, address: Address): Promise<bigint> {
  const { funds } = await ledger.funds([address], [SOL_MINT], "confirmed");
  return funds[0]?.tokens[0] ?? 0n;
}

/**
 * Raw units by mint, Token-2022 included, of what is none of the service's assets (recorded, and
 * released by the operator). Best effort: an address that was sent thousands of mints may not be readable at all, and its
 * refunds do not wait for that.
 */
export async function otherMints(
  { ledger, assets }: { readonly ledger: Ledger; readonly assets: Assets },
  address: Address,
): Promise<Readonly<Record<string, string>>> {
  try {
    const { holdings } = await ledger.balances(address);
    const wrapped = holdings.some(({ mint }) => mint === SOL_MINT) ? await wrappedSol(ledger, address) : 0n;
    const others = holdings
      .map(({ mint, amount }) => [nameOfMint(mint), mint === SOL_MINT ? wrapped : amount] as const)
      .filter(([mint, amount]) => amount > 0n && assets.ofMint(mint) === null)
      .map(([mint, amount]) => [mint, String(amount)] as const);
    return Object.fromEntries(others.slice(0, MAX_MINTS));
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    return {};
  }
}
