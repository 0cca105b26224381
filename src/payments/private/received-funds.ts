/**
 * Reads the money that a deposit address received from outside, also in token accounts other than the associated ones.
 */
import type { EntryRecord } from "../tables/deposits.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import type { Address } from "../../address.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { ledgerMint, type Assets } from "../assets/assets.ts";
import { allStrayDeposits } from "./collect-strays.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { Funds } from "../../ledger/routing.ts";

/** Money received, in base units, in the order of the assets. */
export interface ReceivedFunds {
  readonly amounts: readonly bigint[];
  /** The part of the money that is there now. */
  readonly there: readonly bigint[];
  /** The part of the money that was recorded as deposits before. */
  readonly written: readonly bigint[];
  /** Payments out of the address that landed later may not show in what is there. */
  readonly slot: number;
  /** Token accounts that are not the associated ones and hold a part of it. */
  readonly strays: readonly Address[];
}

/**
 * Money received of each asset: the recorded deposits, or the present finalized balance plus all money sent out,
 * whichever is larger: money may have arrived since the last record, and the address itself may have paid rent that is
 * not recorded yet. The parts are read one after another, so a payment that lands meanwhile may count twice.
 */
export async function receivedFunds(
  {
    storage,
    ledger,
    assets,
  }: {
    readonly storage: Pick<PaymentStorage, "entries">;
    readonly ledger: Ledger;
    readonly assets: Assets;
  },
  address: Address,
): Promise<ReceivedFunds> {
  const mints = assets.tokens.map(ledgerMint).filter((mint) => mint !== null);
  const [{ slot, funds }, { slot: straysSlot, deposits: strays }, entries] = await Promise.all([
    ledger.funds([address], mints, "finalized"),
    allStrayDeposits({ ledger, assets }, address, { among: assets.tokens, commitment: "finalized" }),
    storage.entries(address),
  ]);
  const held = creditedAmounts(funds[0]);
  const there = assets.tokens.map(({ mint }, index) => {
    const beside = sumOf(strays.filter((each) => each.mint === mint));
    return (held[index] ?? 0n) + beside;
  });
  const amounts = assets.tokens.map(({ mint }, index) => cameOf(entries, mint, there[index] ?? 0n));
  const written = assets.tokens.map(({ mint }) => writtenOf(entries, mint));
  const accounts = strays.map((each) => each.address);
  return { amounts, there, written, slot: Math.min(slot, straysSlot), strays: accounts };
}

/** `ReceivedFunds` reduced to recorded money. */
export function writtenPart({ amounts, there, written, ...rest }: ReceivedFunds): ReceivedFunds {
  const known = amounts.map((amount, index) => least(amount, written[index] ?? 0n));
  const left = there.map((units, index) => {
    const news = (amounts[index] ?? 0n) - (known[index] ?? 0n);
    return units > news ? units - news : 0n;
  });
  return { ...rest, amounts: known, there: left, written };
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

function writtenOf(entries: readonly EntryRecord[], mint: string): bigint {
  return sumOf(entries.filter((each) => each.mint === mint && each.kind === "deposit"));
}

/** The total received of a mint, by the ledger of the address and by the present balance. */
export function cameOf(entries: readonly EntryRecord[], mint: string, there: bigint): bigint {
  const lines = entries.filter((each) => each.mint === mint);
  const written = writtenOf(entries, mint);
  const lent = sumOf(lines.filter(({ kind }) => kind === "loan"));
  const gone = sumOf(lines.filter(({ kind }) => kind !== "deposit" && kind !== "loan"));
  const shown = there + gone - lent;
  return shown > written ? shown : written;
}

function sumOf(lines: readonly Pick<EntryRecord, "amount">[]): bigint {
  return lines.reduce((sum, { amount }) => sum + amount, 0n);
}

/** Base units of SOL and then of each mint asked for. Empty where the reading does not have the address. */
export function creditedAmounts(funds: Evidence<Funds> | undefined): readonly bigint[] {
  return funds === undefined ? [] : [funds.lamports, ...funds.tokens];
}
