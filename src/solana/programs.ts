/** The ids of programs and of the chain's own accounts, base58, and the lengths of the accounts whose bytes are read. */
import { type TokenProgram, TOKEN_ACCOUNT_BYTES } from "../ledger/routing.ts";

/** Moves lamports; owns every wallet. */
export const SYSTEM_PROGRAM = "11111111111111111111111111111111";
/** The token program of USDC and USDT. */
export const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
/** Token-2022: shown in balances, never a payment asset. */
export const TOKEN_2022_PROGRAM = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";
export const PROGRAM_ID: Readonly<Record<TokenProgram, string>> = {
  token: TOKEN_PROGRAM,
  "token-2022": TOKEN_2022_PROGRAM,
};
/** Creates associated token accounts (ATA): one address per owner, mint and token program. */
export const ASSOCIATED_TOKEN_PROGRAM = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
/** Sets a transaction's compute limit and priority fee. */
export const COMPUTE_BUDGET_PROGRAM = "ComputeBudget111111111111111111111111111111";
/** Memo, second version. */
export const MEMO_PROGRAM = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";
/** Memo, first and second version: write a log line and check signers, nothing else. */
export const MEMO_PROGRAMS: ReadonlySet<string> = new Set([
  "Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo",
  MEMO_PROGRAM,
]);
/** Assertions that wallets append to protect their users; a failed one fails the transaction. */
export const LIGHTHOUSE_PROGRAM = "L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95";
/** Jupiter's aggregator, sixth version: swaps along a route of markets. */
export const JUPITER_PROGRAM = "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4";
/** Owns the accounts of programs that can be upgraded, and runs them. */
export const UPGRADEABLE_LOADER = "BPFLoaderUpgradeab1e11111111111111111111111";
/** Owns address lookup tables. */
export const LOOKUP_TABLE_PROGRAM = "AddressLookupTab1e1111111111111111111111111";
export const CLOCK_SYSVAR = "SysvarC1ock11111111111111111111111111111111";
/** The price of storage. */
export const RENT_SYSVAR = "SysvarRent111111111111111111111111111111111";
/** Owns the accounts in which the cluster keeps its clock and other facts of its own. */
export const SYSVAR_OWNER = "Sysvar1111111111111111111111111111111111111";
/** Owns the accounts by which validators switch features on. */
export const FEATURE_OWNER = "Feature111111111111111111111111111111111111";
export const TRANSACTIONS_V1_FEATURE = "txv1aq4pp281K9um3tnPgkfX8UqtFT6wcVW3hNezGLL";

/** Whether the id is one of the two token programs, whose accounts begin with the same layout. */
export function isTokenProgram(id: string): boolean {
  return id === TOKEN_PROGRAM || id === TOKEN_2022_PROGRAM;
}

export { TOKEN_ACCOUNT_BYTES };

/** A mint without extensions. */
export const MINT_BYTES = 82;
/** A multisig of a token program. Token-2022 never lets an extended account have this very length. */
export const MULTISIG_BYTES = 355;
/**
 * The first bytes of an account, enough to tell its kind: a whole mint or token account without its extensions, and
 * enough to tell all lengths apart. A stranger's account can be megabytes. Callers who ask for the same range share a
 * call.
 */
export const ACCOUNT_HEAD = { offset: 0, length: MULTISIG_BYTES + 1 };
/** Token-2022 pads an extended mint to the length of a token account; the type stands behind the base part of both. */
export const ACCOUNT_TYPE_OFFSET = TOKEN_ACCOUNT_BYTES;
export const ACCOUNT_TYPE = { mint: 1, tokenAccount: 2 } as const;
/** The clock: five 64-bit numbers: slot, start of the epoch, epoch, epoch of the leader schedule, Unix seconds. */
export const CLOCK_BYTES = 40;
