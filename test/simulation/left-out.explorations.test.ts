/** M7, E5: the process of a private order dies at any call while a payee is left out; each payee is paid once. */
// modules: private, webhooks
import { slots } from "./acts.ts";
import { KILLED_ONCE, testEveryDeath, type Plan } from "./every-death.ts";
import type { End, Flow } from "./flow.ts";
import { PRIVATE_HOUSE } from "./house.ts";
import { freeze, orderPrivately, payIn } from "./order-acts.ts";
import { sampled } from "../kit/thorough.ts";

const ORDER = "order";
const EXCESS = 3_000_000n;
const seen = slots(40);
const FAILED = ["transaction.pending", "transaction.failed"] as const;

const payees = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `payee ${index}`);

interface Payroll {
  readonly holds: string;
  readonly count: number;
  /** Whose account is frozen as soon as the order is taken, by index. */
  readonly frozen?: number;
  readonly more?: bigint;
  readonly end: End;
}

/** Half a USDC for each. */
function flowOf({ holds, count, frozen, more = 0n, end }: Payroll): Flow {
  const names = payees(count);
  const bad = frozen === undefined ? undefined : names[frozen];
  return {
    holds,
    house: PRIVATE_HOUSE,
    makes: ["broadcast"],
    ...(bad === undefined
      ? {}
      : { wallets: { [bad]: { usdc: 0n } }, before: { acts: [freeze(bad)], leaves: {} } }),
    acts: [orderPrivately(ORDER, "0.5", names), payIn(ORDER, (due) => due + more), seen],
    ends: { [ORDER]: [end] },
  };
}

const ONE_LEFT_OUT = flowOf({
  holds: "M7: of one chunk with a payee that fails, the others are paid once, and its amount goes back once",
  count: 3,
  frozen: 1,
  end: {
    status: "failed",
    reason: "PARTIAL_PAYOUT",
    refunds: 1,
    told: FAILED,
    paid: 500_000n,
    unpaid: [1],
  },
});

const REFUSED = flowOf({
  holds: "M7: an order whose only payee fails is refused, and all of it goes back once",
  count: 1,
  frozen: 0,
  end: { status: "failed", reason: "PAYOUT_FAILED", paid: 0n, refunds: 1, told: FAILED },
});

const LEFT_OUT_OF_TWO = flowOf({
  holds:
    "M7, P17: of two chunks one leaves a payee out, the others are paid once, and one refund brings back what is left and the excess",
  count: 8,
  frozen: 6,
  more: EXCESS,
  end: {
    status: "failed",
    reason: "PARTIAL_PAYOUT",
    refunds: 1,
    told: FAILED,
    paid: 500_000n,
    unpaid: [6],
  },
});

const SAMPLES: readonly (readonly [Flow, Plan])[] = [
  [ONE_LEFT_OUT, { memory: "rare", SQLite: "rare" }],
  [REFUSED, { SQLite: "rare" }],
  [LEFT_OUT_OF_TWO, { memory: "rare", SQLite: "rare" }],
];
for (const [flow, plan] of sampled(SAMPLES, "left out")) {
  testEveryDeath(flow, KILLED_ONCE, plan);
}
