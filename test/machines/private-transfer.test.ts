/** The chart of a private order, pure: its whole table, its counts, and what it never does. */
import { initialTransition, transition, type EventFromLogic } from "xstate";
import { describe, expect, test } from "vitest";
import { privateTransfer } from "paystate/machines";
import { checkTable, shortestPaths } from "./chart-table.ts";
import { effectsOf } from "./pure-steps.ts";
import type { PrivateTransferContext } from "../../machines/private-transfer.ts";

type Event = EventFromLogic<typeof privateTransfer>;

const input = { depositAddress: "address", fee: "30" };
const news = {
  payment: "pay_1",
  indexes: [0],
  signature: "one",
  blockTime: 1_700_000_000,
  wasConfirmed: false,
  fault: null,
} as const;
const events = {
  CANCEL: { type: "CANCEL" },
  DEPOSIT_SEEN: { type: "DEPOSIT_SEEN" },
  DEPOSIT_FINALIZED: { type: "DEPOSIT_FINALIZED" },
  FUNDED: { type: "FUNDED" },
  NOTHING_CAME: { type: "WINDOW_CLOSED", received: false },
  TOO_LITTLE_CAME: { type: "WINDOW_CLOSED", received: true },
  DECLINED: { type: "DECLINED", reason: "REFUNDED_BY_OPERATOR" },
  ROUTED: { type: "ROUTED", payouts: 1, unpaid: 0 },
  ROUTED_TO_NOBODY: { type: "ROUTED", payouts: 0, unpaid: 1 },
  NOT_NOW: { type: "NOT_NOW" },
  PRICE_PAUSE_OVER: { type: "xstate.after.pricePause.private-transfer.waitingForPrice" } as unknown as Event,
  PAYOUT_CONFIRMED: { ...news, type: "PAYOUT_CONFIRMED" },
  PAYOUT_FINALIZED: { ...news, type: "PAYOUT_FINALIZED" },
  PAYOUT_FINALIZED_AFTER: { ...news, type: "PAYOUT_FINALIZED", wasConfirmed: true },
  PAYOUT_FAILED: { ...news, type: "PAYOUT_FAILED", fault: { kind: "payee", move: 1 } },
  PAYOUT_FAILED_AFTER: { ...news, type: "PAYOUT_FAILED", wasConfirmed: true, fault: null },
  PAYOUT_OVERTAKEN: {
    type: "PAYOUT_OVERTAKEN",
    role: "payout",
    wasConfirmed: false,
    hasLeaves: false,
    paid: 1,
    unpaid: 0,
    signature: "zero",
    blockTime: 1_700_000_000,
  },
  SETTLED: { type: "SETTLED" },
} as const satisfies Record<string, Event>;
type EventName = keyof typeof events;

const announce = (word: string): string => `announce ${JSON.stringify({ notice: `transaction.${word}` })}`;
const over = (fee: string): string =>
  `tell ${JSON.stringify({ machine: "deposit-address", id: "address", event: { type: "OVER", fee } })}`;
const reroute = (fault: object | null): string => `reroute ${JSON.stringify({ payment: "pay_1", fault })}`;
const pause = "xstate.after.pricePause.private-transfer.waitingForPrice";

/** Counts that change no state while the order waits for more. */
const counted = (state: string): Partial<Record<EventName, readonly [string, ...string[]]>> => ({
  PAYOUT_FAILED: [state, reroute({ kind: "payee", move: 1 })],
  PAYOUT_FAILED_AFTER: [state, reroute(null)],
});

