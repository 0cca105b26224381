/** E5: a service starts with work of every kind left behind, and is killed at every call of its start, again and again. */
// modules: private, webhooks
import type { NoticeEvent } from "../../src/payments/frame/notices/notice-body.ts";
import { answerWith } from "../kit/https-receiver.ts";
import { AMOUNT_UNITS, cancel, post, slots, time } from "./acts.ts";
import { KILLED_AGAIN, testEveryDeath } from "./every-death.ts";
import type { Flow } from "./flow.ts";
import { LEASE_MS } from "./world.ts";

const ALL: readonly NoticeEvent[] = ["transaction.pending", "transaction.confirmed", "transaction.completed"];
const DELAY_MS = 20_000;

const startWithWork: Flow = {
  holds: "E5, W11: whatever was left behind at whatever stage is brought to its end once",
  options: { broadcastDelayMs: DELAY_MS },
  // The first request with each notice of the first payment fails, so that its deliveries wait for another attempt.
  receiver: (_event, attempt) => answerWith(attempt === 1 ? 500 : 200),
  before: {
    acts: [
      post("confirmed"),
      time(DELAY_MS),
      slots(2),
      post("cancelled"),
      cancel("cancelled"),
      post("broadcasting"),
      time(DELAY_MS / 2),
      post("accepted"),
      time(DELAY_MS / 2),
    ],
    // The point of no return of the second broadcast is passed, and no node has seen its bytes.
    death: { method: "broadcast", nth: 2, moment: "before" },
    leaves: {
      confirmed: "confirmed",
      cancelled: "cancelled",
      broadcasting: "broadcasting",
      accepted: "accepted",
    },
  },
  // Slots pass only after somebody lived as long as the leases of the dead: the bytes that nobody sent would expire.
  acts: [time(2 * LEASE_MS)],
  ends: {
    confirmed: [{ status: "completed", paid: AMOUNT_UNITS, told: ALL }],
    cancelled: [{ status: "cancelled", paid: 0n, told: [] }],
    broadcasting: [{ status: "completed", paid: AMOUNT_UNITS, told: ALL }],
    accepted: [{ status: "completed", paid: AMOUNT_UNITS, told: ALL }],
  },
};

testEveryDeath(startWithWork, KILLED_AGAIN, { memory: "fewest", SQLite: "fewest" });
