/** An account's content at one moment, copied out of litesvm. */
import bs58 from "bs58";
import { SYSTEM_PROGRAM } from "../solana/programs.ts";
import type { Litesvm, NativeAccount } from "./litesvm.ts";

/** An account that exists. An absent account is `null` wherever this type is used. */
export interface AccountState {
  readonly lamports: bigint;
  readonly data: Uint8Array;
  /** Address of the owning program. */
  readonly owner: string;
  readonly executable: boolean;
}

/** The bytes of a base58 address of known good form. */
export function addressBytes(address: string): Uint8Array {
  return bs58.decode(address);
}

/** Copies an account out of litesvm, so that later transactions do not change it. */
export function fromNative(account: NativeAccount | null): AccountState | null {
  // An account without lamports does not exist on Solana; the runtime removes it at the end of a transaction.
  if (account === null || account.lamports() === 0n) return null;
  return {
    lamports: account.lamports(),
    data: Uint8Array.from(account.data()),
    owner: bs58.encode(account.owner()),
    executable: account.executable(),
  };
}

/** Copies all but the data. */
export function withoutData(account: NativeAccount): AccountState | null {
  const lamports = account.lamports();
  if (lamports === 0n) return null;
  const owner = bs58.encode(account.owner());
  return { lamports, data: new Uint8Array(), owner, executable: account.executable() };
}

/** The form litesvm takes. `null` becomes an account of 0 lamports, which litesvm treats as removal. */
export function toNative(litesvm: Litesvm, state: AccountState | null): NativeAccount {
  const { lamports, data, owner, executable } = state ?? ABSENT;
  return new litesvm.Account(lamports, data, addressBytes(owner), executable, 0n);
}

/** An account that does not exist, as Solana thinks of it. */
export const ABSENT: AccountState = {
  lamports: 0n,
  data: new Uint8Array(),
  owner: SYSTEM_PROGRAM,
  executable: false,
};
