/**
 * Foreign tokens at a deposit address: mints that the service does not use, recorded, and moved only by an operator's
 * order.
 */
import { knownAddress, SOL_MINT, type Address } from "../../../address.ts";
import { LedgerUnavailable, type Holding, type Ledger } from "../../../ledger/ledger.ts";
import type { Assets } from "../../assets/assets.ts";
import type { EntryRecord } from "../../tables/deposits.ts";

/** Anybody can invent mints and send them here; more than a few are of no use. */
const MAX_MINTS = 10;

/**
 * The name of a mint in the ledger of an address. Wrapped SOL is a token like any other; by its mint alone it would be
 * counted as lamports.
 */
export function nameOfMint(mint: string): string {
  return mint === SOL_MINT ? `wrapped ${SOL_MINT}` : mint;
}

/** What has come by the ledger of an address and not left again, by the name of the mint, the first to come first. */
export function unitsWritten(
  entries: readonly Pick<EntryRecord, "mint" | "kind" | "amount">[],
): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { mint, kind, amount } of entries) {
    sums.set(mint, (sums.get(mint) ?? 0n) + (kind === "deposit" ? amount : -amount));
  }
  return sums;
}

/** Foreign tokens, and the oldest block of their reading. */
export interface OtherMints {
  readonly slot: number;
  /** Raw units by the name of the mint, as decimal strings. */
  readonly balances: Readonly<Record<string, string>>;
}

/**
 * The foreign tokens that one node names, as it tells them: where to look. Of many mints the same few each time, in
 * whatever order they are listed.
 */
export function claimedOtherMints(
  assets: Pick<Assets, "ofMint">,
  holdings: readonly Pick<Holding, "mint" | "amount">[],
): OtherMints["balances"] {
  const foreign = holdings
    .filter(({ mint }) => assets.ofMint(mint) === null)
    .toSorted((one, other) => (one.mint < other.mint ? -1 : 1))
    .slice(0, MAX_MINTS);
  const wrapped = holdings.filter(({ mint }) => mint === SOL_MINT);
  const amounts = [...foreign, ...wrapped].map(({ mint, amount }) => [nameOfMint(mint), amount] as const);
  return withSome(0, amounts).balances;
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
 * Foreign tokens at finalized, as enough endpoints tell it, Token-2022 and frozen ones included. `claimed` is one node's
 * word about where to look: what that node leaves out is not found.
 */
export async function agreedOtherMints(
  { ledger }: Pick<OtherMintsLook, "ledger">,
  address: Address,
  claimed: OtherMints["balances"],
): Promise<OtherMints> {
  const wrapped = nameOfMint(SOL_MINT);
  const names = Object.keys(claimed);
  const mints = names.filter((name) => name !== wrapped).map(knownAddress);
  const readings = await Promise.all([
    ...(mints.length === 0 ? [] : [tokensOf(ledger, address, mints)]),
    ...(names.includes(wrapped) ? [wrappedSol(ledger, address)] : []),
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
    return await agreedOtherMints(look, address, claimedOtherMints(look.assets, holdings));
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    return { slot: 0, balances: {} };
  }
}
