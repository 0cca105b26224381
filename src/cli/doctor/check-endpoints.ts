/** Checks that each endpoint answers, serves the same chain as the other endpoints, and keeps up with them. */
import type { EndpointStatus } from "../../ledger/ledger.ts";
import type { Diagnosis } from "../../service/diagnosis.ts";
import { MAX_SLOTS_BEHIND } from "../../solana/health.ts";
import { fine, warning, wrong, type Finding } from "./finding.ts";

/** A finding for each endpoint, in the order configured. */
export function checkEndpoints({ genesisHash, endpoints }: Diagnosis): readonly Finding[] {
  const chain = genesisHash ?? endpoints.find((each) => each.genesisHash !== null)?.genesisHash ?? null;
  const isMeant = (each: EndpointStatus): boolean => each.slot !== null && each.genesisHash === chain;
  const newest = Math.max(0, ...endpoints.filter(isMeant).map(({ slot }) => slot ?? 0));
  const isAnyWell = endpoints.some(isMeant);
  return endpoints.map((endpoint) => {
    const check = `endpoint ${endpoint.endpoint}`;
    if (endpoint.genesisHash !== null && endpoint.genesisHash !== chain) {
      return wrong(check, {
        found: `serves another chain, ${endpoint.genesisHash}`,
        todo: "remove it from `endpoints`, or name that of the other chain",
      });
    }
    if (endpoint.slot === null) {
      const found = `does not answer: ${endpoint.trouble?.message ?? "no answer"}`;
      const todo = "look at its URL, its API key and its provider";
      return (isAnyWell ? warning : wrong)(check, { found, todo });
    }
    return checkPace(check, endpoint.slot, newest);
  });
}

function checkPace(check: string, slot: number, newest: number): Finding {
  const behind = newest - slot;
  const found = behind === 0 ? `answers, slot ${slot}` : `answers, slot ${slot}, ${behind} behind the newest`;
  if (behind <= MAX_SLOTS_BEHIND) return fine(check, found);
  return warning(check, { found, todo: "it is asked after the others: tell its provider, or replace it" });
}
