/** The chart of wallet mode, pure: its whole table, its paths to every end, and what it never does. */
import { getShortestPaths } from "xstate/graph";
import { initialTransition, transition, type EventFromLogic, type SnapshotFrom } from "xstate";
import { describe, expect, test } from "vitest";
import { walletTransfer } from "paystate/machines";
import { effectsOf, restored } from "./pure-steps.ts";
import type { TransferMeta } from "../../machines/wallet-transfer.ts";

type Event = EventFromLogic<typeof walletTransfer>;
type Snapshot = SnapshotFrom<typeof walletTransfer>;

const input = { signature: "sig", broadcastDelayMs: 0 };
const events = {
  DELAY_OVER: { type: "xstate.after.broadcastDelay.wallet-transfer.accepted" } as unknown as Event,
  CANCEL: { type: "CANCEL" },
  CONFIRMED: { type: "CONFIRMED" },
  FINALIZED: { type: "FINALIZED", slot: 7, error: null, blockTime: 1_700_000_000, fee: "5000" },
  FINALIZED_WITH_ERROR: {
    type: "FINALIZED",
    slot: 7,
    error: "custom",
    blockTime: 1_700_000_000,
    fee: "5000",
  },
  EXPIRED: { type: "EXPIRED" },
  UNPROVABLE: { type: "UNPROVABLE" },
  DAY_OVER: { type: "xstate.after.secondLook.wallet-transfer.expired" } as unknown as Event,
} as const satisfies Record<string, Event>;
type EventName = keyof typeof events;

const ways: Readonly<Record<string, readonly EventName[]>> = {
  accepted: [],
  broadcasting: ["DELAY_OVER"],
  confirmed: ["DELAY_OVER", "CONFIRMED"],
  completed: ["DELAY_OVER", "FINALIZED"],
  unprovable: ["DELAY_OVER", "UNPROVABLE"],
  confirmedUnprovable: ["DELAY_OVER", "CONFIRMED", "UNPROVABLE"],
  failed: ["DELAY_OVER", "FINALIZED_WITH_ERROR"],
  expired: ["DELAY_OVER", "EXPIRED"],
  expiredForGood: ["DELAY_OVER", "EXPIRED", "DAY_OVER"],
  landedAfterExpiry: ["DELAY_OVER", "EXPIRED", "FINALIZED"],
  cancelled: ["CANCEL"],
  cancelledUnprovable: ["CANCEL", "UNPROVABLE"],
  cancelledForGood: ["CANCEL", "EXPIRED"],
  landedAfterCancel: ["CANCEL", "FINALIZED"],
};

/** The public status in the meta of the one active state. */
function statusOf(snapshot: Snapshot): TransferMeta["status"] {
  const [meta] = Object.values(snapshot.getMeta());
  if (meta === undefined) throw new Error(`${snapshot.value} has no meta`);
  return meta.status;
}

const tell = (word: string): string => `announce ${JSON.stringify({ notice: `transaction.${word}` })}`;
const timer = "xstate.after.broadcastDelay.wallet-transfer.accepted";
const day = "xstate.after.secondLook.wallet-transfer.expired";
const report = 'reportUnprovable {"signature":"sig"}';
const expire = ["expired", tell("failed"), `arm ${day} ${24 * 60 * 60 * 1_000}`] as const;

/** What each state makes of each event; whatever is not in here changes nothing. */
const table: Readonly<
  Record<string, Partial<Record<EventName, readonly [to: string, ...effects: string[]]>>>
> = {
  accepted: {
    DELAY_OVER: ["broadcasting", `disarm ${timer}`, 'broadcast {"signature":"sig"}', tell("pending")],
    CANCEL: ["cancelled", `disarm ${timer}`],
  },
  broadcasting: {
    CONFIRMED: ["confirmed", tell("confirmed")],
    FINALIZED: ["completed", tell("confirmed"), tell("completed")],
    FINALIZED_WITH_ERROR: ["failed", tell("failed")],
    EXPIRED: expire,
    UNPROVABLE: ["unprovable", report],
  },
  confirmed: {
    FINALIZED: ["completed", tell("completed")],
    FINALIZED_WITH_ERROR: ["failed", tell("failed")],
    EXPIRED: expire,
    UNPROVABLE: ["confirmedUnprovable", report],
  },
  unprovable: {
    FINALIZED: ["completed", tell("confirmed"), tell("completed")],
    FINALIZED_WITH_ERROR: ["failed", tell("failed")],
    EXPIRED: expire,
  },
  confirmedUnprovable: {
    FINALIZED: ["completed", tell("completed")],
    FINALIZED_WITH_ERROR: ["failed", tell("failed")],
    EXPIRED: expire,
  },
  expired: {
    FINALIZED: ["landedAfterExpiry", `disarm ${day}`],
    FINALIZED_WITH_ERROR: ["expiredForGood", `disarm ${day}`],
    DAY_OVER: ["expiredForGood", `disarm ${day}`],
  },
  cancelled: {
    FINALIZED: ["landedAfterCancel"],
    FINALIZED_WITH_ERROR: ["cancelledForGood"],
    EXPIRED: ["cancelledForGood"],
    UNPROVABLE: ["cancelledUnprovable", report],
  },
  cancelledUnprovable: {
    FINALIZED: ["landedAfterCancel"],
    FINALIZED_WITH_ERROR: ["cancelledForGood"],
    EXPIRED: ["cancelledForGood"],
  },
};

function reach(state: string): Snapshot {
  const [start] = initialTransition(walletTransfer, input);
  const way = ways[state] ?? [];
  const there = way.reduce((at, name) => transition(walletTransfer, at, events[name])[0], start);
  expect(there.value).toBe(state);
  return there;
}

