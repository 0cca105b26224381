/** E11: of two services on one database one is killed at every call; the other goes on within lease and poll. */
import { afterAll, beforeAll } from "vitest";
import { AMOUNT_UNITS, post, slots, time } from "./acts.ts";
import { TAKEN_OVER, testEveryDeath } from "./every-death.ts";
import type { Flow } from "./flow.ts";
import { surroundings, type Surroundings } from "./world.ts";

let around: Surroundings;
beforeAll(async () => {
  around = await surroundings();
});
afterAll(() => around.close());

const BROADCAST_DELAY_MS = 1_000;

const send: Flow = {
  holds: "E11: a send is paid once and every notice arrives",
  options: { broadcastDelayMs: BROADCAST_DELAY_MS },
  acts: [post("payment"), time(BROADCAST_DELAY_MS), slots(2), slots(40)],
  ends: {
    payment: [
      {
        status: "completed",
        paid: AMOUNT_UNITS,
        told: ["transaction.pending", "transaction.confirmed", "transaction.completed"],
      },
    ],
  },
};

testEveryDeath(send, TAKEN_OVER, () => around, { memory: "some", SQLite: "few" });
