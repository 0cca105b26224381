/** Lets the ledgers of all processes on the database tell each other how they use their endpoints. */
import type { EndpointUse, ExchangeUse } from "../../ledger/endpoint-use.ts";
import type { HitExchange } from "./hit-exchange.ts";

// Request windows are told by the same kind of reports, under other names.
const CALLS = "endpoint calls";
const RESTS = "endpoint rests";

/** Tells by reports of the database. `hits` must have no other user: each report is answered once. */
export function endpointUseBy(hits: HitExchange): ExchangeUse {
  return async ({ calls, rests }: EndpointUse) => {
    const told = await hits.exchange({ [CALLS]: calls, [RESTS]: rests });
    return told
      .filter(({ counts }) => CALLS in counts || RESTS in counts)
      .map(({ process, at, counts }) => ({
        process,
        at,
        calls: counts[CALLS] ?? {},
        rests: counts[RESTS] ?? {},
      }));
  };
}
