/** Compares what a taker has before and after a run. */
import { type Address, addressOf, SOL_MINT } from "../../core/address.ts";
import type { ForeignSwap } from "../../ledger/foreign-swap.ts";
import { associatedTokenAccount } from "../derived-addresses.ts";
import { isTokenProgram, SYSTEM_PROGRAM } from "../programs.ts";
import { MAX_PRIORITY_FEE as MAX_COST } from "../read-instruction.ts";
import type { Account } from "../rpc/account.ts";
import { programOf, readTokenAccount } from "../token-accounts.ts";

/** An account before and after the run; null where there is none. */
export interface AccountChange {
  readonly address: string;
  readonly before: Account | null;
  readonly after: Account | null;
}

/** The terms, and the network's fee of the transaction in lamports. */
export interface PricedSwap extends ForeignSwap {
  readonly fee: bigint;
}

/** The cost of a run for the taker beside the input, in lamports. */
export interface SwapCost {
  /** The fee and what else leaves in SOL, such as a tip; 0 where SOL comes in, since both mix there. */
  readonly spent: bigint;
  /** The SOL that stays in the taker's token accounts: the rent of new ones. */
  readonly rent: bigint;
}

interface Holding {
  readonly mint: string;
  readonly amount: bigint;
  readonly lamports: bigint;
  /** All that gives somebody power over the account: program, delegate, state, close authority. */
  readonly powers: string;
  readonly isFree: boolean;
}

/** Whether a run may change what the taker has in this account: the wallet, a token account of its own, or a new account. */
export function isWatched(
  { address, before }: Omit<AccountChange, "after">,
  { taker }: ForeignSwap,
): boolean {
  return address === taker || !isThere(before) || holdingOf(before, taker) !== null;
}

/** Null when the taker lacks more than the terms say, or somebody has got power over an account of the taker. */
export function costOf(changes: readonly AccountChange[], swap: PricedSwap): SwapCost | null {
  const { taker, give, get, inputAmount, leastAmount, fee } = swap;
  const wallet = changes.find(({ address }) => address === taker);
  if (wallet?.after?.owner !== SYSTEM_PROGRAM || wallet.after.data.length > 0) return null;
  const held = changes.map((at) => ({
    at,
    before: holdingOf(at.before, taker),
    after: holdingOf(at.after, taker),
  }));
  if (!held.every(({ at, ...holdings }) => isStillTheTakers(at, holdings, taker))) return null;
  const change = (mint: string): bigint =>
    held.reduce((sum, { before, after }) => sum + amountOf(after, mint) - amountOf(before, mint), 0n);
  const mints = new Set(held.flatMap(({ before, after }) => [before?.mint ?? [], after?.mint ?? []].flat()));
  for (const mint of new Set([...mints, ...(get === null ? [] : [get])])) {
    // Wrapped SOL counts as SOL below, and none of it may be left wrapped that was not.
    const isKept =
      mint === SOL_MINT
        ? change(mint) <= 0n
        : change(mint) >= (mint === get ? leastAmount : mint === give ? -inputAmount : 0n);
    if (!isKept) return null;
  }
  const lamports = held.reduce(
    (sum, { before, after }) => sum + (after?.lamports ?? 0n) - (before?.lamports ?? 0n),
    BigInt(wallet.after.lamports) - BigInt(wallet.before?.lamports ?? 0),
  );
  const lost = (get === null ? leastAmount : 0n) - (give === null ? inputAmount : 0n) - lamports;
  // Where SOL comes in, whatever else left would be missing of it.
  if (lost > (get === null ? fee : MAX_COST) || fee > MAX_COST) return null;
  // SOL that is left in an account of tokens is the taker's, who has it back only where the account can be closed.
  const rent = held.reduce(
    (sum, { before, after }) =>
      after !== null && (before === null || after.mint !== SOL_MINT)
        ? sum + after.lamports - (before?.lamports ?? 0n)
        : sum,
    0n,
  );
  if (rent > MAX_COST) return null;
  return { spent: get === null || lost < 0n ? 0n : lost, rent };
}

/**
 * Whether the account gives nobody else more power than before. An account of wrapped SOL may be closed. An account that is
 * new at an address where others look for the taker's tokens belongs to the taker.
 */
function isStillTheTakers(
  { address, after: left }: AccountChange,
  { before, after }: { readonly before: Holding | null; readonly after: Holding | null },
  taker: Address,
): boolean {
  if (after !== null) {
    const isSame = before === null || before.mint === after.mint;
    return isSame && (after.isFree || after.powers === before?.powers);
  }
  if (before !== null) return before.mint === SOL_MINT && !isThere(left);
  const program = left === null ? null : programOf(left.owner);
  const read = left === null || program === null ? null : readTokenAccount(left.data);
  return read === null || program === null || address !== associatedTokenAccount(taker, read.mint, program);
}

function isThere(account: Account | null): boolean {
  return account !== null && (account.owner !== SYSTEM_PROGRAM || account.data.length > 0);
}

function amountOf(holding: Holding | null, mint: string): bigint {
  return holding?.mint === mint ? holding.amount : 0n;
}

const DELEGATE = { at: 72, length: 36 };
const STATE_AT = 108;
const IN_USE = 1;
const DELEGATED = { at: 121, length: 8 };
const CLOSE_AUTHORITY = { at: 129, length: 36 };

function holdingOf(account: Account | null, taker: string): Holding | null {
  if (account === null || !isTokenProgram(account.owner)) return null;
  const { data, lamports, owner: program } = account;
  const read = readTokenAccount(data);
  if (read?.owner !== taker) return null;
  const part = ({ at, length }: typeof DELEGATE): Buffer => data.subarray(at, at + length);
  const isNamed = (authority: typeof DELEGATE): boolean => data.readUInt32LE(authority.at) !== 0;
  return {
    mint: addressOf(data.subarray(0, 32)),
    amount: read.amount,
    lamports: BigInt(lamports),
    powers: [part(DELEGATE), part(DELEGATED), data.subarray(STATE_AT, STATE_AT + 1), part(CLOSE_AUTHORITY)]
      .map((bytes) => bytes.toString("hex"))
      .join(` ${program} `),
    isFree: data[STATE_AT] === IN_USE && !isNamed(DELEGATE) && !isNamed(CLOSE_AUTHORITY),
  };
}
