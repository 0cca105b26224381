/** Reads the block height and the chain's clock, as several endpoints tell them. */
import type { FirmCommitment } from "../../ledger/reading.ts";
import type { RoutingLedger } from "../../ledger/routing.ts";
import { weigh } from "../agree.ts";
import type { NodeContext } from "../ask.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Account } from "../rpc/account.ts";
import { expectShape } from "../endpoint-failure.ts";
import { CLOCK_BYTES, CLOCK_SYSVAR, SYSVAR_OWNER } from "../programs.ts";

export interface NewestBlock {
  readonly slot: number;
  readonly blockHeight: number;
}

/** See `RoutingLedger.heights`. */
export async function heights(
  nodes: NodeContext,
  commitment: FirmCommitment,
): ReturnType<RoutingLedger["heights"]> {
  return await weigh(nodes, { of: "heights", question: endAt(commitment) }, (told) => {
    const found = told.map(({ blockHeight }) => blockHeight);
    return { agreed: agreedHeight(nodes, found), highest: Math.max(...found) };
  });
}

/** The height that as many endpoints as must agree have reached. */
function agreedHeight({ witnesses }: Pick<NodeContext, "witnesses">, told: readonly number[]): number {
  return told.toSorted((one, other) => other - one)[witnesses - 1] ?? Math.min(...told);
}

export const finalizedEnd = endAt("finalized");
export const confirmedEnd = endAt("confirmed");

/** Reads slot and height in one answer: two answers could come from two nodes behind one name. */
function endAt(commitment: FirmCommitment): (endpoint: Pick<Endpoint, "rpc">) => Promise<NewestBlock> {
  return async ({ rpc }) => {
    const { absoluteSlot, blockHeight } = await rpc.getEpochInfo(commitment);
    return { slot: absoluteSlot, blockHeight };
  };
}

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

export async function readEnd(
  { rpc }: Pick<Endpoint, "rpc">,
  commitment: FirmCommitment,
): Promise<BlockTime> {
  const dataSlice = { offset: 0, length: CLOCK_BYTES };
  const { accounts } = await rpc.getMultipleAccounts([CLOCK_SYSVAR], { commitment, dataSlice });
  return readClock(accounts[0]);
}
