/** E5, W20: the process of a swap is killed at every call, in both modes; both legs move once. */
// modules: private, webhooks
import { slots } from "./acts.ts";
import { KILLED_ONCE, testEveryDeath } from "./every-death.ts";
import type { Flow } from "./flow.ts";
import { TRADING_HOUSE } from "./house.ts";
import { payIn, swapByWallet, swapPrivately } from "./order-acts.ts";

const SWAP = "swap";
const common = {
  house: TRADING_HOUSE,
  makes: ["commit", "sign", "broadcast", "attempt"],
  ends: {
    [SWAP]: [
      {
        status: "completed",
        paid: "as quoted",
        told: ["transaction.pending", "transaction.confirmed", "transaction.completed"],
      },
    ],
  },
} as const;

const byWallet: Flow = {
  ...common,
  holds: "E5, W20: a wallet's swap moves both legs once",
  acts: [swapByWallet(SWAP, "1"), slots(2), slots(40)],
};

const inPrivate: Flow = {
  ...common,
  holds: "E5, W20: a private swap moves both legs once",
  acts: [swapPrivately(SWAP, "1"), payIn(SWAP), slots(40)],
};

for (const flow of [byWallet, inPrivate]) {
  testEveryDeath(flow, KILLED_ONCE, { memory: "fewest" });
}
