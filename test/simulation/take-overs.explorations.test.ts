/** E11: of two services on one database one is killed at every call; the other goes on within lease and poll. */
// modules: private
import { COMPLETED, post, slots, time } from "./acts.ts";
import { TAKEN_OVER, testEveryDeath } from "./every-death.ts";
import type { Flow } from "./flow.ts";

const BROADCAST_DELAY_MS = 1_000;

const send: Flow = {
  holds: "E11: a send is paid once and every notice arrives",
  options: { broadcastDelayMs: BROADCAST_DELAY_MS },
  acts: [post("payment"), time(BROADCAST_DELAY_MS), slots(2), slots(40)],
  ends: {
    payment: [COMPLETED],
  },
};

testEveryDeath(send, TAKEN_OVER, { memory: "some", SQLite: "few" });
