/** Reads the finalized block height, as several endpoints tell it. */
import type { Agreed } from "../../ledger/belief.ts";
import type { Heights } from "../../ledger/routing.ts";
import { weigh } from "../agree.ts";
import type { Nodes } from "../ask.ts";
import type { Endpoint } from "../endpoint.ts";

/** The newest finalized block of one endpoint. */
export interface FinalizedEnd {
  readonly slot: number;
  readonly blockHeight: number;
}

/** See `RoutingLedger.heights`. */
export async function heights(nodes: Nodes): Promise<Agreed<Heights>> {
  return await weigh(nodes, finalizedEnd, (told) => {
    const found = told.map(({ blockHeight }) => blockHeight);
    return { lowest: Math.min(...found), agreed: agreedHeight(nodes, found), highest: Math.max(...found) };
  });
}

/** The height that as many endpoints as must agree have reached, of those that they tell. */
export function agreedHeight({ witnesses }: Pick<Nodes, "witnesses">, told: readonly number[]): number {
  return told.toSorted((one, other) => other - one)[witnesses - 1] ?? Math.min(...told);
}

/** Slot and height in one answer: asked one after the other, they could be of two nodes behind one name. */
export async function finalizedEnd({ rpc }: Pick<Endpoint, "rpc">): Promise<FinalizedEnd> {
  const { absoluteSlot, blockHeight } = await rpc.getEpochInfo("finalized");
  return { slot: absoluteSlot, blockHeight };
}
