/** Reads whom operators let the ledger believe for a time: fewer witnesses, and which endpoints are out of service. */
import type { PaymentStorage } from "../payment-storage.ts";
import type { Clock } from "../../runtime.ts";
import { rulesOf, SERVICE_GATE, type LoweredWitnesses, type SuspendedEndpoint } from "./rules.ts";

/** Where it is stored, and by whose time it ends. */
export interface LoweringParts {
  readonly storage: Pick<PaymentStorage, "gates">;
  readonly clock: Clock;
}

/** What operators have set and what has not ended yet. Nothing has to be done for it to end. */
export interface BeliefRules {
  /** Null where the number of witnesses is as configured. */
  readonly lowered: LoweredWitnesses | null;
  readonly suspendedEndpoints: readonly SuspendedEndpoint[];
}

/** Reads what holds now. */
export async function beliefRules({ storage, clock }: LoweringParts): Promise<BeliefRules> {
  const [gate] = await storage.gates([SERVICE_GATE]);
  return beliefRulesAt(rulesOf(gate), clock.now());
}

/** The part of the rules that holds at this time. */
export function beliefRulesAt({ lowered, suspendedEndpoints }: BeliefRules, now: number): BeliefRules {
  return {
    lowered: lowered !== null && isInForce(lowered, now) ? lowered : null,
    suspendedEndpoints: suspendedEndpoints.filter((each) => isInForce(each, now)),
  };
}

/** Reads the lowered number of witnesses, null where it is as configured. */
export async function loweredWitnesses(parts: LoweringParts): Promise<LoweredWitnesses | null> {
  return (await beliefRules(parts)).lowered;
}

/** A clock that was set back to before it began does not prolong it. */
export function isInForce({ since, until }: Pick<LoweredWitnesses, "since" | "until">, now: number): boolean {
  return since <= now && now < until;
}
