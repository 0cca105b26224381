/** Seconds until every one of many payments that landed at once is told, from a node that takes its time. */
import { followTransfers } from "./followed-transfers.ts";
import { timed, type Report } from "./figures.ts";

const PAYMENTS = 3_000;
const LATENCIES_MS = [50, 200];

/** The node comes back from an outage during which all of them have become final. */
export async function benchLandings(report: Report): Promise<void> {
  for (const latencyMs of LATENCIES_MS) {
    await followTransfers(PAYMENTS, async ({ node, transfers, until }) => {
      for (const signature of transfers.signatures) node.chain.set(signature, "finalized");
      node.asked.length = 0;
      node.mostAtOnce = 0;
      node.latencyMs = latencyMs;
      const { seconds } = await timed(() => until(() => transfers.told("completed") >= PAYMENTS));
      report({
        name: `${PAYMENTS.toLocaleString("en")} landings, ${latencyMs} ms a call`,
        "seconds until all are told": seconds,
        "calls each": node.asked.length / PAYMENTS,
        "calls at once": node.mostAtOnce,
      });
    });
  }
}
