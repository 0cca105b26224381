/** The chart of a deposit address, pure: its whole table, its levels, and who may have what is left. */
import fc from "fast-check";
import { initialTransition, transition, type EventFromLogic, type SnapshotFrom } from "xstate";
import { describe, expect, test } from "vitest";
import { depositAddress } from "paystate/machines";
import { checkTable, placeOf, shortestPaths } from "./chart-table.ts";
import { effectsOf } from "./pure-steps.ts";

type Event = EventFromLogic<typeof depositAddress>;
type Snapshot = SnapshotFrom<typeof depositAddress>;

const MINUTE = 60_000;
const input = {
  address: "address",
  order: "tx_1",
  mint: "usdc",
  required: "5000",
  smallest: { usdc: "1000", sol: "1000000" },
  rentMint: "sol",
  expiresAt: 1_000,
  lingerMs: 15 * MINUTE,
  agingMs: 60 * MINUTE,
  quietMs: 86_400_000,
  slowMs: 5_184_000_000,
  refundPauseMs: 10 * MINUTE,
  sponsorCap: "100",
  isScreened: false,
} as const;

const reading = (usdc: string, slot = 10, blockTime = 500): Event => ({
  type: "BALANCES_READ",
  slot,
  blockTime,
  balances: { usdc, sol: "0" },
});
const empty = { slot: 100, balances: { usdc: "0", sol: "0" } };
const landed = (
  payment: string,
  movements: readonly { kind: "refund" | "payout"; mint: string; amount: string }[] = [],
) => ({ type: "PAYMENT_LANDED", payment, slot: 50, signature: "s", movements }) as const;
const events = {
  DUST_READ: reading("99"),
  SOME_READ: reading("2000"),
  ALL_READ: reading("5000"),
  LATE_READ: reading("0", 20, 2_000),
  STRAY_SEEN: { type: "STRAY_SEEN" },
  NOTHING_STRAY: { type: "NOTHING_STRAY" },
  PAID_ELSEWHERE: { type: "PAID_ELSEWHERE" },
  COLLECTION_PLANNED: { type: "COLLECTION_PLANNED", payment: "mine" },
  CLEARED: { type: "CLEARED" },
  OVER: { type: "OVER", fee: "30" },
  REFUND_PLANNED: { type: "REFUND_PLANNED", payment: "mine", ...empty },
  SWEEP_PLANNED: { type: "SWEEP_PLANNED", payment: "mine", ...empty },
  MUST_WAIT: { type: "MUST_WAIT", ...empty },
  AT_REST: { type: "AT_REST", isBound: true, height: 1_000, ...empty },
  SWEPT: { type: "AT_REST", isBound: false, height: 0, ...empty },
  HELD: { type: "HELD", reason: "unknown_spending" },
  RELEASE: { type: "RELEASE" },
  REDIRECT: { type: "REDIRECT" },
  RETURN: { type: "RETURN", mint: "other", to: "owner", atMost: "9" },
  RETURN_PLANNED: { type: "RETURN_PLANNED", payment: "mine", slot: 100, balances: { other: "9" } },
  NOTHING_TO_RETURN: { type: "NOTHING_TO_RETURN" },
  LANDED: landed("mine", [{ kind: "refund", mint: "usdc", amount: "7" }]),
  LANDED_ANOTHER: landed("another", [{ kind: "payout", mint: "usdc", amount: "7" }]),
  LOST: { type: "PAYMENT_LOST", payment: "mine", fault: null },
  LOST_ANOTHER: { type: "PAYMENT_LOST", payment: "another", fault: null },
  PAUSE_OVER: { type: "xstate.after.pause.deposit-address.cooling" } as unknown as Event,
  LINGER_OVER: { type: "xstate.after.linger.deposit-address.atRest.lingering" } as unknown as Event,
  AGE_OVER: { type: "xstate.after.age.deposit-address.atRest.aging" } as unknown as Event,
  QUIET_OVER: { type: "xstate.after.quiet.deposit-address.atRest.resting" } as unknown as Event,
  SLOW_OVER: { type: "xstate.after.slow.deposit-address.atRest.slowLane" } as unknown as Event,
} as const satisfies Record<string, Event>;

