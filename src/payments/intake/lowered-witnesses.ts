/** Reads whom operators let the ledger believe for a time: fewer witnesses, and which endpoints are out of service. */
import type { PaymentStorage } from "../payment-storage.ts";
import { storageTime } from "../storage-time.ts";
import type { Clock } from "../../runtime.ts";
import { rulesOf, SERVICE_GATE, type LoweredWitnessRule, type SuspendedEndpoint } from "./rules.ts";

/** Where it is stored, and by whose time it ends. */
export interface LoweringParts {
  readonly storage: Pick<PaymentStorage, "gates" | "time">;
  readonly clock: Clock;
}

/** What operators have set and what has not ended yet. Nothing has to be done for it to end. */
export interface BeliefRules {
  /** Null where the number of witnesses is as configured. */
  readonly lowered: LoweredWitnessRule | null;
  readonly suspendedEndpoints: readonly SuspendedEndpoint[];
}

/** What holds, and how far the clock by which it holds is ahead of that of this process. */
export interface BeliefReading {
  readonly rules: BeliefRules;
  readonly aheadMs: number;
}

/** Reads what holds by the clock of the storage: those of processes may differ. */
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
