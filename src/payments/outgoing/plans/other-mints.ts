/**
 * Foreign tokens at a deposit address: mints that the service does not use, recorded, and moved only by an operator's
 * order.
 */
import { SOL_MINT, type Address } from "../../../address.ts";
import { LedgerUnavailable, type Holding, type Ledger } from "../../../ledger/ledger.ts";
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

/** Foreign tokens, and the oldest block of their reading. */
export interface OtherMints {
  readonly slot: number;
  /** Raw units by the name of the mint, as decimal strings. */
  readonly balances: Readonly<Record<string, string>>;
}

interface OtherMintsLook {
  readonly ledger: Ledger;
  readonly assets: Assets;
}

/** Wrapped SOL counts in the associated account only: what strangers wrap on markers is the sponsor's. */
async function wrappedSol(ledger: Ledger, address: Address): Promise<OtherMints> {
  const { slot, funds } = await ledger.funds([address], [SOL_MINT], "finalized");
  return withSome(slot, [[nameOfMint(SOL_MINT), funds[0]?.tokens[0] ?? 0n]]);
}

/** Tokens of these mints, over all token accounts. */
async function tokensOf(ledger: Ledger, address: Address, mints: readonly Address[]): Promise<OtherMints> {
  const { slot, tokens } = await ledger.fundsOfOwner(address, mints, "finalized");
  return withSome(
    slot,
    mints.map((mint, index) => [mint, tokens[index] ?? 0n]),
  );
}

function withSome(slot: number, amounts: readonly (readonly [mint: string, amount: bigint])[]): OtherMints {
  const some = amounts.filter(([, amount]) => amount > 0n);
  return { slot, balances: Object.fromEntries(some.map(([mint, amount]) => [mint, String(amount)])) };
}

/**
 * Foreign tokens at finalized, as enough endpoints tell it, Token-2022 and frozen ones included. `holdings` is one node's
 * word about where to look: what that node leaves out is not found.
 */
export async function agreedOtherMints(
  { ledger, assets }: OtherMintsLook,
  address: Address,
  holdings: readonly Pick<Holding, "mint">[],
): Promise<OtherMints> {
  const held = holdings.map(({ mint }) => mint);
  const mints = held.filter((mint) => assets.ofMint(mint) === null).slice(0, MAX_MINTS);
  const readings = await Promise.all([
    ...(mints.length === 0 ? [] : [tokensOf(ledger, address, mints)]),
    ...(held.includes(SOL_MINT) ? [wrappedSol(ledger, address)] : []),
  ]);
  return {
    slot: Math.min(...readings.map(({ slot }) => slot)),
    balances: Object.assign({}, ...readings.map(({ balances }) => balances)) as OtherMints["balances"],
  };
}

/**
 * Foreign tokens, as far as they can be read (recorded, and released by the operator). Best effort: an address that was
 * sent thousands of mints may not be readable at all, and its refunds do not wait for that.
 */
export async function otherMints(look: OtherMintsLook, address: Address): Promise<OtherMints> {
  try {
    const { holdings } = await look.ledger.balances(address);
    return await agreedOtherMints(look, address, holdings);
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    return { slot: 0, balances: {} };
  }
}
