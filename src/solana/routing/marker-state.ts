/** Reads the state of a marker from its account. */
import type { Account } from "../rpc/account.ts";
import { addressOf, SOL_MINT, type Address } from "../../address.ts";
import { TOKEN_ACCOUNT_BYTES, type Marker } from "../../ledger/routing.ts";
import { expectShape } from "../endpoint-failure.ts";
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../programs.ts";
import { readTokenAccount } from "../token-accounts.ts";

// The delegate of a token account: a tag of four bytes, and the key.
const DELEGATE_TAG_AT = 72;
const DELEGATE_AT = 76;
const DELEGATE_END = 108;
const NO_DELEGATE = 0;
const A_DELEGATE = 1;

// The state byte of a token account: 0 not initialised, 1 in use, 2 frozen.
const STATE_AT = 108;
const IN_USE = 1;

/**
 * A marker of `base` as one endpoint reports it. Lamports without data make no marker. Any other account is impossible
 * at such an address, so the endpoint is wrong: `disputed`.
 */
export function markerIn(account: Account | null | undefined, base: Address): Marker {
  if (account === null || account === undefined) return "unmade";
  const { data, lamports } = account;
  const program = account.owner;
  if (program === SYSTEM_PROGRAM && data.length === 0) return "unmade";
  if (program !== TOKEN_PROGRAM || data.length !== TOKEN_ACCOUNT_BYTES) return "disputed";
  const held = readTokenAccount(data);
  if (held?.mint !== SOL_MINT || held.owner !== base || data[STATE_AT] !== IN_USE) return "disputed";
  expectShape(Number.isInteger(lamports) && lamports > 0, "balance");
  switch (data.readUInt32LE(DELEGATE_TAG_AT)) {
    case NO_DELEGATE:
      return { delegate: null, lamports: BigInt(lamports) };
    case A_DELEGATE: {
      const delegate = addressOf(data.subarray(DELEGATE_AT, DELEGATE_END));
      return { delegate, lamports: BigInt(lamports) };
    }
    default:
      return "disputed";
  }
}
