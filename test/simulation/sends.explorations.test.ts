/** E5, E11: the process of a send is killed at every single call it makes, before and after; the end is the same every time. */
// modules: private, webhooks
import { COMPLETED, post, slots, time, tryToCancel } from "./acts.ts";
import { KILLED_ONCE, TAKEN_OVER, testEveryDeath } from "./every-death.ts";
import type { Flow } from "./flow.ts";
import { dropping } from "../kit/odd-endpoints.ts";

const BROADCAST_DELAY_MS = 1_000;
const options = { broadcastDelayMs: BROADCAST_DELAY_MS };

const send: Flow = {
  holds: "E5: a send is paid once and every notice arrives",
  options,
  acts: [post("payment"), time(BROADCAST_DELAY_MS), slots(2), slots(40)],
  ends: {
    payment: [COMPLETED],
  },
};

const sendThatDies: Flow = {
  holds: "E5, W9: a send that no node ever takes is proved dead, paid to nobody and told so",
  options,
  faults: dropping,
  // Past the last valid height, and then past it at finalized: only that is proof.
  acts: [post("payment"), time(BROADCAST_DELAY_MS), slots(151), slots(40), slots(40)],
  ends: {
    payment: [
      {
        status: "failed",
        reason: "expired",
        paid: 0n,
        told: ["transaction.pending", "transaction.failed"],
      },
    ],
  },
};

const cancelInTime: Flow = {
  holds: "E5, W11: a cancellation is granted and the send never made, or refused and the send made once",
  options,
  acts: [
    post("payment"),
    // After a death it may be too late, and for a granted one it is.
    tryToCancel(
      "payment",
      { code: "ALREADY_PROCESSED", currentStatus: "pending" },
      { code: "CANNOT_CANCEL", currentStatus: "cancelled" },
    ),
  ],
  ends: {
    payment: [{ status: "cancelled", paid: 0n, told: [] }, COMPLETED],
  },
};

for (const flow of [send, sendThatDies]) {
  testEveryDeath(flow, KILLED_ONCE, { memory: "some", SQLite: "few" });
}
testEveryDeath(cancelInTime, KILLED_ONCE, { memory: "some", SQLite: "few" });
// Of two services on one database one is killed; the other goes on within lease and poll.
const takenOver: Flow = { ...send, holds: "E11: a send is paid once and every notice arrives" };
testEveryDeath(takenOver, TAKEN_OVER, { memory: "some", SQLite: "few" });