const pairs = Object.keys(ways).flatMap((state) =>
  (Object.keys(events) as EventName[]).map((event) => ({ state, event, row: table[state]?.[event] })),
);

describe("wallet-transfer", () => {
  test("begins accepted, with its broadcast a moment away and nothing asked for", () => {
    const [start, actions] = initialTransition(walletTransfer, { ...input, broadcastDelayMs: 250 });
    expect(start.value).toBe("accepted");
    expect(effectsOf(actions)).toEqual([`arm ${timer} 250`]);
  });

  test.each(pairs.filter(({ row }) => row !== undefined))("$state takes $event", ({ state, event, row }) => {
    const [next, actions] = transition(walletTransfer, reach(state), events[event]);
    expect([next.value, ...effectsOf(actions)]).toEqual(row);
  });

  test.each(pairs.filter(({ row }) => row === undefined))("$state ignores $event", ({ state, event }) => {
    const before = reach(state);
    const [next, actions] = transition(walletTransfer, before, events[event]);
    expect(next).toBe(before);
    expect(actions).toEqual([]);
  });

  const paths = getShortestPaths(walletTransfer, {
    input,
    events: Object.values(events),
    serializeState: ({ value, context }) => JSON.stringify([value, context]),
  });

  test("every state, and every final one among them, is on a shortest path", () => {
    const reached = new Set(paths.map(({ state }) => state.value));
    expect([...reached].toSorted()).toEqual(Object.keys(walletTransfer.states).toSorted());
  });

  test("W19: no path leads a public status back", () => {
    const rank = { pending: 0, processing: 1, confirmed: 1, completed: 2, failed: 2, cancelled: 2 } as const;
    for (const { steps } of paths) {
      const statuses = steps.map(({ state }) => statusOf(state));
      statuses.slice(1).forEach((status, index) => {
        const before = statuses[index] ?? "pending";
        if (before === status) return;
        expect(rank[status], `${before} → ${status}`).toBeGreaterThan(rank[before]);
        expect([before, status], "cancelled only from pending").not.toEqual(["confirmed", "cancelled"]);
      });
    }
  });

  test("W19: on every path each notice is told at most once, in the order of the contract", () => {
    const order = ["pending", "confirmed", "completed", "failed"].map(tell);
    for (const { steps } of paths) {
      let [at] = initialTransition(walletTransfer, input);
      const told: number[] = [];
      for (const { event } of steps.slice(1)) {
        const [next, actions] = transition(walletTransfer, at, event);
        told.push(
          ...effectsOf(actions).flatMap((effect) => (order.includes(effect) ? order.indexOf(effect) : [])),
        );
        at = next;
      }
      expect(told).toEqual([...new Set(told)].toSorted((a, b) => a - b));
    }
  });

  test("W11: a cancelled transfer asks for no broadcast, whatever comes after", () => {
    for (const state of ["cancelled", "cancelledUnprovable", "cancelledForGood", "landedAfterCancel"]) {
      for (const event of Object.values(events)) {
        const [, actions] = transition(walletTransfer, reach(state), event);
        expect(effectsOf(actions).filter((effect) => effect.startsWith("broadcast"))).toEqual([]);
      }
    }
  });

  test("W22: only a landing that succeeded counts as landed after the cancel", () => {
    const cancelled = reach("cancelled");
    expect(transition(walletTransfer, cancelled, events.FINALIZED)[0].value).toBe("landedAfterCancel");
    expect(transition(walletTransfer, cancelled, events.FINALIZED_WITH_ERROR)[0].value).toBe(
      "cancelledForGood",
    );
  });

  test("M5: what is unprovable waits without a timer, and is not sent again", () => {
    for (const state of ["unprovable", "confirmedUnprovable", "cancelledUnprovable"]) {
      const at = reach(state);
      expect(at.status).toBe("active");
      const [, actions] = transition(walletTransfer, reach("confirmed"), events.UNPROVABLE);
      expect(effectsOf(actions)).toEqual([report]);
    }
  });

  test("M5: a landing under another signature of the same message is remembered", () => {
    const other = { ...events.FINALIZED, signature: "other" };
    for (const state of ["broadcasting", "confirmed", "unprovable", "expired", "cancelled"]) {
      const { context } = transition(walletTransfer, reach(state), other)[0];
      expect([state, context.landedSignature]).toEqual([state, "other"]);
    }
    expect(transition(walletTransfer, reach("confirmed"), events.FINALIZED)[0].context.landedSignature).toBe(
      null,
    );
  });

  test("the end keeps why it failed, when it landed and what it cost", () => {
    const { EXPIRED, FINALIZED, FINALIZED_WITH_ERROR } = events;
    const facts = (event: Event): unknown => {
      const { reason, blockTime, fee } = transition(walletTransfer, reach("confirmed"), event)[0].context;
      return { reason, blockTime, fee };
    };
    expect(facts(FINALIZED)).toEqual({ reason: null, blockTime: 1_700_000_000, fee: "5000" });
    expect(facts(FINALIZED_WITH_ERROR)).toEqual({
      reason: "transaction_error",
      blockTime: 1_700_000_000,
      fee: "5000",
    });
    expect(facts(EXPIRED)).toEqual({ reason: "expired", blockTime: null, fee: "0" });
  });

  test("every snapshot that can be reached survives JSON and goes on as if nothing had been", () => {
    for (const { state } of paths) {
      for (const event of Object.values(events)) {
        const [expected, asked] = transition(walletTransfer, state, event);
        const [next, actions] = transition(walletTransfer, restored(walletTransfer, state), event);
        expect(next.toJSON()).toEqual(expected.toJSON());
        expect(effectsOf(actions)).toEqual(effectsOf(asked));
      }
    }
  });
});