const atRest = (state: string): string => JSON.stringify({ atRest: state });

const tell = (event: object): string =>
  `tell ${JSON.stringify({ machine: "private-transfer", id: "tx_1", event })}`;
const [seen, finalized, funded, settled] = (
  ["DEPOSIT_SEEN", "DEPOSIT_FINALIZED", "FUNDED", "SETTLED"] as const
).map((type) => tell({ type })) as [string, string, string, string];
const closed = (received: boolean): string => tell({ type: "WINDOW_CLOSED", received });
const plan = (
  more: {
    fee?: string;
    mayRefund?: boolean;
    closeAbove?: number | null;
  } = {},
): string => {
  const { fee = "30", mayRefund = true, closeAbove = null } = more;
  return `planSettlement ${JSON.stringify({ fee, mayRefund, closeAbove })}`;
};
const declined = tell({ type: "DECLINED", reason: "REFUNDED_BY_OPERATOR" });
const returns = `planReturn ${JSON.stringify({ mint: "other", to: "owner", atMost: "9", settledSlot: 0 })}`;
const collect = (fromSlot: number): string => `planCollection ${JSON.stringify({ fromSlot })}`;
const timer = (delay: string, state: string): string => `xstate.after.${delay}.deposit-address.${state}`;
const pauses = `arm ${timer("pause", "cooling")} ${10 * MINUTE}`;
const lingers = `arm ${timer("linger", "atRest.lingering")} ${15 * MINUTE}`;
const leaves = (delay: string, state: string): string => `disarm ${timer(delay, state)}`;

/** Above this height markers may be closed: 151 above what was told when it began to age. */
const AGED = { closeAbove: 1_151 };
const toRest = ["OVER", "AT_REST"] as const;
const toAging = [...toRest, "LINGER_OVER", "AT_REST"] as const;
const toResting = [...toAging, "AGE_OVER", "SWEPT"] as const;
const toSlowLane = [...toResting, "QUIET_OVER", "SWEPT"] as const;

/** What every place of rest does with these events; `aged` once its markers may be closed. */
const whileAtRest = (delay: string, state: string, aged: object) =>
  ({
    SOME_READ: ["settling", leaves(delay, `atRest.${state}`), plan(aged)],
    ALL_READ: ["settling", leaves(delay, `atRest.${state}`), plan(aged)],
    RELEASE: ["settling", leaves(delay, `atRest.${state}`), plan(aged)],
    REDIRECT: ["settling", leaves(delay, `atRest.${state}`), plan(aged)],
    RETURN: ["returning", leaves(delay, `atRest.${state}`), returns],
  }) as const;

