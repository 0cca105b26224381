/** The local clock: the length of an epoch, and the account that tells the time in the block of an answer. */
import { CLOCK_BYTES, SYSVAR_OWNER } from "../solana/programs.ts";
import type { AccountState } from "./account-state.ts";

/** Mainnet's length of an epoch. The schedule has no warm-up, so that epoch n begins at slot n × this. */
export const SLOTS_PER_EPOCH = 432_000;

/** The times in the clock sysvar. */
interface SlotTimes {
  /** When a slot began, in Unix milliseconds. */
  timeOf(slot: number): number;
  /** Lamports that keep an account of so many bytes. */
  rentFor(dataLength: number): bigint;
}

/** The sysvar in the block of `slot`. */
export function clockSysvar(slot: number, chain: SlotTimes): AccountState {
  const epoch = Math.floor(slot / SLOTS_PER_EPOCH);
  const seconds = (at: number): bigint => BigInt(Math.floor(chain.timeOf(at) / 1000));
  const data = Buffer.alloc(CLOCK_BYTES);
  data.writeBigUInt64LE(BigInt(slot), 0);
  data.writeBigInt64LE(seconds(epoch * SLOTS_PER_EPOCH), 8);
  data.writeBigUInt64LE(BigInt(epoch), 16);
  data.writeBigUInt64LE(BigInt(epoch) + 1n, 24);
  data.writeBigInt64LE(seconds(slot), 32);
  return {
    lamports: chain.rentFor(CLOCK_BYTES),
    data: Uint8Array.from(data),
    owner: SYSVAR_OWNER,
    executable: false,
  };
}
