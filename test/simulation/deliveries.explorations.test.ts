/** H7, I11: a delivery is killed at every call, its attempts included: duplicates are allowed, losses are not. */
// modules: private, webhooks
import type { NoticeEvent } from "../../src/payments/frame/notices/notice-body.ts";
import { answerWith, cutConnection } from "../kit/https-receiver.ts";
import { AMOUNT_UNITS, post, slots, time } from "./acts.ts";
import { KILLED_ONCE, testEveryDeath } from "./every-death.ts";
import type { Flow } from "./flow.ts";

const BROADCAST_DELAY_MS = 1_000;
const ALL: readonly NoticeEvent[] = ["transaction.pending", "transaction.confirmed", "transaction.completed"];
const NEVER = 1_000;
/** How many requests with each notice fail before one is taken. */
const FAILURES: Readonly<Partial<Record<NoticeEvent, number>>> = {
  "transaction.pending": 2,
  "transaction.confirmed": NEVER,
  "transaction.completed": 1,
};

const redelivery: Flow = {
  holds:
    "H7, I11: notices arrive in order, under one id and with the same bytes, or are given up after six attempts",
  options: { broadcastDelayMs: BROADCAST_DELAY_MS },
  receiver: (event, attempt) => {
    if (attempt > (FAILURES[event] ?? 0)) return answerWith(200);
    return attempt % 2 === 1 ? answerWith(500) : cutConnection;
  },
  // Taken already: what is killed is what follows from the broadcast on.
  before: { acts: [post("payment")], leaves: { payment: "accepted" } },
  acts: [time(BROADCAST_DELAY_MS), slots(2), slots(40)],
  ends: {
    payment: [{ status: "completed", paid: AMOUNT_UNITS, told: ALL, givenUp: ["transaction.confirmed"] }],
  },
};

testEveryDeath(redelivery, KILLED_ONCE, { memory: "some", SQLite: "few" });
