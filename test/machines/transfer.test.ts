/** The chart of a transfer, pure: its table edge by edge, of every kind, in every snapshot that any events lead to. */
// modules: private
import { initialTransition, type EventFromLogic, type SnapshotFrom } from "xstate";
import { describe, expect, test } from "vitest";
import { transfer } from "paystate/machines";
import type { TransferKind } from "../../machines/transfer.ts";
import {
  afterTransferEdge,
  TRANSFER,
  TRANSFER_KINDS,
  transferEdgeOf,
  type TransferEventName,
  type TransferPlace,
  type TransferPosition,
} from "../protocol/transfers/edges.ts";
import { effectsOf, restored } from "./pure-steps.ts";
import { reachable, stepOf, watchesOf } from "./reach.ts";

type Event = EventFromLogic<typeof transfer>;
type Transfer = SnapshotFrom<typeof transfer>;

const events = {
  SIGNED: { type: "SIGNED", signature: "one" },
  MARK: { type: "MARK", length: 0 },
  CULPRIT: { type: "CULPRIT", isNobodyWanted: false },
  CULPRIT_NOBODY: { type: "CULPRIT", isNobodyWanted: true },
  HELD: { type: "HELD", reason: "screening" },
  NOT_NOW: { type: "NOT_NOW", reason: "low_purse", pauseMs: null },
  EXPIRED: { type: "EXPIRED" },
  OWN_SIGNATURE: { type: "OWN_SIGNATURE", signature: "one" },
  SAME_ACT: { type: "SAME_ACT" },
  STANDS: { type: "STANDS" },
  DAY: { type: "DAY" },
  NOTHING_LEFT: { type: "NOTHING_LEFT" },
  WANT_NOBODY: { type: "WANT_NOBODY" },
  GONE: { type: "GONE", isNobodyWanted: false },
  GONE_NOBODY: { type: "GONE", isNobodyWanted: true },
  RETRY: { type: "RETRY" },
} as const satisfies Record<TransferEventName, Event>;
const NAMES = Object.keys(events) as TransferEventName[];

const after = (delay: string, state: string): Event =>
  ({ type: `xstate.after.${delay}.order-transfer.${state}` }) as unknown as Event;
const PAUSE_OVER = after("notBefore", "planned.pausing");
const AGAIN = after("again", "out.concluding");
const LOOK = `tell ${JSON.stringify({ machine: "private-order", id: "tx_1", event: { type: "LOOK" } })}`;

const inputOf = (kind: TransferKind) => ({ order: "tx_1", kind });

const reached = TRANSFER_KINDS.flatMap((kind) =>
  reachable({
    machine: transfer,
    input: inputOf(kind),
    events: [...Object.values(events), { type: "CONFIRMED" }, { type: "REPORTED" }, PAUSE_OVER, AGAIN],
    as: ({ value, context }) => [value, context],
    // Counts grow for ever: what they do is told by tests of their own.
    isNear: ({ context }) => context.errors < 3 && context.refusals < 2,
  }).map(({ at }) => at),
);

const PLACES: Readonly<Record<string, TransferPlace>> = { booked: "done", done: "done", ended: "ended" };

function placeOf({ value }: Transfer): TransferPlace {
  if (typeof value === "string") return PLACES[value] as TransferPlace;
  return "planned" in value ? value.planned : "out";
}

