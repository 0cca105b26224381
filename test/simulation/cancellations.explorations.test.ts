/** W11–W14: a cancellation in every state of a transaction is killed at every call it makes. */
// modules: private, webhooks
import type { NoticeEvent } from "../../src/payments/frame/notices/notice-body.ts";
import { AMOUNT_UNITS, cancel, failToCancel, post, slots, time, untilRest } from "./acts.ts";
import { KILLED_ONCE, testEveryDeath } from "./every-death.ts";
import type { Act, End, Flow } from "./flow.ts";
import { dropping } from "../kit/odd-endpoints.ts";

// Longer than a lease, so that who died before it was cancelled can still be cancelled by the next process.
const DELAY_MS = 20_000;
/** Slots until a blockhash is dead at finalized, with some to spare. */
const PAST_EXPIRY = 200;
const PAYMENT = "payment";
const ALL: readonly NoticeEvent[] = ["transaction.pending", "transaction.confirmed", "transaction.completed"];
const COMPLETED: End = { status: "completed", paid: AMOUNT_UNITS, told: ALL };
const CANCELLED: End = { status: "cancelled", paid: 0n, told: [] };
const FAILED: End = {
  status: "failed",
  reason: "expired",
  paid: 0n,
  told: ["transaction.pending", "transaction.failed"],
};

interface State {
  readonly name: string;
  readonly state: string;
  /** How a transaction gets there. */
  readonly reached: readonly Act[];
  readonly cancelling: Act;
  readonly end: End;
  readonly faults?: Flow["faults"];
}

const posted = post(PAYMENT);
const refusedAs = (currentStatus: string): Act =>
  failToCancel(PAYMENT, { code: "CANNOT_CANCEL", currentStatus });

const states: readonly State[] = [
  {
    name: "W11: accepted, and is granted",
    state: "accepted",
    reached: [posted],
    cancelling: cancel(PAYMENT),
    end: CANCELLED,
  },
  {
    name: "W13: broadcasting, and is refused as processed already",
    state: "broadcasting",
    reached: [posted, time(DELAY_MS)],
    cancelling: failToCancel(PAYMENT, { code: "ALREADY_PROCESSED", currentStatus: "pending" }),
    end: COMPLETED,
  },
  {
    name: "W14: confirmed, and is refused",
    state: "confirmed",
    reached: [posted, time(DELAY_MS), slots(2)],
    cancelling: refusedAs("confirmed"),
    end: COMPLETED,
  },
  {
    name: "W14: completed, and is refused",
    state: "completed",
    reached: [posted, untilRest],
    cancelling: refusedAs("completed"),
    end: COMPLETED,
  },
  {
    name: "W14: failed, and is refused",
    state: "expiredForGood",
    reached: [posted, untilRest],
    cancelling: refusedAs("failed"),
    end: FAILED,
    faults: dropping,
  },
  {
    name: "W14: cancelled, and is refused",
    state: "cancelled",
    reached: [posted, cancel(PAYMENT)],
    cancelling: refusedAs("cancelled"),
    end: CANCELLED,
  },
];

for (const { name, state, reached, cancelling, end, faults } of states) {
  const flow: Flow = {
    holds: `a cancellation comes while the transaction is ${name}`,
    options: { broadcastDelayMs: DELAY_MS },
    ...(faults === undefined ? {} : { faults }),
    before: { acts: reached, leaves: { [PAYMENT]: state } },
    // Whoever cancelled still owns the bytes: they are looked for until no chain takes them any more.
    acts: [cancelling, ...(end.status === "cancelled" ? [slots(PAST_EXPIRY)] : [])],
    ends: { [PAYMENT]: [end] },
  };
  testEveryDeath(flow, KILLED_ONCE, { memory: "some", SQLite: "few" });
}
