/** Reads whom operators let the ledger believe for a time: fewer witnesses, and which endpoints are out of service. */
import type { PaymentStorage } from "../payment-storage.ts";
import { storageTime } from "../service-context.ts";
import type { Clock } from "../../runtime.ts";
import { rulesOf, SERVICE_GATE, type LoweredWitnessRule, type SuspendedEndpoint } from "./rules.ts";

/** The storage of lowered witnesses, and the clock that ends them. */
export interface LoweringParts {
  readonly storage: Pick<PaymentStorage, "gates" | "time">;
  readonly clock: Clock;
}

/** Settings of operators that have not ended yet. Settings end by themselves. */
export interface BeliefRules {
  /** Null where the number of witnesses is as configured. */
  readonly lowered: LoweredWitnessRule | null;
  readonly suspendedEndpoints: readonly SuspendedEndpoint[];
}

/** The present settings, and the lead of the storage's clock over the clock of this process. */
export interface BeliefReading {
  readonly rules: BeliefRules;
  readonly aheadMs: number;
}

/** Reads the present settings by the clock of the storage, since clocks of processes may differ. */
export async function readBeliefRules(parts: LoweringParts): Promise<BeliefReading> {
  const [gate] = await parts.storage.gates([SERVICE_GATE]);
  const now = await storageTime(parts);
  return { rules: beliefRulesAt(rulesOf(gate), now), aheadMs: now - parts.clock.now() };
}

/** The rules that hold now. */
export async function beliefRules(parts: LoweringParts): Promise<BeliefRules> {
  return (await readBeliefRules(parts)).rules;
}

/** The part of the rules that holds at this time. */
export function beliefRulesAt({ lowered, suspendedEndpoints }: BeliefRules, now: number): BeliefRules {
  return {
    lowered: lowered !== null && isInForce(lowered, now) ? lowered : null,
    suspendedEndpoints: suspendedEndpoints.filter((each) => isInForce(each, now)),
  };
}

/** Reads the lowered number of witnesses, null where it is as configured. */
export async function loweredWitnesses(parts: LoweringParts): Promise<LoweredWitnessRule | null> {
  return (await beliefRules(parts)).lowered;
}

/** A clock that was set back to before it began does not prolong it. */
export function isInForce(
  { since, until }: Pick<LoweredWitnessRule, "since" | "until">,
  now: number,
): boolean {
  return since <= now && now < until;
}