function positionOf(at: Transfer): TransferPosition {
  const { kind, isNobodyWanted } = at.context;
  return { kind, place: placeOf(at), isNobodyWanted };
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The snapshot behind these events; every pause is over before the next one. */
function behind(kind: TransferKind, ...told: readonly Event[]): Transfer {
  const [start] = initialTransition(transfer, inputOf(kind));
  return told.reduce((at, event) => stepOf(transfer, stepOf(transfer, at, PAUSE_OVER)[0], event)[0], start);
}

const steps = reached
  .filter(({ status }) => status === "active")
  .flatMap((at) =>
    NAMES.map((name) => {
      const [next, asked] = stepOf(transfer, at, events[name]);
      return { at, name, next, asked };
    }),
  );

describe("order-transfer", () => {
  test("in every snapshot each event leads where its row says, and one without a row changes nothing", () => {
    const taken = new Set<unknown>();
    const wrong = steps.filter(({ at, name, next, asked }) => {
      const edge = transferEdgeOf(TRANSFER, positionOf(at), name);
      taken.add(edge);
      if (edge === undefined) return !isSame([next.value, next.context, asked], [at.value, at.context, []]);
      const expected = [afterTransferEdge(edge, positionOf(at)), edge.tells === true ? [LOOK] : []];
      return !isSame([positionOf(next), asked], expected);
    });
    expect(wrong.map(({ at, name, next, asked }) => [at.value, at.context, name, next.value, asked])).toEqual(
      [],
    );
    expect(TRANSFER.filter((edge) => !taken.has(edge))).toEqual([]);
  });

  test("every snapshot survives JSON and goes on as if nothing had been", () => {
    const stored = new Map(reached.map((at) => [at, restored(transfer, at)]));
    const wrong = steps.filter(({ at, name, next, asked }) => {
      const [again, askedAgain] = stepOf(transfer, stored.get(at) ?? at, events[name]);
      return !isSame([again.value, again.context, askedAgain], [next.value, next.context, asked]);
    });
    expect(wrong.map(({ at, name }) => [at.value, at.context, name])).toEqual([]);
  });

  test("what ends with a chunk's marker stays to hear that it is gone; all else is final", () => {
    for (const at of reached.filter((each) => placeOf(each) === "done")) {
      const isOfChunk = at.context.kind === "chunk";
      expect([at.context.kind, at.status]).toEqual([at.context.kind, isOfChunk ? "active" : "done"]);
    }
  });

  test("it is signed when its pause is over, and not before", () => {
    const [start, actions] = initialTransition(transfer, inputOf("rest"));
    expect(effectsOf(actions)).toEqual(["arm xstate.after.notBefore.order-transfer.planned.pausing 0"]);
    expect(stepOf(transfer, start, events.SIGNED)[0].value).toEqual({ planned: "pausing" });
    expect(stepOf(transfer, start, PAUSE_OVER)[1]).toEqual(["sign undefined"]);
  });

  test("watches report: what is confirmed is told once, and what may be final is concluded until it is", () => {
    const out = behind("chunk", events.SIGNED);
    expect(watchesOf(out)).toEqual(["attempts"]);
    const [confirmed, told] = stepOf(transfer, out, { type: "CONFIRMED" });
    expect([told, stepOf(transfer, confirmed, { type: "CONFIRMED" })]).toEqual([[LOOK], [confirmed, []]]);
    const [concluding, asked] = stepOf(transfer, confirmed, { type: "REPORTED" });
    expect([concluding.value, asked]).toEqual([{ out: "concluding" }, ["conclude undefined"]]);
    expect(stepOf(transfer, concluding, { type: "REPORTED" })).toEqual([concluding, []]);
    expect(stepOf(transfer, concluding, AGAIN)[1]).toEqual(["conclude undefined"]);
  });
});

type Sentence = readonly [string, TransferKind, readonly Event[], TransferPlace];

const SENTENCES: readonly Sentence[] = [
  ["bytes are committed before one leaves", "chunk", [events.SIGNED], "out"],
  ["a chunk is done by its marker, whoever made it", "chunk", [events.MARK], "done"],
  ["… also while its own bytes are out", "chunk", [events.SIGNED, events.MARK], "done"],
  ["… and by nothing else", "chunk", [events.SIGNED, events.OWN_SIGNATURE], "out"],
  ["nobody wanted is signed at once", "chunk", [events.SIGNED, events.WANT_NOBODY, events.SIGNED], "out"],
  ["a culprit is left out, at once", "chunk", [events.SIGNED, events.CULPRIT, events.SIGNED], "out"],
  [
    "no culprit is left out of nobody",
    "chunk",
    [events.SIGNED, events.WANT_NOBODY, events.SIGNED, events.CULPRIT],
    "out",
  ],
  ["a rest is done by its own signature", "rest", [events.SIGNED, events.OWN_SIGNATURE], "done"],
  ["… and by no marker", "rest", [events.SIGNED, events.MARK], "out"],
  ["a receiver who cannot take it is a hold", "rest", [events.SIGNED, events.HELD], "pausing"],
  ["a cause that passes is waited for", "rest", [events.SIGNED, events.NOT_NOW], "pausing"],
  ["what expired is signed from a new reading", "rest", [events.SIGNED, events.EXPIRED], "pausing"],
  ["what is not worth sending is dust", "rest", [events.NOTHING_LEFT], "ended"],
  ["a marker that is gone is made again", "chunk", [events.MARK, events.GONE, events.SIGNED], "out"],
  ["an act whose marker stands as approved is that act", "redirect", [events.SAME_ACT], "done"],
  ["an act whose marker stands otherwise is superseded", "redirect", [events.STANDS], "ended"],
  ["an act ends a day after it was approved", "redirect", [events.DAY], "ended"],
  ["… but not while its bytes may land", "redirect", [events.SIGNED, events.DAY], "out"],
];

describe("the sentences of the table", () => {
  test.each(SENTENCES)("%s", (_, kind, told, place) => {
    expect(placeOf(behind(kind, ...told))).toBe(place);
  });
});

describe("the rules", () => {
  const failing = { type: "NOT_NOW", reason: "low_purse", pauseMs: 5_000 } as const;
  const failed = (times: number, ...then: readonly Event[]): number => {
    const told = Array.from({ length: times }, () => [events.SIGNED, failing]).flat();
    return behind("rest", ...told, ...then).context.pauseMs;
  };

  test("K14: what has landed with an error three times is tried once an hour, until a person tries it", () => {
    expect([failed(1), failed(2), failed(3), failed(4)]).toEqual([5_000, 5_000, 3_600_000, 3_600_000]);
    expect(failed(3, events.SIGNED, events.EXPIRED)).toBe(3_600_000);
    expect(failed(3, failing)).toBe(3_600_000);
    expect([failed(3, events.RETRY), failed(3, events.RETRY, events.SIGNED, failing)]).toEqual([0, 5_000]);
  });

  test("K14: what has landed with an error that holds its order is tried a minute later, and behind the third error an hour later", () => {
    const contexts = [1, 2, 3].map(
      (times) =>
        behind("rest", ...Array.from({ length: times }, () => [events.SIGNED, events.HELD]).flat()).context,
    );
    expect(contexts.map(({ pauseMs }) => pauseMs)).toEqual([60_000, 60_000, 3_600_000]);
    for (const { reason } of contexts) expect(reason).toBe("screening");
  });

  test("K14: a culprit is left out at once, but for the third error", () => {
    const culprits = (times: number): number =>
      behind("chunk", ...Array.from({ length: times }, () => [events.SIGNED, events.CULPRIT]).flat()).context
        .pauseMs;
    expect([culprits(1), culprits(2), culprits(3)]).toEqual([0, 0, 3_600_000]);
  });

  test("K14: no second rest is signed while bytes of the first may land", () => {
    const out = reached.filter((at) => placeOf(at) === "out");
    for (const at of out) expect(placeOf(stepOf(transfer, at, events.SIGNED)[0])).toBe("out");
  });

  test("K13: what is refused before it is signed is tried again after 2 s, doubled to a minute", () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7].map(
      (times) => behind("rest", ...Array.from({ length: times }, () => events.NOT_NOW)).context.pauseMs,
    );
    expect(pauses).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(
      behind("rest", events.NOT_NOW, events.SIGNED, events.EXPIRED, events.NOT_NOW).context.pauseMs,
    ).toBe(2_000);
  });

  test("K8: nobody wanted is signed at once, and its errors count anew", () => {
    const waiting = behind("chunk", ...Array.from({ length: 3 }, () => [events.SIGNED, failing]).flat());
    const planned = stepOf(transfer, waiting, events.WANT_NOBODY)[0].context;
    const out = behind("chunk", events.SIGNED, failing, events.SIGNED, events.WANT_NOBODY).context;
    const again = behind("chunk", events.SIGNED, failing, events.MARK, events.GONE).context;
    for (const { pauseMs, errors } of [planned, out, again]) expect([pauseMs, errors]).toEqual([0, 0]);
  });

  test("K8: once nobody is wanted, nobody is wanted for ever, also of a marker that is made again", () => {
    const forgotten = steps.filter(
      ({ at, next }) => at.context.isNobodyWanted && !next.context.isNobodyWanted,
    );
    expect(forgotten).toEqual([]);
    const again = behind("chunk", events.SIGNED, events.WANT_NOBODY, events.MARK, events.GONE);
    expect(again.context.isNobodyWanted).toBe(true);
  });

  test("K9: what is confirmed ends nothing", () => {
    for (const at of reached.filter(({ status }) => status === "active")) {
      expect(placeOf(stepOf(transfer, at, { type: "CONFIRMED" })[0])).toBe(placeOf(at));
    }
  });
});
