/** Reads how much of an account's money its owner can move. */
import type { Account as AccountTold } from "../rpc/account.ts";
import type { Address } from "../../core/address.ts";
import { expectShape } from "../endpoint-failure.ts";
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../programs.ts";
import { programOf, readTokenAccount } from "../token-accounts.ts";

type Account = AccountTold | null | undefined;

/** Lamports that a plain transfer can move: zero for an account with data or of a program other than System. */
export function lamportsIn(account: Account): bigint {
  if (account?.owner !== SYSTEM_PROGRAM || account.data.length > 0) return 0n;
  expectShape(Number.isInteger(account.lamports) && account.lamports >= 0, "balance");
  return BigInt(account.lamports);
}

/**
 * Raw units of `mint` that `owner` holds in a token account of the Token program. Zero when the account now belongs to
 * a different owner. A frozen balance counts in full, although it cannot move.
 */
export function unitsIn(account: Account, owner: Address, mint: Address): bigint {
  if (account?.owner !== TOKEN_PROGRAM) return 0n;
  const held = readTokenAccount(account.data);
  return held?.mint === mint && held.owner === owner ? held.amount : 0n;
}

/** Raw units of `mint` in the account of either token program, whoever owns the account. */
export function unitsOfAnybody(account: Account, mint: Address): bigint {
  if (account === null || account === undefined || programOf(account.owner) === null) return 0n;
  const held = readTokenAccount(account.data);
  return held?.mint === mint ? held.amount : 0n;
}

// The state byte of a token account: 0 not initialised, 1 in use, 2 frozen.
const STATE_AT = 108;
const FROZEN = 2;

export function isFrozen({ data }: { readonly data: Buffer }): boolean {
  return data[STATE_AT] === FROZEN;
}
