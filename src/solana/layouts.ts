/** Lengths of the accounts whose bytes are read, and where Token-2022 writes what an extended account is. */
import { TOKEN_ACCOUNT_BYTES } from "../ledger/routing.ts";

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
/** The values of that byte. */
export const ACCOUNT_TYPE = { mint: 1, tokenAccount: 2 } as const;
/** The clock: five 64-bit numbers: slot, start of the epoch, epoch, epoch of the leader schedule, Unix seconds. */
export const CLOCK_BYTES = 40;
