/** Counting at a deposit address: what came in is seen from levels, never from single transfers. */
import type { Movement } from "./private-messages.ts";

/** Base units as decimal strings, by mint. */
export type Amounts = Readonly<Record<string, string>>;

/** The sums of an address, by mint. */
export interface DepositTally {
  /** The total received from outside. */
  readonly received: Amounts;
  /** The total sent out, minus loans received. */
  readonly spent: Amounts;
  /** From this slot on, balances show everything in `spent`. */
  readonly settledSlot: number;
}

/** A finalized block's view of an address. */
export interface Reading {
  readonly slot: number;
  readonly balances: Amounts;
}

interface Expected {
  readonly mint: string;
  readonly smallest: Amounts;
}

/**
 * A tenth of the smallest deposit: sending less costs the sender more than its worth, and must not cost us a write.
 * Such money is not lost, since readings are totals: the next reading includes it.
 */
const NOTABLE_PART = 10n;

/** The total received by this reading: the present balance plus the money sent out. The total never shrinks. */
function receivedOf({ spent, received: all }: DepositTally, { balances }: Reading, mint: string): bigint {
  const now = BigInt(balances[mint] ?? "0") + BigInt(spent[mint] ?? "0");
  const before = BigInt(all[mint] ?? "0");
  return now > before ? now : before;
}

/** A reading from before our own last payment shows what is gone. */
function isRecent({ settledSlot }: DepositTally, { slot }: Reading): boolean {
  return slot >= settledSlot;
}

/** The money received, by this reading. */
export function received(levels: DepositTally, reading: Reading): Amounts {
  if (!isRecent(levels, reading)) return levels.received;
  const mints = new Set([...Object.keys(reading.balances), ...Object.keys(levels.received)]);
  return Object.fromEntries([...mints].map((mint) => [mint, String(receivedOf(levels, reading, mint))]));
}

/** Whether the reading shows noticeably more than known. */
export function isNews(levels: DepositTally & Expected, reading: Reading): boolean {
  return (
    isRecent(levels, reading) &&
    Object.entries(levels.smallest).some(
      ([mint, smallest]) =>
        receivedOf(levels, reading, mint) - BigInt(levels.received[mint] ?? "0") >=
        BigInt(smallest) / NOTABLE_PART,
    )
  );
}

/** Anybody can make mints and send of them: an address counts so many that are none of the assets. */
const MOST_OTHER_MINTS = 10;

/** The money received, by a reading of mints that are none of the assets. */
export function withOthers(levels: DepositTally & Expected, reading: Reading): Amounts {
  const { received: all, smallest } = levels;
  if (!isRecent(levels, reading)) return all;
  const known = Object.keys(all).filter((mint) => smallest[mint] === undefined);
  const fresh = Object.keys(reading.balances).filter((mint) => all[mint] === undefined);
  const counted = [...known, ...fresh.slice(0, Math.max(0, MOST_OTHER_MINTS - known.length))];
  const totals = counted.map((mint) => [mint, String(receivedOf(levels, reading, mint))] as const);
  return { ...all, ...Object.fromEntries(totals) };
}

/** Whether the reading of such mints shows more than known. */
export function areMoreOthers(levels: DepositTally & Expected, reading: Reading): boolean {
  return Object.entries(withOthers(levels, reading)).some(([mint, total]) => total !== levels.received[mint]);
}

/** Whether the money received of the expected asset is at least this much. */
export function holds(levels: DepositTally & Expected, reading: Reading, amount: string): boolean {
  return isRecent(levels, reading) && receivedOf(levels, reading, levels.mint) >= BigInt(amount);
}

/** Whether the money received of the expected asset counts as a deposit. */
export function isDeposit(levels: DepositTally & Expected, reading: Reading): boolean {
  return holds(levels, reading, levels.smallest[levels.mint] ?? "0");
}

/**
 * The sums by a reading that shows every payment of ours and nothing under way. What is missing of the rent's asset then,
 * the address itself has paid for a recipient's token account.
 */
export function accounted(
  levels: DepositTally & { readonly rentMint: string },
  reading: Reading,
): Pick<DepositTally, "received" | "spent"> {
  const all = received(levels, reading);
  const { rentMint, spent } = levels;
  const gone = BigInt(all[rentMint] ?? "0") - BigInt(reading.balances[rentMint] ?? "0");
  const isShort = isRecent(levels, reading) && gone > BigInt(spent[rentMint] ?? "0");
  return { received: all, spent: isShort ? { ...spent, [rentMint]: String(gone) } : spent };
}

/** The money sent out, with these movements. */
export function spend(spent: Amounts, movements: readonly Movement[]): Amounts {
  const sums: Record<string, string> = { ...spent };
  for (const { kind, mint, amount } of movements) {
    const change = kind === "loan" ? -BigInt(amount) : BigInt(amount);
    sums[mint] = String(BigInt(sums[mint] ?? "0") + change);
  }
  return sums;
}
