/** Counts the endpoints that are there to agree. */
import type { Evidence } from "../ledger/belief.ts";
import type { WitnessCount } from "../ledger/ledger.ts";
import { gather } from "./agree.ts";
import type { NodeContext } from "./ask.ts";
import { MAX_SLOTS_BEHIND } from "./health.ts";

/** See `Ledger.witnesses`. */
export async function witnessCount(nodes: NodeContext): Promise<Evidence<WitnessCount>> {
  return await gather(
    nodes,
    ({ rpc }) => rpc.getSlot("finalized"),
    (slots) => {
      const newest = Math.max(0, ...slots);
      const answering = slots.filter((slot) => newest - slot <= MAX_SLOTS_BEHIND).length;
      return { needed: nodes.witnesses, answering };
    },
  );
}
