/** Reads the block height, as several endpoints tell it. */
import type { Evidence } from "../../ledger/belief.ts";
import type { FirmCommitment } from "../../ledger/reading.ts";
import type { BlockHeights } from "../../ledger/routing.ts";
import { weigh } from "../agree.ts";
import type { NodeContext } from "../ask.ts";
import type { Endpoint } from "../endpoint.ts";

/** The newest block of one endpoint. */
export interface NewestBlock {
  readonly slot: number;
  readonly blockHeight: number;
}

/** See `RoutingLedger.heights`. */
export async function heights(
  nodes: NodeContext,
  commitment: FirmCommitment,
): Promise<Evidence<BlockHeights>> {
  return await weigh(nodes, endAt(commitment), (told) => {
    const found = told.map(({ blockHeight }) => blockHeight);
    return { lowest: Math.min(...found), agreed: agreedHeight(nodes, found), highest: Math.max(...found) };
  });
}

/** The height that as many endpoints as must agree have reached. */
export function agreedHeight({ witnesses }: Pick<NodeContext, "witnesses">, told: readonly number[]): number {
  return told.toSorted((one, other) => other - one)[witnesses - 1] ?? Math.min(...told);
}

/** The newest finalized block of one endpoint. */
export const finalizedEnd = endAt("finalized");
/** The newest confirmed block of one endpoint. */
export const confirmedEnd = endAt("confirmed");

/** Reads slot and height in one answer: two answers could come from two nodes behind one name. */
function endAt(commitment: FirmCommitment): (endpoint: Pick<Endpoint, "rpc">) => Promise<NewestBlock> {
  return async ({ rpc }) => {
    const { absoluteSlot, blockHeight } = await rpc.getEpochInfo(commitment);
    return { slot: absoluteSlot, blockHeight };
  };
}
