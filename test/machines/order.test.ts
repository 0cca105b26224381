/** The chart of a private order, pure: its table edge by edge, in every snapshot that any events lead to. */
import { initialTransition, type EventFromLogic, type SnapshotFrom } from "xstate";
import { describe, expect, test } from "vitest";
import { order } from "paystate/machines";
import {
  afterEdge,
  edgeOf,
  ORDER,
  type OrderEventName,
  type OrderPlace,
  type OrderPosition,
} from "../protocol/orders/edges.ts";
import { effectsOf, restored } from "./pure-steps.ts";
import { reachable, stepOf, watchesOf } from "./reach.ts";

type Event = EventFromLogic<typeof order>;
type Order = SnapshotFrom<typeof order>;

const payout = { signature: "one", blockTime: 1_700_000_000 };
const events = {
  GO: { type: "GO", charged: "30", ...payout },
  NO_GO: { type: "NO_GO" },
  MARKS: { type: "MARKS", signature: "two", blockTime: 1_700_000_001 },
  GONE: { type: "GONE", chunk: 0, isNobodyWanted: false },
  GONE_NOBODY: { type: "GONE", chunk: 0, isNobodyWanted: true },
  GONE_K: { type: "GONE", chunk: 1, isNobodyWanted: false },
  GONE_K_NOBODY: { type: "GONE", chunk: 1, isNobodyWanted: true },
  FUNDED: { type: "FUNDED" },
  WINDOW_OVER: { type: "WINDOW_OVER", reason: "DEPOSIT_TIMEOUT", isRefused: false },
  WINDOW_OVER_REFUSED: { type: "WINDOW_OVER", reason: "INCOMPLETE_DEPOSIT", isRefused: true },
  CULPRITS: { type: "CULPRITS" },
  BELOW: { type: "BELOW", reason: "SLIPPAGE_EXCEEDED" },
  BELOW_COST: { type: "BELOW_COST" },
  CONFIRMED: { type: "CONFIRMED", signature: "one" },
  DECIDED_ALL: { type: "DECIDED", paid: "all" },
  DECIDED_SOME: { type: "DECIDED", paid: "some" },
  DECIDED_NONE: { type: "DECIDED", paid: "none" },
  LATE: { type: "LATE" },
  EMPTY: { type: "EMPTY" },
  CANCEL: { type: "CANCEL" },
  DECLINE: { type: "DECLINE" },
  FORECLOSE: { type: "FORECLOSE", chunk: 1 },
  LINE_FAILED: { type: "LINE_STANDS", status: "failed", reason: "DEPOSIT_TIMEOUT" },
  LINE_CANCELLED: { type: "LINE_STANDS", status: "cancelled", reason: null },
} as const satisfies Record<OrderEventName, Event>;
const NAMES = Object.keys(events) as OrderEventName[];
/** What leads nowhere, and asks for a look. */
const HINTS = ["CHANGED", "LOOK", "NOTED"] as const;

const after = (delay: string, state: string): Event =>
  ({ type: `xstate.after.${delay}.private-order.${state}` }) as unknown as Event;
const TIMERS: readonly Event[] = [
  after("soon", "undecided.deciding"),
  after("soon", "undecided.refusing"),
  after("soon", "paying"),
  ...["refusing", "paying", "resting"].map((state) => after("later", `over.${state}`)),
  ...["recent", "late", "slow"].map((stage) => after(stage, `over.idle.${stage}`)),
];

const reached = reachable({
  machine: order,
  input: { order: "tx_1" },
  events: [...Object.values(events), ...HINTS.map((type) => ({ type })), ...TIMERS],
  as: ({ value, context: { status, reason, decision, ends } }) => [value, status, reason, decision, ends],
});

function placeOf({ value }: Order): OrderPlace {
  if (typeof value === "string") return value;
  if ("undecided" in value) return value.undecided;
  return typeof value.over === "string" ? `over.${value.over}` : "over.idle";
}

const positionOf = (at: Order): OrderPosition => {
  const { status, decision } = at.context;
  return { place: placeOf(at), status, decision };
};

const FINAL: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

/** A word of the table as the chart asks for it. */
function told(word: string): string {
  const [chunk = "", type, nobody] = word.split(" ");
  if (type === undefined) return `announce ${JSON.stringify({ notice: `transaction.${word}` })}`;
  const event = type === "GONE" ? { type, isNobodyWanted: nobody !== undefined } : { type };
  return `tell ${JSON.stringify({ machine: "order-transfer", id: `tx_1:${chunk}`, event })}`;
}

const LOOK = "look undefined";

