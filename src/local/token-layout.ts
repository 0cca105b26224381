/** The byte layout of mints and token accounts, of SPL Token and of Token-2022. */
import bs58 from "bs58";
import {
  ACCOUNT_TYPE,
  ACCOUNT_TYPE_OFFSET,
  MINT_BYTES,
  MULTISIG_BYTES,
  TOKEN_ACCOUNT_BYTES,
  isTokenProgram,
  TOKEN_2022_PROGRAM,
} from "../solana/programs.ts";
import type { AccountState } from "./account-state.ts";

const ACCOUNT_STATES = ["uninitialized", "initialized", "frozen"] as const;

/** A mint's content. */
interface Mint {
  readonly program: string;
  readonly mintAuthority: string | null;
  readonly supply: bigint;
  readonly decimals: number;
  readonly isInitialized: boolean;
  readonly freezeAuthority: string | null;
}

/** A token account's content. */
export interface TokenAccount {
  readonly program: string;
  readonly mint: string;
  readonly owner: string;
  readonly amount: bigint;
  readonly delegate: string | null;
  readonly state: (typeof ACCOUNT_STATES)[number];
  /** The rent reserve of a wrapped SOL account in lamports, `null` for other tokens. */
  readonly nativeReserve: bigint | null;
  readonly delegatedAmount: bigint;
  readonly closeAuthority: string | null;
}

/** The token account in `account`, if any. */
export function readTokenAccount(account: AccountState | null): TokenAccount | undefined {
  if (!holds(account, TOKEN_ACCOUNT_BYTES, ACCOUNT_TYPE.tokenAccount)) return undefined;
  const data = Buffer.from(account.data);
  const state = ACCOUNT_STATES[data.readUInt8(108)];
  if (state === undefined || state === "uninitialized") return undefined;
  return {
    program: account.owner,
    mint: addressAt(data, 0),
    owner: addressAt(data, 32),
    amount: data.readBigUInt64LE(64),
    delegate: optional(data, 72, addressAt),
    state,
    nativeReserve: optional(data, 109, (bytes, offset) => bytes.readBigUInt64LE(offset)),
    delegatedAmount: data.readBigUInt64LE(121),
    closeAuthority: optional(data, 129, addressAt),
  };
}

/** The mint in `account`, if any. */
export function readMint(account: AccountState | null): Mint | undefined {
  if (!holds(account, MINT_BYTES, ACCOUNT_TYPE.mint)) return undefined;
  const data = Buffer.from(account.data);
  return {
    program: account.owner,
    mintAuthority: optional(data, 0, addressAt),
    supply: data.readBigUInt64LE(36),
    decimals: data.readUInt8(44),
    isInitialized: data.readUInt8(45) === 1,
    freezeAuthority: optional(data, 46, addressAt),
  };
}

/** The bytes of a new mint without supply, whose `authority` may mint and freeze. */
export function encodeMint(mint: { authority: Uint8Array; decimals: number }): Uint8Array {
  const data = Buffer.alloc(MINT_BYTES);
  data.writeUInt32LE(1, 0);
  data.set(mint.authority, 4);
  data.writeUInt8(mint.decimals, 44);
  data.writeUInt8(1, 45);
  data.writeUInt32LE(1, 46);
  data.set(mint.authority, 50);
  return Uint8Array.from(data);
}

function holds(account: AccountState | null, length: number, type: number): account is AccountState {
  if (account === null || !isTokenProgram(account.owner)) return false;
  if (account.data.length === length) return true;
  if (account.data.length === MULTISIG_BYTES) return false;
  const isExtended = account.owner === TOKEN_2022_PROGRAM && account.data.length > ACCOUNT_TYPE_OFFSET;
  return isExtended && account.data[ACCOUNT_TYPE_OFFSET] === type;
}

function addressAt(data: Buffer, offset: number): string {
  return bs58.encode(data.subarray(offset, offset + 32));
}

/** A field behind a 4-byte tag that says whether the field is present. */
function optional<T>(data: Buffer, offset: number, read: (data: Buffer, offset: number) => T): T | null {
  return data.readUInt32LE(offset) === 1 ? read(data, offset + 4) : null;
}
