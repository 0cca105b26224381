/** Reads whether an operator has lowered the number of witnesses, and for how long that still holds. */
import type { PaymentStorage } from "../payment-storage.ts";
import type { Clock } from "../../runtime.ts";
import { rulesOf, SERVICE_GATE, type LoweredWitnesses } from "./rules.ts";

/** Where it is stored, and by whose time it ends. */
export interface LoweringParts {
  readonly storage: Pick<PaymentStorage, "gates">;
  readonly clock: Clock;
}

/** What holds now, null where the number is as configured. Nothing has to be done for it to end. */
export async function loweredWitnesses({ storage, clock }: LoweringParts): Promise<LoweredWitnesses | null> {
  const [gate] = await storage.gates([SERVICE_GATE]);
  const { lowered } = rulesOf(gate);
  return lowered !== null && isInForce(lowered, clock.now()) ? lowered : null;
}

/** A clock that was set back to before it began does not prolong it. */
export function isInForce({ since, until }: LoweredWitnesses, now: number): boolean {
  return since <= now && now < until;
}
