/** Narrows a webhook whose attempts all time out to one at a time, so that it keeps few places for ten seconds each. */
import type { WebhookRecord } from "../records.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { EffectOutcome } from "../../engine/index.ts";

/** After so many attempts in a row that timed out. */
const MAX_TIMEOUTS = 3;

/** What is committed with the end of an attempt. */
export type Narrowing = Pick<EffectOutcome<never, never>, "narrowLaneTo"> & {
  readonly writes: readonly PaymentWrite[];
};

const NOTHING: Narrowing = { writes: [] };

/**
 * What follows for the webhook from an attempt that has ended. The count is written over, never refused: a refused outcome would
 * send the notice again. Attempts that end at one moment may count as one, and narrow it an attempt later.
 */
export async function narrowingAfter(
  storage: Pick<PaymentStorage, "webhook">,
  { id, timeouts: before }: WebhookRecord,
  hasTimedOut: boolean,
): Promise<Narrowing> {
  if (!hasTimedOut) return before === 0 ? NOTHING : { writes: [counted(id, 0)], narrowLaneTo: null };
  // Others may have ended while this one was waiting.
  const timeouts = ((await storage.webhook(id))?.timeouts ?? before) + 1;
  if (timeouts < MAX_TIMEOUTS) return { writes: [counted(id, timeouts)] };
  // Each further one writes both again: an attempt that did not time out may have widened the lane since the count was read.
  return { writes: [counted(id, MAX_TIMEOUTS)], narrowLaneTo: 1 };
}

function counted(id: string, timeouts: number): PaymentWrite {
  return { table: "webhooks", id, set: { timeouts } };
}
