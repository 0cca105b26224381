/** E5, E12: the process of a private order is killed at every call; everybody is paid once and gets back the rest once. */
// modules: private, webhooks
import { cancel, slots } from "./acts.ts";
import { KILLED_ONCE, testEveryDeath } from "./every-death.ts";
import type { Flow } from "./flow.ts";
import { PRIVATE_HOUSE } from "./house.ts";
import { payIn, orderPrivately } from "./order-acts.ts";
import { sampled } from "../kit/thorough.ts";

const ORDER = "order";
const makes = ["commit", "sign", "broadcast", "attempt"];
const seen = slots(40);

const send: Flow = {
  holds:
    "E5, E12: a private send pays its payee once, gives back once what was too much, and ends at nothing",
  house: PRIVATE_HOUSE,
  makes,
  acts: [orderPrivately(ORDER, "5", ["bob"]), payIn(ORDER, (due) => due + 3_000_000n), seen],
  ends: {
    [ORDER]: [
      {
        status: "completed",
        paid: 5_000_000n,
        refunds: 1,
        told: ["transaction.pending", "transaction.confirmed", "transaction.completed"],
      },
    ],
  },
};

const late: Flow = {
  holds: "E5, P6: what comes for a cancelled order goes back once, and nobody is paid",
  house: PRIVATE_HOUSE,
  makes,
  acts: [orderPrivately(ORDER, "5", ["bob"]), cancel(ORDER), payIn(ORDER), seen],
  ends: { [ORDER]: [{ status: "cancelled", paid: 0n, refunds: 1, told: ["transaction.pending"] }] },
};

for (const flow of sampled([send, late], "private orders")) {
  testEveryDeath(flow, KILLED_ONCE, { memory: "fewest", SQLite: "rare" });
}
