/** Reads the chain's clock account: read in one call with other accounts, the clock tells their block. */
import type { Account } from "../rpc/account.ts";
import { expectShape } from "../endpoint-failure.ts";
import { CLOCK_BYTES } from "../layouts.ts";
import type { FirmCommitment } from "../../ledger/reading.ts";
import type { Endpoint } from "../endpoint.ts";
import { CLOCK_SYSVAR, SYSVAR_OWNER } from "../programs.ts";

/** A block's slot, and its time in Unix seconds. */
export interface BlockTime {
  readonly slot: number;
  readonly blockTime: number;
}

/** Reads the account's bytes; throws `EndpointFailure` when they are no clock. */
export function readClock(account: Account | null | undefined): BlockTime {
  const data = account?.owner === SYSVAR_OWNER ? account.data : undefined;
  expectShape(data?.length === CLOCK_BYTES, "clock");
  const slot = Number(data.readBigUInt64LE(0));
  const blockTime = Number(data.readBigInt64LE(32));
  expectShape(Number.isSafeInteger(slot) && Number.isSafeInteger(blockTime), "clock");
  return { slot, blockTime };
}

/** The newest block of one endpoint. */
export async function readEnd(
  { rpc }: Pick<Endpoint, "rpc">,
  commitment: FirmCommitment,
): Promise<BlockTime> {
  const { accounts } = await rpc.getMultipleAccounts([CLOCK_SYSVAR], { commitment });
  return readClock(accounts[0]);
}