describe("private-transfer", () => {
  const { reach } = checkTable({
    machine: privateTransfer,
    input,
    events,
    ways: {
      awaitingDeposit: [],
      depositDetected: ["DEPOSIT_SEEN"],
      checking: ["DEPOSIT_FINALIZED"],
      routing: ["FUNDED"],
      "routing, one under way": ["FUNDED", "ROUTED"],
      waitingForPrice: ["FUNDED", "NOT_NOW"],
      settling: ["FUNDED", "ROUTED", "PAYOUT_CONFIRMED"],
      refunding: ["TOO_LITTLE_CAME"],
      completed: ["FUNDED", "ROUTED", "PAYOUT_FINALIZED"],
      failed: ["NOTHING_CAME"],
      cancelled: ["CANCEL"],
    },
    table: {
      awaitingDeposit: {
        CANCEL: ["cancelled", over("0")],
        DEPOSIT_SEEN: ["depositDetected"],
        DEPOSIT_FINALIZED: ["checking"],
        FUNDED: ["routing", "route undefined"],
        NOTHING_CAME: ["failed", over("0"), announce("failed")],
        TOO_LITTLE_CAME: ["refunding", over("0")],
        DECLINED: ["refunding", over("0")],
        ...counted("awaitingDeposit"),
      },
      depositDetected: {
        DEPOSIT_FINALIZED: ["checking"],
        FUNDED: ["routing", "route undefined"],
        NOTHING_CAME: ["failed", over("0"), announce("failed")],
        TOO_LITTLE_CAME: ["refunding", over("0")],
        DECLINED: ["refunding", over("0")],
        ...counted("depositDetected"),
      },
      checking: {
        FUNDED: ["routing", "route undefined"],
        DECLINED: ["refunding", over("0")],
        ...counted("checking"),
      },
      routing: {
        ROUTED_TO_NOBODY: ["refunding", over("0")],
        NOT_NOW: ["waitingForPrice", `arm ${pause} 10000`],
        DECLINED: ["refunding", over("0")],
        ...counted("routing"),
      },
      "routing, one under way": {
        NOT_NOW: ["waitingForPrice", `arm ${pause} 10000`],
        DECLINED: ["refunding", over("0")],
        PAYOUT_CONFIRMED: ["settling", announce("confirmed")],
        PAYOUT_FINALIZED: ["completed", announce("confirmed"), announce("completed"), over("30")],
        PAYOUT_OVERTAKEN: ["completed", announce("confirmed"), announce("completed"), over("30")],
        PAYOUT_FINALIZED_AFTER: ["completed", announce("confirmed"), announce("completed"), over("30")],
        ...counted("routing"),
      },
      waitingForPrice: {
        PRICE_PAUSE_OVER: ["routing", `disarm ${pause}`, "route undefined"],
        DECLINED: ["refunding", `disarm ${pause}`, over("0")],
        ...counted("waitingForPrice"),
      },
      settling: {
        PAYOUT_OVERTAKEN: ["completed", announce("completed"), over("30")],
        PAYOUT_FINALIZED: ["completed", announce("completed"), over("30")],
        PAYOUT_FINALIZED_AFTER: ["completed", announce("completed"), over("30")],
        ...counted("settling"),
      },
      refunding: {
        SETTLED: ["failed", announce("failed")],
        PAYOUT_OVERTAKEN: ["refunding", over("30")],
        ...counted("refunding"),
      },
    },
  });

  test("it begins by telling that it was taken", () => {
    const [start, actions] = initialTransition(privateTransfer, input);
    expect([start.value, ...effectsOf(actions)]).toEqual(["awaitingDeposit", announce("pending")]);
  });

  test("a payroll is over when the last of its payouts is, and keeps its fee though one was not paid", () => {
    const two = { type: "ROUTED", payouts: 2, unpaid: 0 } as const;
    const steps: readonly Event[] = [
      events.FUNDED,
      two,
      events.PAYOUT_FINALIZED,
      events.PAYOUT_FAILED,
      { type: "ROUTED", payouts: 0, unpaid: 1 },
    ];
    let [at] = initialTransition(privateTransfer, input);
    const asked: string[] = [];
    for (const event of steps) {
      const [next, actions] = transition(privateTransfer, at, event);
      asked.push(...effectsOf(actions));
      at = next;
    }
    expect([at.value, at.context.reason, at.context.paid, at.context.unpaid]).toEqual([
      ...["refunding", "PARTIAL_PAYOUT", 1, 1],
    ]);
    expect(asked.at(-1)).toBe(over("30"));
    expect(transition(privateTransfer, at, events.SETTLED)[0].context.charged).toBe("30");
  });

  test("what was confirmed and then failed on a fork fails without going back, and its address is settled", () => {
    const [before] = transition(privateTransfer, reach("settling"), events.PAYOUT_FAILED_AFTER);
    const [{ value, context }, actions] = transition(privateTransfer, before, events.ROUTED_TO_NOBODY);
    expect([value, context.reason, context.charged]).toEqual(["failed", "PAYOUT_FAILED", "0"]);
    expect(effectsOf(actions)).toEqual([over("0"), announce("failed")]);
  });

  test.each<[string, Event, Event[], unknown]>([
    ["is overtaken is counted once", { ...events.PAYOUT_OVERTAKEN, wasConfirmed: true }, [], [1, 1]],
    [
      "stands beside one that pays nobody is no confirmed order",
      events.PAYOUT_FAILED,
      [events.ROUTED_TO_NOBODY],
      [0, 1],
    ],
  ])("a payout that was confirmed and %s", (_, then, more, counts) => {
    const two = { type: "ROUTED", payouts: 2, unpaid: 0 } as const;
    let [at] = initialTransition(privateTransfer, input);
    for (const event of [events.FUNDED, two, events.PAYOUT_CONFIRMED, then, ...more]) {
      [at] = transition(privateTransfer, at, event);
    }
    expect([at.value, [at.context.toConfirm, at.context.toFinalize]]).toEqual(["routing", counts]);
  });

  test("a confirmation that comes after its finality counts once", () => {
    let [at] = initialTransition(privateTransfer, input);
    const two = { type: "ROUTED", payouts: 2, unpaid: 0 } as const;
    for (const event of [
      ...[
        events.FUNDED,
        two,
        events.PAYOUT_FINALIZED_AFTER,
        events.PAYOUT_CONFIRMED,
        events.PAYOUT_CONFIRMED,
      ],
    ]) {
      at = transition(privateTransfer, at, event)[0];
    }
    expect([at.value, at.context.toConfirm, at.context.toFinalize]).toEqual(["settling", 0, 1]);
  });

  // Payouts are told of only once they were routed; paths on which they come before do not happen.
  const honest = Object.entries(events)
    .filter(([name]) => !name.endsWith("_AFTER"))
    .map(([, event]) => event);
  const isDishonest = ({ context }: { readonly context: PrivateTransferContext }): boolean => {
    const { planning, toFinalize, toConfirm } = context;
    return planning < 0 || planning > 2 || toFinalize < 0 || toFinalize > 3 || toConfirm < 0;
  };
  const paths = shortestPaths(
    privateTransfer,
    input,
    honest,
    ({ value, context: { planning, unpaid, paid, reason, toConfirm, toFinalize } }) =>
      JSON.stringify([value, planning, unpaid > 0, paid > 0, reason, toConfirm, toFinalize]),
    isDishonest,
  ).filter(({ steps }) => !steps.some(({ state }) => isDishonest(state)));

  test("every state, and every final one among them, is on a shortest path", () => {
    expect(new Set(paths.map(({ state }) => state.value))).toEqual(
      new Set(Object.keys(privateTransfer.states)),
    );
  });

  test("I10: no path leads a public status anywhere but along the contract's edges", () => {
    const edges: Readonly<Record<string, readonly string[]>> = {
      pending: ["processing", "failed", "cancelled"],
      processing: ["confirmed", "completed", "failed"],
      confirmed: ["completed", "failed"],
    };
    const moves = paths.flatMap(({ steps }) => {
      const statuses = steps.map(({ state }) => Object.values(state.getMeta())[0]?.status ?? "");
      return statuses.slice(1).map((status, index) => [statuses[index] ?? "", status] as const);
    });
    const forbidden = moves.filter(([from, to]) => from !== to && edges[from]?.includes(to) !== true);
    expect(forbidden).toEqual([]);
  });

  test("each notice is told at most once, in the contract's order, and every ended order has told its end to its address", () => {
    const order = ["pending", "confirmed", "completed", "failed"].map(announce);
    for (const { steps, state } of paths) {
      const [start, first] = initialTransition(privateTransfer, input);
      let at = start;
      const asked = effectsOf(first);
      for (const { event } of steps.slice(1)) {
        const [next, actions] = transition(privateTransfer, at, event);
        asked.push(...effectsOf(actions));
        at = next;
      }
      const told = asked.filter((each) => order.includes(each)).map((each) => order.indexOf(each));
      expect(told).toEqual([...new Set(told)].toSorted((a, b) => a - b));
      const overs = asked.filter((each) => each.includes('"OVER"'));
      if (state.status !== "done") continue;
      // Once, and again only when a refund found out that somebody had been paid: then with the fee that is due.
      expect(overs.slice(1)).toEqual(overs.slice(1).map(() => over("30")));
      expect(overs.length, JSON.stringify(state.value)).toBeGreaterThan(0);
    }
  });

  test("M2: an order whose refund met a landed payout is completed when everybody turns out to be paid", () => {
    const unpaid = [events.FUNDED, events.ROUTED, events.PAYOUT_FAILED, events.ROUTED_TO_NOBODY];
    const recovered: Event = { ...events.PAYOUT_OVERTAKEN, role: "own", unpaid: -1 };
    let [at] = initialTransition(privateTransfer, input);
    for (const event of [...unpaid, recovered, events.SETTLED]) [at] = transition(privateTransfer, at, event);
    expect([at.value, at.context.paid, at.context.unpaid]).toEqual(["completed", 1, 0]);
  });

  test("P28: on no path is an order both cancelled and routed", () => {
    const states = paths.map(({ steps }) => steps.map(({ state }) => state.value));
    expect(states.filter((all) => all.includes("cancelled") && all.includes("routing"))).toEqual([]);
  });
});
