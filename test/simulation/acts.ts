/** The acts that flows are made of. */
// modules: webhooks
import { isPaymentError } from "../../src/errors/errors.ts";
import { signPayment } from "../kit/chain-fixture.ts";
import type { Act, End, Stage } from "./flow.ts";

/** What every payment of a simulation is worth: 1 USDC. */
export const AMOUNT = "1";
/** The same in base units. */
export const AMOUNT_UNITS = 1_000_000n;
/** How a payment ends that nothing is wrong with. */
export const COMPLETED: End = {
  status: "completed",
  paid: AMOUNT_UNITS,
  told: ["transaction.pending", "transaction.confirmed", "transaction.completed"],
};

// The slowest rest is that of six attempts at each of three notices, every minute of which is one jump.
const MAX_ROUNDS = 200;
/** What is watched now and then, long after anything has happened: whoever waits for time only may skip it. */
const LINGERING: ReadonlySet<string> = new Set(["activeOrders", "lateOrders", "slowOrders", "expired"]);
/** More slots than finality takes, and time for a few looks at them. */
const SLOTS_A_ROUND = 40;
const LOOK_MS = 3_000;
/** After so long no signed bytes of before can land: more slots pass than they live. */
const LONG_MS = 10 * 60_000;
const SLOTS_OF_BYTES = 200;

/** Alice quotes, signs and posts a send of this name, with the same keys and bytes however often it takes. */
export function post(payment: string): Act {
  return async ({ service, world: { caller, alice, recipient, taken } }) => {
    const request = { inputAsset: "USDC", outputAsset: "USDC", amount: AMOUNT, sender: alice.address };
    const recipients = [{ address: recipient(payment).address, amount: AMOUNT }];
    const quoted = { idempotencyKey: `quote-${payment}` };
    const { body: quote } = await service.createQuote(caller, { ...request, recipients }, quoted);
    const signedTransaction = signPayment(Buffer.from(quote.transaction ?? "", "base64"), alice.secretKey);
    const { body } = await service.createTransaction(
      caller,
      { type: "send", quoteId: quote.quoteId, sender: alice.address, recipients, signedTransaction },
      { idempotencyKey: `post-${payment}` },
    );
    taken.set(payment, body.transactionId);
  };
}

/** A cancellation that is granted, or was granted by a process that died before it could say so. */
export function cancel(payment: string): Act {
  return tryToCancel(payment, { code: "CANNOT_CANCEL", currentStatus: "cancelled" });
}

/** A cancellation that is refused with one of these codes and statuses, or granted when none of them holds yet. */
export function tryToCancel(payment: string, ...refusals: readonly Refusal[]): Act {
  return async (stage) => {
    const refused = await cancelNow(payment, stage);
    if (refused === null) {
      stage.world.cancelled.add(payment);
      return;
    }
    const isExpected = refusals.some(
      ({ code, currentStatus }) => code === refused.code && currentStatus === refused.currentStatus,
    );
    if (!isExpected) throw new Error(`${payment} was refused: ${JSON.stringify(refused)}`);
  };
}

/** A cancellation that is never granted, and refused in just this way. */
export function failToCancel(payment: string, { code, currentStatus }: Refusal): Act {
  return async (stage) => {
    const refused = await cancelNow(payment, stage);
    if (refused?.code !== code || refused.currentStatus !== currentStatus) {
      throw new Error(`${payment} was answered ${JSON.stringify(refused)}, not ${code} as ${currentStatus}`);
    }
  };
}

/** Null when it was granted. */
async function cancelNow(payment: string, { service, world }: Stage): Promise<Refusal | null> {
  try {
    await service.cancelTransaction(world.caller, world.taken.get(payment) ?? "");
    return null;
  } catch (error) {
    if (isPaymentError(error, "CANNOT_CANCEL") || isPaymentError(error, "ALREADY_PROCESSED")) {
      return { code: error.code, currentStatus: error.details.currentStatus };
    }
    throw error;
  }
}

/** How a cancellation may be refused. */
export interface Refusal {
  readonly code: "ALREADY_PROCESSED" | "CANNOT_CANCEL";
  readonly currentStatus: string;
}

/** Milliseconds pass. */
export function time(ms: number): Act {
  return ({ pass }) => pass(ms);
}

/** Slots pass. */
export function slots(count: number): Act {
  return (stage) => stage.slots(count);
}

/** Time and slots pass for as long as anything is left to do. */
export const untilRest: Act = async ({ world, pass, slots: letSlotsPass, isAtRest }) => {
  for (let round = 0; !(await isAtRest()); round++) {
    const now = world.fixture.clock.now();
    const due = await world.nextDue();
    const watched = [...(await world.watched())];
    if (round === MAX_ROUNDS) {
      const waits = due === null ? "nothing is due" : `something is due in ${due - now} ms`;
      const open = await world.open();
      throw new Error(`it never comes to rest: ${waits}, watched: ${watched.join()}, open: ${open.join()}`);
    }
    const isLooking = watched.some((kind) => !LINGERING.has(kind));
    const jump = due === null || isLooking ? LOOK_MS : Math.max(0, due - now);
    await pass(jump);
    await letSlotsPass(jump >= LONG_MS ? SLOTS_OF_BYTES : SLOTS_A_ROUND);
  }
};