/** What a row asks for: what it tells, and then the entry of the place that it leads to. */
function askedBy(at: Order, next: Order, tells: readonly string[]): readonly string[] {
  const untold = tells.filter((word) => word !== "confirmed" || at.context.status !== "confirmed");
  const isClosing = placeOf(next) === "closing";
  return [...untold.map(told), isClosing ? `writeLine ${JSON.stringify({ ends: next.context.ends })}` : LOOK];
}

/** The snapshot behind these events. */
function behind(...names: readonly OrderEventName[]): Order {
  const [start] = initialTransition(order, { order: "tx_1" });
  return names.reduce((at, name) => stepOf(order, at, events[name])[0], start);
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Every step of every snapshot by the table's events. */
const steps = reached.flatMap(({ at }) =>
  NAMES.map((name) => {
    const [next, asked] = stepOf(order, at, events[name]);
    return { at, name, next, asked };
  }),
);

describe("private-order", () => {
  test("in every snapshot each event leads where its row says, and one without a row changes nothing", () => {
    const taken = new Set<unknown>();
    const wrong = steps.filter(({ at, name, next, asked }) => {
      const edge = edgeOf(ORDER, positionOf(at), name);
      taken.add(edge);
      if (edge === undefined) return !isSame([next.value, next.context, asked], [at.value, at.context, []]);
      const expected = [afterEdge(edge, positionOf(at)), askedBy(at, next, edge.tells ?? [])];
      return !isSame([positionOf(next), asked], expected);
    });
    expect(wrong.map(({ at, name, next, asked }) => [at.value, at.context, name, next.value, asked])).toEqual(
      [],
    );
    expect(ORDER.filter((edge) => !taken.has(edge))).toEqual([]);
  });

  test("hints ask for a look everywhere but while the journal is written, and change nothing", () => {
    for (const { at } of reached) {
      const asked = placeOf(at) === "closing" ? [] : [LOOK];
      for (const type of HINTS) expect(stepOf(order, at, { type })).toEqual([at, asked]);
    }
  });

  test("every snapshot survives JSON and goes on as if nothing had been", () => {
    const stored = new Map(reached.map(({ at }) => [at, restored(order, at)]));
    const wrong = steps.filter(({ at, name, next, asked }) => {
      const [again, askedAgain] = stepOf(order, stored.get(at) ?? at, events[name]);
      return !isSame([again.value, again.context, askedAgain], [next.value, next.context, asked]);
    });
    expect(wrong.map(({ at, name }) => [at.value, at.context, name])).toEqual([]);
  });

  test("it begins by telling that it was taken, and watches its address", () => {
    const [start, actions] = initialTransition(order, { order: "tx_1" });
    expect([placeOf(start), start.context.status, ...effectsOf(actions)]).toEqual([
      ...["waiting", "pending", told("pending")],
    ]);
  });
});

describe("the rules", () => {
  test("K17: a status never goes back, and a final one never changes", () => {
    const rank = ["pending", "processing", "confirmed", "completed", "failed", "cancelled"];
    const wrong = steps.filter(({ at: { context: before }, next: { context: now } }) =>
      FINAL.has(before.status)
        ? !isSame([now.status, now.reason], [before.status, before.reason])
        : rank.indexOf(now.status) < rank.indexOf(before.status),
    );
    expect(wrong.map(({ at, name }) => [at.value, at.context, name])).toEqual([]);
  });

  test("K17: chunk 0's marker is heard of in every state in which no row has it", () => {
    for (const { at } of reached.filter(({ at: { context } }) => context.decision === "open")) {
      for (const name of ["GO", "NO_GO"] as const) {
        const [next] = stepOf(order, at, events[name]);
        // The line is written first, and leads where they are heard of.
        const expected = placeOf(at) === "closing" ? "open" : name === "GO" ? "go" : "refused";
        expect([at.value, name, next.context.decision]).toEqual([at.value, name, expected]);
      }
    }
  });

  test("K9: what is confirmed changes the status once, and only finality ends an order", () => {
    const moved = steps.filter(({ at, name, next }) => name === "CONFIRMED" && !isSame(at.value, next.value));
    expect(moved).toEqual([]);
    const paid = steps.filter(
      ({ at, next }) => !FINAL.has(at.context.status) && next.context.status === "completed",
    );
    expect(new Set(paid.map(({ name }) => name))).toEqual(new Set(["DECIDED_ALL"]));
  });

  test("K7: what is left goes back only once all is decided", () => {
    const resting = reached.filter(({ at }) => placeOf(at) === "over.resting");
    expect(new Set(resting.map(({ at }) => at.context.decision))).toEqual(new Set(["decided", "refused"]));
  });

  test("K8: a chunk that a person gives up, or an order that he declines, may still be paid by what was signed before", () => {
    const foreclosed = behind("GO", "FORECLOSE");
    expect([placeOf(foreclosed), foreclosed.context.decision]).toEqual(["paying", "go"]);
    expect(behind("GO", "FORECLOSE", "MARKS", "DECIDED_ALL").context.status).toBe("completed");
    expect(placeOf(behind("FUNDED", "DECLINE", "GO"))).toBe("paying");
  });
});

type Sentence = readonly [
  string,
  readonly OrderEventName[],
  readonly [OrderPlace, OrderPosition["status"], string | null],
];

const SENTENCES: readonly Sentence[] = [
  ["the deposit is there: chunk 0 is to be decided", ["FUNDED"], ["deciding", "processing", null]],
  ["a go of another copy pays an order that has seen no deposit", ["GO"], ["paying", "processing", null]],
  ["a no-go of another copy ends it, refused", ["NO_GO"], ["over.resting", "failed", "REFUSED"]],
  [
    "a caller cancels: the row is closed, and he is told after the journal",
    ["CANCEL"],
    ["closing", "pending", null],
  ],
  ["… and the line ends it", ["CANCEL", "LINE_CANCELLED"], ["over.idle", "cancelled", null]],
  ["only an order that waits is cancelled", ["FUNDED", "CANCEL"], ["deciding", "processing", null]],
  [
    "the window is over and nothing is worth a refund",
    ["WINDOW_OVER", "LINE_FAILED"],
    ["over.idle", "failed", "DEPOSIT_TIMEOUT"],
  ],
  [
    "the window is over and something is: the order is refused on the chain",
    ["WINDOW_OVER_REFUSED", "NO_GO"],
    ["over.resting", "failed", "INCOMPLETE_DEPOSIT"],
  ],
  ["a person declines before the go", ["FUNDED", "DECLINE"], ["refusing", "processing", "DECLINED"]],
  ["culprits leave nobody", ["FUNDED", "CULPRITS", "NO_GO"], ["over.resting", "failed", "PAYOUT_FAILED"]],
  ["no price is good enough", ["FUNDED", "BELOW", "NO_GO"], ["over.resting", "failed", "SLIPPAGE_EXCEEDED"]],
  ["bytes in flight win against a refusal", ["FUNDED", "DECLINE", "GO"], ["paying", "processing", null]],
  [
    "a refusal of what is not worth it ends without a decision",
    ["FUNDED", "DECLINE", "BELOW_COST", "LINE_FAILED"],
    ["over.idle", "failed", "DEPOSIT_TIMEOUT"],
  ],
  ["all chunks at confirmed, all paid", ["FUNDED", "GO", "CONFIRMED"], ["paying", "confirmed", null]],
  [
    "every recipient is paid",
    ["FUNDED", "GO", "MARKS", "CONFIRMED", "DECIDED_ALL"],
    ["over.resting", "completed", null],
  ],
  ["some are paid", ["FUNDED", "GO", "MARKS", "DECIDED_SOME"], ["over.resting", "failed", "PARTIAL_PAYOUT"]],
  ["none is paid", ["FUNDED", "GO", "MARKS", "DECIDED_NONE"], ["over.resting", "failed", "PAYOUT_FAILED"]],
  [
    "a go behind the end pays, and the status stays",
    ["CANCEL", "LINE_CANCELLED", "GO", "MARKS", "DECIDED_ALL"],
    ["over.resting", "cancelled", null],
  ],
  [
    "a no-go behind the end returns what came",
    ["CANCEL", "LINE_CANCELLED", "NO_GO"],
    ["over.resting", "cancelled", null],
  ],
  [
    "a go that is gone is made again",
    ["GO", "MARKS", "DECIDED_ALL", "GONE"],
    ["over.paying", "completed", null],
  ],
  ["… or declined by a person", ["GO", "GONE", "DECLINE"], ["refusing", "processing", "DECLINED"]],
  ["… also once it was over", ["GO", "DECIDED_ALL", "GONE", "DECLINE"], ["over.refusing", "completed", null]],
  ["a no-go that is gone is made again", ["NO_GO", "GONE_NOBODY"], ["over.refusing", "failed", "REFUSED"]],
  [
    "a later chunk's marker that is gone is made again",
    ["GO", "DECIDED_ALL", "GONE_K"],
    ["over.paying", "completed", null],
  ],
  [
    "late money of an undecided order is refused",
    ["CANCEL", "LINE_CANCELLED", "LATE"],
    ["over.refusing", "cancelled", null],
  ],
  [
    "late money of a decided order goes back",
    ["NO_GO", "EMPTY", "LATE"],
    ["over.resting", "failed", "REFUSED"],
  ],
  ["what is not worth its return stays", ["NO_GO", "BELOW_COST"], ["over.idle", "failed", "REFUSED"]],
  [
    "a start ends an order short of paying as its line says",
    ["FUNDED", "LINE_CANCELLED"],
    ["over.idle", "cancelled", null],
  ],
  ["… and none that pays", ["GO", "LINE_CANCELLED"], ["paying", "processing", null]],
];

describe("the sentences of the table", () => {
  test.each(SENTENCES)("%s", (_, way, [place, status, reason]) => {
    const at = behind(...way);
    expect([placeOf(at), at.context.status, at.context.reason]).toEqual([place, status, reason]);
  });

  test("nothing but the journal's line is heard while an order is closing", () => {
    const at = behind("CANCEL");
    for (const name of NAMES.filter((each) => !each.startsWith("LINE_"))) {
      expect([name, placeOf(stepOf(order, at, events[name])[0])]).toEqual([name, "closing"]);
    }
  });

  test("a repeated hint that nothing came is told to nobody: callers hear of each status once, in its order", () => {
    for (const { way } of reached) {
      let [at] = initialTransition(order, { order: "tx_1" });
      const notices = [told("pending")];
      for (const event of way) {
        const [next, asked] = stepOf(order, at, event);
        notices.push(...asked.filter((each) => each.startsWith("announce")));
        at = next;
      }
      const expected = ["pending", "confirmed", "completed", "failed"]
        .map(told)
        .filter((each) => notices.includes(each));
      expect(notices).toEqual(expected);
    }
  });

  test("the fee is known with the go, and is nothing where nobody was paid", () => {
    const facts = ({ context: { charged, signature, blockTime } }: Order) => [charged, signature, blockTime];
    expect(facts(behind("GO", "MARKS"))).toEqual(["30", "two", 1_700_000_001]);
    for (const way of [["NO_GO"], ["CANCEL", "LINE_CANCELLED"]] as const) {
      expect(facts(behind(...way))).toEqual(["0", null, null]);
    }
    const [corrected] = stepOf(order, behind("GO"), { type: "NOTED", charged: "0" });
    expect(facts(corrected)).toEqual(["0", "one", 1_700_000_000]);
  });
});

describe("the watch of an address", () => {
  const stages = (...delays: readonly string[]): Order =>
    delays.reduce(
      (at, stage) => stepOf(order, at, after(stage, `over.idle.${stage}`))[0],
      behind("CANCEL", "LINE_CANCELLED"),
    );

  test("is as close as before for 15 minutes, every 5 minutes for a day, hourly for 60 days, and then ends", () => {
    expect(watchesOf(behind())).toEqual(["orders"]);
    expect(
      [[], ["recent"], ["recent", "late"], ["recent", "late", "slow"]].map((way) =>
        watchesOf(stages(...way)),
      ),
    ).toEqual([...[["activeOrders"], ["lateOrders"], ["slowOrders"], []]]);
    const { recent, late, slow } = order.implementations.delays;
    expect([recent, late, slow]).toEqual([15 * 60_000, 86_400_000, 60 * 86_400_000]);
  });

  test("is as close as before while an order is decided, refused and paid", () => {
    for (const way of [["FUNDED"], ["FUNDED", "DECLINE"], ["GO"]] as const) {
      expect([way, watchesOf(behind(...way))]).toEqual([way, ["activeOrders"]]);
    }
  });

  test("begins anew behind money that came late, also where it had ended", () => {
    const closed = stages("recent", "late", "slow");
    const late = stepOf(order, closed, events.LATE)[0];
    expect(watchesOf(stepOf(order, late, events.EMPTY)[0])).toEqual(["activeOrders"]);
  });

  test("is helped by a timer wherever something is expected: nobody tells of a price, or of another copy's marker", () => {
    for (const { at } of reached.filter(({ at: { context } }) => context.ends === null)) {
      const place = placeOf(at);
      const asking = TIMERS.filter((timer) => stepOf(order, at, timer)[1].length > 0);
      const isWatched = place === "waiting" || place === "over.idle";
      expect([place, asking.length]).toEqual([place, isWatched ? asking.length : 1]);
      for (const timer of asking) expect(stepOf(order, at, timer)[1]).toEqual([LOOK]);
    }
  });
});
