/** The chain's own clock account: read along with others, it says of which block they are. */
import type { AccountInfo } from "@solana/web3.js";
import { expectShape } from "../endpoint-failure.ts";

const SYSVAR_OWNER = "Sysvar1111111111111111111111111111111111111";
// Five 64-bit numbers: slot, start of the epoch, epoch, epoch of the leader schedule, Unix seconds.
const CLOCK_BYTES = 40;

/** A block's slot, and its time in Unix seconds. */
export interface BlockMoment {
  readonly slot: number;
  readonly blockTime: number;
}

/** Reads the account's bytes; throws `EndpointFailure` when they are no clock. */
export function readClock(account: AccountInfo<Buffer> | null | undefined): BlockMoment {
  const data = account?.owner.toBase58() === SYSVAR_OWNER ? account.data : undefined;
  expectShape(data?.length === CLOCK_BYTES, "clock");
  const slot = Number(data.readBigUInt64LE(0));
  const blockTime = Number(data.readBigInt64LE(32));
  expectShape(Number.isSafeInteger(slot) && Number.isSafeInteger(blockTime), "clock");
  return { slot, blockTime };
}