describe("deposit-address", () => {
  const { reach } = checkTable({
    machine: depositAddress,
    input,
    events,
    ways: {
      waiting: [],
      "waiting, some seen": ["SOME_READ"],
      collecting: ["STRAY_SEEN"],
      "collecting, under way": ["STRAY_SEEN", "COLLECTION_PLANNED"],
      "collecting, order over": ["STRAY_SEEN", "COLLECTION_PLANNED", "OVER"],
      "collecting, window over": ["LATE_READ"],
      spending: ["ALL_READ"],
      closing: ["LATE_READ", "NOTHING_STRAY"],
      settling: ["OVER"],
      moving: ["OVER", "REFUND_PLANNED"],
      returning: [...toRest, "RETURN"],
      cooling: ["OVER", "MUST_WAIT"],
      lingering: toRest,
      aging: toAging,
      resting: toResting,
      slowLane: toSlowLane,
      closed: [...toSlowLane, "SLOW_OVER", "SWEPT"],
      held: ["OVER", "HELD"],
    },
    table: {
      waiting: {
        SOME_READ: ["waiting", seen],
        ALL_READ: ["spending", funded],
        LATE_READ: ['{"collecting":"looking"}', collect(20)],
        STRAY_SEEN: ['{"collecting":"looking"}', collect(0)],
        REDIRECT: ["declining", declined],
        OVER: ["settling", plan()],
      },
      "waiting, some seen": {
        ALL_READ: ["spending", funded],
        LATE_READ: ['{"collecting":"looking"}', collect(20)],
        STRAY_SEEN: ['{"collecting":"looking"}', collect(0)],
        REDIRECT: ["declining", declined],
        OVER: ["settling", plan()],
      },
      collecting: {
        NOTHING_STRAY: ["waiting"],
        PAID_ELSEWHERE: ["spending", funded],
        COLLECTION_PLANNED: ['{"collecting":"moving"}', seen],
      },
      "collecting, under way": { LANDED: ["waiting"], LOST: ["waiting"] },
      "collecting, order over": {
        LANDED: ["settling", plan()],
        LOST: ["settling", plan()],
      },
      "collecting, window over": {
        NOTHING_STRAY: ["closing", closed(false)],
        PAID_ELSEWHERE: ["spending", funded],
        COLLECTION_PLANNED: ['{"collecting":"moving"}', seen],
      },
      spending: { REDIRECT: ["declining", declined], OVER: ["settling", plan()] },
      closing: { OVER: ["settling", plan()] },
      settling: {
        COLLECTION_PLANNED: ["moving"],
        REFUND_PLANNED: ["moving"],
        SWEEP_PLANNED: ["moving", settled],
        MUST_WAIT: ["cooling", pauses],
        AT_REST: ['{"atRest":"lingering"}', settled, lingers],
        SWEPT: ['{"atRest":"lingering"}', settled, lingers],
        HELD: ["held", settled],
      },
      moving: {
        LANDED: ["settling", plan({ mayRefund: false })],
        LOST: ["cooling", pauses],
      },
      returning: {
        RETURN_PLANNED: ["moving"],
        NOTHING_TO_RETURN: ["settling", plan()],
        HELD: ["held"],
      },
      cooling: { PAUSE_OVER: ["settling", leaves("pause", "cooling"), plan()] },
      lingering: {
        ...whileAtRest("linger", "lingering", {}),
        LINGER_OVER: ["settling", leaves("linger", "atRest.lingering"), plan()],
      },
      aging: {
        ...whileAtRest("age", "aging", {}),
        AGE_OVER: ["settling", leaves("age", "atRest.aging"), plan(AGED)],
      },
      resting: {
        ...whileAtRest("quiet", "resting", AGED),
        QUIET_OVER: ["settling", leaves("quiet", "atRest.resting"), plan(AGED)],
      },
      slowLane: {
        ...whileAtRest("slow", "slowLane", AGED),
        SLOW_OVER: ["settling", leaves("slow", "atRest.slowLane"), plan(AGED)],
      },
      closed: {
        SOME_READ: ["settling", plan(AGED)],
        ALL_READ: ["settling", plan(AGED)],
        RELEASE: ["settling", plan(AGED)],
        REDIRECT: ["settling", plan(AGED)],
        RETURN: ["returning", returns],
      },
      held: { RELEASE: ["settling", plan()], REDIRECT: ["settling", plan()] },
    },
    // With a host that screens; see below.
    passed: ["screening", "heldBack", "declining", "settled"],
  });

  test("each lane is left through one more look at everything, and sixty days follow the first", () => {
    const [, asked] = transition(
      depositAddress,
      transition(depositAddress, reach("resting"), events.QUIET_OVER)[0],
      events.SWEPT,
    );
    expect(effectsOf(asked)).toEqual([settled, `arm ${timer("slow", "atRest.slowLane")} 5184000000`]);
  });

  test("markers may be closed only when the address has aged, and bytes signed meanwhile begin that again", () => {
    expect(reach("lingering").context.closeAbove).toBeNull();
    expect(reach("aging").context.closeAbove).toBe(1_151);
    const refunding = after("resting", events.ALL_READ, events.REFUND_PLANNED);
    expect([refunding.context.closeAbove, refunding.context.lane]).toEqual([null, "aging"]);
    const [, asked] = transition(depositAddress, refunding, events.LANDED);
    expect(effectsOf(asked)).toEqual([plan({ mayRefund: false })]);
    const swept = after("resting", events.ALL_READ, events.SWEEP_PLANNED);
    expect([swept.context.closeAbove, swept.context.lane]).toEqual([1_151, "resting"]);
  });

  test("M3: markers that stand though they have aged age once more, by the height that is told then", () => {
    const ahead = { ...events.AT_REST, height: 1_000_000 };
    const aged = transition(depositAddress, reach("lingering"), events.LINGER_OVER)[0];
    const [aging] = transition(depositAddress, aged, ahead);
    expect(aging.context.closeAbove).toBe(1_000_151);
    const [looking] = transition(depositAddress, aging, events.AGE_OVER);
    const [again, asked] = transition(depositAddress, looking, { ...events.AT_REST, height: 2_000 });
    expect([again.value, again.context.lane, again.context.closeAbove]).toEqual([
      { atRest: "aging" },
      "aging",
      2_151,
    ]);
    expect(effectsOf(asked)).toEqual([settled, `arm ${timer("age", "atRest.aging")} ${60 * MINUTE}`]);
  });

  const after = (place: string, ...sent: readonly Event[]): Snapshot =>
    sent.reduce((at, event) => transition(depositAddress, at, event)[0], reach(place));

  test("with a host that screens nothing is paid out before whoever paid in is cleared", () => {
    const [start] = initialTransition(depositAddress, { ...input, isScreened: true });
    const [screening, asked] = transition(depositAddress, start, events.ALL_READ);
    expect([screening.value, ...effectsOf(asked)]).toEqual(["screening", finalized, "screen undefined"]);
    const [cleared, told] = transition(depositAddress, screening, events.CLEARED);
    expect([cleared.value, ...effectsOf(told)]).toEqual(["spending", funded]);
    const [back] = transition(depositAddress, screening, { type: "HELD", reason: "screening" });
    expect([back.value, back.context.heldReason]).toEqual(["heldBack", "screening"]);
    const [released, out] = transition(depositAddress, back, events.RELEASE);
    expect([released.value, released.context.heldReason, ...effectsOf(out)]).toEqual([
      "spending",
      null,
      funded,
    ]);
    // Sent elsewhere: the order ends without paying anybody, and only then is anything sent.
    const [declining, said] = transition(depositAddress, back, events.REDIRECT);
    expect([declining.value, ...effectsOf(said)]).toEqual(["declining", declined]);
    const [settling, planned] = transition(depositAddress, declining, { type: "OVER", fee: "0" });
    expect([settling.value, ...effectsOf(planned)]).toEqual(["settling", plan({ fee: "0" })]);
    // Cancelled in the meantime: whatever is decided, it goes back.
    const over = (at: Snapshot, event: Event): unknown =>
      transition(depositAddress, transition(depositAddress, at, events.OVER)[0], event)[0].value;
    expect(over(screening, events.CLEARED)).toBe("settling");
    expect(over(back, events.RELEASE)).toBe("settling");
    expect(over(back, events.REDIRECT)).toBe("settling");
  });

  test("P30: the very reading that is past the window counts what it shows", () => {
    const [full] = transition(depositAddress, reach("waiting"), reading("5000", 20, 2_000));
    expect(full.value).toBe("spending");
    const [some] = transition(depositAddress, reach("waiting"), reading("1000", 20, 2_000));
    const [, asked] = transition(depositAddress, some, events.NOTHING_STRAY);
    expect(effectsOf(asked)).toEqual([closed(true)]);
  });

  test("M20: a reading that endpoints differ about closes no window, and counts what enough of them show", () => {
    const disputed = { ...reading("1000", 20, 2_000), isDisputed: true as const };
    const [open] = transition(depositAddress, reach("waiting"), disputed);
    expect(open.value).toBe("waiting");
    expect(open.context.received).toMatchObject({ usdc: "1000" });
    expect(placeOf(transition(depositAddress, open, reading("1000", 21, 2_001))[0])).toBe(
      '{"collecting":"looking"}',
    );
    const full = { ...reading("5000", 20, 2_000), isDisputed: true as const };
    expect(transition(depositAddress, reach("waiting"), full)[0].value).toBe("spending");
  });

  test("P15: what is less than a deposit does not make one, also not at the end", () => {
    const [dust] = transition(depositAddress, reach("waiting"), reading("999", 20, 2_000));
    const [, asked] = transition(depositAddress, dust, events.NOTHING_STRAY);
    expect(effectsOf(asked)).toEqual([closed(false)]);
  });

  test("a reading from before our own last payment is no news and closes no window", () => {
    const collected = after("collecting, under way", events.LANDED);
    expect(collected.value).toBe("waiting");
    for (const event of [reading("5000", 49), reading("0", 49, 2_000)]) {
      expect(transition(depositAddress, collected, event)[0].value).toBe("waiting");
    }
    expect(placeOf(transition(depositAddress, collected, reading("0", 50, 2_000))[0])).toBe(
      '{"collecting":"looking"}',
    );
  });

  test("P23: each loss in a row doubles the pause, and after eight an operator must look", () => {
    let at = reach("settling");
    const delays: string[] = [];
    for (let loss = 1; loss <= 8; loss++) {
      at = transition(depositAddress, at, events.REFUND_PLANNED)[0];
      const [lost, asked] = transition(depositAddress, at, events.LOST);
      delays.push(...effectsOf(asked).map((each) => each.split(" ").at(-1) ?? ""));
      at = loss < 8 ? transition(depositAddress, lost, events.PAUSE_OVER)[0] : lost;
    }
    expect(delays.slice(0, 7).map(Number)).toEqual(
      [10, 20, 40, 80, 160, 320, 640].map((each) => each * MINUTE),
    );
    expect([at.value, at.context.heldReason]).toEqual(["held", "payment_fails"]);
    const [released] = transition(depositAddress, at, events.RELEASE);
    expect([released.value, released.context.losses]).toEqual(["settling", 0]);
  });

  test("every release grants the sponsor's allowance once more, wherever it is heard", () => {
    for (const place of ["waiting", "spending", "moving", "cooling", "resting", "held", "closed"]) {
      const at = after(place, events.RELEASE, events.RELEASE);
      expect([place, at.context.allowance]).toEqual([place, "300"]);
    }
  });

  test("P11: what an operator returns is booked in and out, grants the sponsor as much again, and pauses no refund", () => {
    const movements = [{ kind: "refund" as const, mint: "other", amount: "9" }];
    const at = after("returning", events.RETURN_PLANNED, landed("mine", movements));
    const { received, spent, allowance, hasRefunded } = at.context;
    expect([received["other"], spent["other"]]).toEqual(["9", "9"]);
    expect({ allowance, hasRefunded }).toEqual({ allowance: "200", hasRefunded: false });
  });

  test("late news of another payment is booked, and is not taken for what is under way", () => {
    const moving = after("moving", events.LANDED_ANOTHER, events.LOST_ANOTHER);
    expect([moving.value, moving.context.landed, moving.context.spent]).toEqual(["moving", 1, { usdc: "7" }]);
    expect(after("collecting, under way", events.LANDED_ANOTHER).value).toEqual({ collecting: "moving" });
  });

  test("E12: rent that the address paid for a recipient's account is told by what is missing", () => {
    const [start] = initialTransition(depositAddress, input);
    const steps: readonly Event[] = [
      { type: "BALANCES_READ", slot: 1, blockTime: 1, balances: { usdc: "5000", sol: "9000000" } },
      {
        type: "PAYMENT_LANDED",
        payment: "p",
        slot: 5,
        signature: "s",
        movements: [{ kind: "payout", mint: "usdc", amount: "4970" }],
      },
      events.OVER,
      { type: "REFUND_PLANNED", payment: "mine", slot: 9, balances: { usdc: "30", sol: "7500000" } },
    ];
    const { context } = steps.reduce((at, event) => transition(depositAddress, at, event)[0], start);
    expect(context.spent).toEqual({ usdc: "4970", sol: "1500000" });
    expect(context.received).toEqual({ usdc: "5000", sol: "9000000" });
  });

  test("a landing heard after a later one does not bring back readings from between the two", () => {
    const start = after("settling");
    const paid = [{ kind: "payout" as const, mint: "usdc", amount: "2000" }];
    const steps: readonly Event[] = [
      { type: "MUST_WAIT", slot: 40, balances: { usdc: "5000", sol: "0" } },
      { ...landed("later", paid), slot: 80 },
      { ...landed("earlier", paid), slot: 50 },
      // Shows the first of the two gone and not the second: no money has come in since.
      { type: "BALANCES_READ", slot: 60, blockTime: 500, balances: { usdc: "3000", sol: "0" } },
    ];
    const { context } = steps.reduce((at, event) => transition(depositAddress, at, event)[0], start);
    expect(context).toMatchObject({ settledSlot: 80, landed: 2, received: { usdc: "5000" } });
    expect(context.spent).toEqual({ usdc: "4000" });
  });

  test("P9, E12: whatever comes and goes between whichever readings, what was received is what came", () => {
    const happening = fc.oneof(
      fc.record({ comes: fc.bigInt({ min: 0n, max: 4_000n }) }),
      fc.record({ goes: fc.bigInt({ min: 1n, max: 3_000n }) }),
      fc.constant({ look: true }),
    );
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 40 }), (story) => {
        let at = after("settling");
        let seenRight = true;
        let [came, there, slot, payments] = [0n, 0n, 100, 0];
        const look = (): Event => ({ type: "MUST_WAIT", slot, balances: { usdc: String(there), sol: "0" } });
        for (const each of story) {
          slot += 1;
          if ("comes" in each) [came, there] = [came + each.comes, there + each.comes];
          if ("goes" in each && each.goes <= there) {
            there -= each.goes;
            payments += 1;
            const movements = [{ kind: "payout" as const, mint: "usdc", amount: String(each.goes) }];
            const event = {
              type: "PAYMENT_LANDED" as const,
              payment: `p${payments}`,
              slot,
              signature: "s",
              movements,
            };
            at = transition(depositAddress, at, event)[0];
          }
          if ("look" in each) {
            at = transition(depositAddress, transition(depositAddress, at, look())[0], events.PAUSE_OVER)[0];
            seenRight &&= at.context.received["usdc"] === String(came);
          }
        }
        return seenRight;
      }),
    );
  });

  const honest = Object.values(events);
  const paths = shortestPaths(
    depositAddress,
    input,
    honest,
    ({ value, context }) =>
      JSON.stringify([
        value,
        ...[context.isOver, context.isPastWindow, context.underWay, context.hasRefunded, context.lane],
        context.losses > 0,
        context.settledSlot > 0,
      ]),
    ({ context }) => context.losses > 2,
  );

  test("from every state there is a way to rest, but where an operator has to act", () => {
    const next = new Map<string, Set<string>>();
    for (const { state } of paths) {
      const from = placeOf(state);
      for (const event of honest.filter(({ type }) => type !== "RELEASE" && type !== "REDIRECT")) {
        const to = placeOf(transition(depositAddress, state, event)[0]);
        next.set(from, (next.get(from) ?? new Set()).add(to));
      }
    }
    const canRest = new Set(["lingering", "aging", "resting", "slowLane", "closed"].map(atRest));
    for (let round = 0; round < next.size; round++) {
      for (const [from, tos] of next) if ([...tos].some((to) => canRest.has(to))) canRest.add(from);
    }
    expect([...next.keys()].filter((each) => !canRest.has(each))).toEqual(["held"]);
  });

  test("P28: on no path is the order told that it is funded once it is over", () => {
    const told = paths.flatMap(({ steps }) => {
      let [at] = initialTransition(depositAddress, input);
      return steps.slice(1).flatMap(({ event }) => {
        const wasOver = at.context.isOver;
        const [next, actions] = transition(depositAddress, at, event);
        at = next;
        return wasOver ? effectsOf(actions) : [];
      });
    });
    expect(told).not.toContain(funded);
  });
});
