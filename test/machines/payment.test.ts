/** The chart of a payment, pure: one open attempt at a time, and only proof leads on. */
import { initialTransition, transition, type EventFromLogic } from "xstate";
import { describe, expect, test } from "vitest";
import { payment } from "paystate/machines";
import { checkTable, placeOf, shortestPaths } from "./chart-table.ts";
import { effectsOf } from "./pure-steps.ts";

type Event = EventFromLogic<typeof payment>;

const input = {
  paymentId: "pay_1",
  address: "address",
  order: "tx_1",
  role: "payout",
  indexes: [0, 1],
  recipients: 2,
  movements: [{ kind: "payout", mint: "mint", amount: "7" }],
  retryPauseMs: 30_000,
} as const;
const plan = { ...input, role: "plan", indexes: [], recipients: 5, movements: [] } as const;
const own = { ...input, role: "own", indexes: [], recipients: 0 } as const;
const rival = {
  payment: "pay_0",
  indexes: [0],
  unpaid: 1,
  movements: input.movements,
  signature: "zero",
  slot: 5,
  blockTime: 1_699_999_999,
} as const;
const events = {
  SIGNED: { type: "SIGNED", signature: "one" },
  SIGNED_AGAIN: { type: "SIGNED", signature: "two" },
  REFUSED: { type: "REFUSED", fault: { kind: "payee", move: 1 } },
  MARKED: { type: "MARKED" },
  BROADCAST: { type: "BROADCAST" },
  CONFIRMED: { type: "CONFIRMED", about: "one" },
  REPORTED: { type: "REPORTED", about: "one", error: null },
  REPORTED_FAILED: { type: "REPORTED", about: "one", error: "custom" },
  EXPIRED: { type: "EXPIRED", about: "one" },
  LATE_CONFIRMED: { type: "CONFIRMED", about: "none" },
  LATE_REPORTED: { type: "REPORTED", about: "none", error: "custom" },
  LATE_EXPIRED: { type: "EXPIRED", about: "none" },
  MADE: { type: "MADE", signature: "one", slot: 7, blockTime: 1_700_000_000 },
  UNMADE: { type: "UNMADE", isDead: false },
  DEAD: { type: "UNMADE", isDead: true },
  OVERTAKEN: { type: "OVERTAKEN", ...rival },
  EXPLAINED_PASSING: { type: "EXPLAINED", fault: { kind: "fee_payer", move: null } },
  EXPLAINED_PAYEE: { type: "EXPLAINED", fault: { kind: "payee", move: 1 } },
  LEAVES_STARTED: { type: "LEAVES_STARTED", payouts: 2, unpaid: 1 },
  PAUSE_OVER: { type: "xstate.after.retryPause.payment.pausing" } as unknown as Event,
  DOUBT_OVER: { type: "xstate.after.retryPause.payment.doubting" } as unknown as Event,
} as const satisfies Record<string, Event>;

const tell = (machine: string, id: string, event: object): string =>
  `tell ${JSON.stringify({ machine, id, event })}`;
const news = (
  type: string,
  more: {
    signature?: string | null;
    blockTime?: number | null;
    wasConfirmed?: boolean;
    fault?: object | null;
  } = {},
): string =>
  tell("private-transfer", "tx_1", {
    type,
    payment: "pay_1",
    indexes: [0, 1],
    signature: "one",
    blockTime: null,
    wasConfirmed: false,
    fault: null,
    ...more,
  });
const routed = (payouts: number, unpaid: number): string =>
  tell("private-transfer", "tx_1", { type: "ROUTED", payouts, unpaid });
const landed = (landing: string, slot: number, signature: string): string =>
  tell("deposit-address", "address", {
    type: "PAYMENT_LANDED",
    payment: landing,
    slot,
    signature,
    movements: input.movements,
  });
const lost = (fault: object): string =>
  tell("deposit-address", "address", { type: "PAYMENT_LOST", payment: "pay_1", fault });
const overtaken = (role: string, wasConfirmed = false): string =>
  tell("private-transfer", "tx_1", {
    type: "PAYOUT_OVERTAKEN",
    role,
    wasConfirmed,
    hasLeaves: false,
    paid: 1,
    unpaid: 1,
    signature: "zero",
    blockTime: 1_699_999_999,
  });

const sign = (attempt: number): string => `sign {"paymentId":"pay_1","attempt":${attempt}}`;
const read = (error: string | null): string => `readMarker ${JSON.stringify({ paymentId: "pay_1", error })}`;
const explain = 'explain {"paymentId":"pay_1"}';
const payee = { kind: "payee", move: 1 };
const superseded = { kind: "superseded", move: null };
const pause = "xstate.after.retryPause.payment.pausing";
const doubt = "xstate.after.retryPause.payment.doubting";
const inFlight = (state: string): string => `{"inFlight":"${state}"}`;

const fromFlight = {
  EXPIRED: ["reading", read(null)],
  REPORTED: ["reading", read(null)],
  REPORTED_FAILED: ["reading", read("custom")],
} as const;
const toConfirmed = [inFlight("confirmed"), news("PAYOUT_CONFIRMED")] as const;
const toLanded = (wasConfirmed: boolean) =>
  [
    "finalized",
    landed("pay_1", 7, "one"),
    news("PAYOUT_FINALIZED", { blockTime: 1_700_000_000, wasConfirmed }),
  ] as const;
const toOvertaken = ["failed", landed("pay_0", 5, "zero"), overtaken("payout"), lost(superseded)] as const;

const isOfAddress = (effect: string): boolean => effect.includes('"PAYMENT_');
const isOfOrder = (effect: string): boolean => effect.includes('"private-transfer"');

describe("payment", () => {
  const { reach } = checkTable({
    machine: payment,
    input,
    events,
    ways: {
      planned: [],
      signed: ["SIGNED"],
      broadcast: ["SIGNED", "BROADCAST"],
      confirmed: ["SIGNED", "BROADCAST", "CONFIRMED"],
      reading: ["SIGNED", "EXPIRED"],
      "reading, failed": ["SIGNED", "REPORTED_FAILED"],
      doubting: ["SIGNED", "EXPIRED", "UNMADE"],
      explaining: ["SIGNED", "REPORTED_FAILED", "DEAD"],
      pausing: ["SIGNED", "REPORTED_FAILED", "DEAD", "EXPLAINED_PASSING"],
      "the second attempt": ["SIGNED", "EXPIRED", "DEAD", "SIGNED_AGAIN"],
      finalized: ["SIGNED", "REPORTED", "MADE"],
      failed: ["REFUSED"],
    },
    table: {
      planned: {
        SIGNED: [inFlight("signed"), 'broadcast {"signature":"one"}'],
        SIGNED_AGAIN: [inFlight("signed"), 'broadcast {"signature":"two"}'],
        REFUSED: ["failed", lost(payee), news("PAYOUT_FAILED", { signature: null, fault: payee })],
        MARKED: ["reading", read(null)],
      },
      signed: { BROADCAST: [inFlight("broadcast")], CONFIRMED: toConfirmed, ...fromFlight },
      broadcast: { CONFIRMED: toConfirmed, ...fromFlight },
      confirmed: fromFlight,
      reading: {
        MADE: toLanded(false),
        UNMADE: ["doubting", `arm ${doubt} 30000`],
        DEAD: ["planned", sign(2)],
        OVERTAKEN: toOvertaken,
        REFUSED: ["failed", lost(payee), news("PAYOUT_FAILED", { fault: payee })],
      },
      "reading, failed": {
        MADE: toLanded(false),
        UNMADE: ["doubting", `arm ${doubt} 30000`],
        DEAD: ["explaining", explain],
        OVERTAKEN: toOvertaken,
        REFUSED: ["failed", lost(payee), news("PAYOUT_FAILED", { fault: payee })],
      },
      doubting: { DOUBT_OVER: ["reading", `disarm ${doubt}`, read(null)] },
      explaining: {
        EXPLAINED_PASSING: ["pausing", `arm ${pause} 30000`],
        EXPLAINED_PAYEE: ["failed", lost(payee), news("PAYOUT_FAILED", { fault: payee })],
      },
      pausing: { PAUSE_OVER: ["planned", `disarm ${pause}`, sign(2)] },
      "the second attempt": { BROADCAST: [inFlight("broadcast")] },
    },
    passed: ["landed", "lost", "overtaken", "succeeding"],
  });

  test("it begins by signing, and nothing else", () => {
    const [start, actions] = initialTransition(payment, input);
    expect([placeOf(start), ...effectsOf(actions)]).toEqual(["planned", sign(1)]);
  });

  test("E7: news of an attempt that is dead says nothing about the next one", () => {
    const second = reach("the second attempt");
    for (const event of ["CONFIRMED", "REPORTED", "REPORTED_FAILED", "EXPIRED"] as const) {
      const [next, actions] = transition(payment, second, events[event]);
      expect([event, next.value, effectsOf(actions)]).toEqual([event, second.value, []]);
    }
    expect(transition(payment, second, { ...events.EXPIRED, about: "two" })[0].value).toBe("reading");
  });

  const walk = (from: typeof input | typeof plan | typeof own, ...sent: readonly Event[]) => {
    let [at] = initialTransition(payment, from);
    let asked: string[] = [];
    for (const event of sent) {
      const [next, actions] = transition(payment, at, event);
      [at, asked] = [next, effectsOf(actions)];
    }
    return { at, asked };
  };

  test("a refund or a sweep, which no order waits for, tells its address and nobody else", () => {
    expect(walk(own, events.SIGNED, events.CONFIRMED).asked).toEqual([]);
    expect(walk(own, events.SIGNED, events.CONFIRMED, events.REPORTED, events.MADE).asked).toEqual([
      landed("pay_1", 7, "one"),
    ]);
  });

  test("M1, M2: a refund that meets a landed payout books the payout and tells the order", () => {
    expect(walk(own, events.MARKED, events.OVERTAKEN).asked).toEqual([
      landed("pay_0", 5, "zero"),
      overtaken("own"),
      lost(superseded),
    ]);
  });

  test("a plan starts its payouts when it is confirmed, once, and concludes nothing until they are counted", () => {
    const confirmed = walk(plan, events.SIGNED, events.CONFIRMED);
    expect([placeOf(confirmed.at), ...confirmed.asked]).toEqual([
      inFlight("following"),
      'startLeaves {"paymentId":"pay_1"}',
    ]);
    for (const event of [events.CONFIRMED, events.REPORTED, events.EXPIRED]) {
      const [next, actions] = transition(payment, confirmed.at, event);
      expect([placeOf(next), effectsOf(actions)]).toEqual([inFlight("following"), []]);
    }
    const [followed, told] = transition(payment, confirmed.at, events.LEAVES_STARTED);
    expect([placeOf(followed), ...effectsOf(told)]).toEqual([inFlight("confirmed"), routed(2, 1)]);
    const [reading] = transition(payment, followed, events.REPORTED);
    expect(effectsOf(transition(payment, reading, events.MADE)[1]).filter(isOfOrder)).toEqual([]);
  });

  test("a plan that is first seen final starts its payouts then", () => {
    const made = walk(plan, events.SIGNED, events.REPORTED, events.MADE);
    expect([made.at.value, made.asked.at(-1)]).toEqual(["succeeding", 'startLeaves {"paymentId":"pay_1"}']);
    const [ended, told] = transition(payment, made.at, events.LEAVES_STARTED);
    expect([ended.value, ...effectsOf(told)]).toEqual(["finalized", routed(2, 1)]);
  });

  test("a plan that cannot be made leaves all its recipients unpaid", () => {
    expect(walk(plan, events.REFUSED).asked).toEqual([lost(payee), routed(0, 5)]);
  });

  test("a plan that is given up after it has started its payouts leaves them to be counted one by one", () => {
    const started = walk(plan, events.SIGNED, events.CONFIRMED, events.LEAVES_STARTED, events.EXPIRED);
    const [, asked] = transition(payment, started.at, events.REFUSED);
    expect(effectsOf(asked)).toEqual([lost(payee)]);
  });

  test("M17: what keeps landing with an error is held for an operator after each five attempts, and goes on when released", () => {
    const round = [
      events.SIGNED,
      events.REPORTED_FAILED,
      events.DEAD,
      events.EXPLAINED_PASSING,
      events.PAUSE_OVER,
    ];
    let [at] = initialTransition(payment, input);
    const held: number[] = [];
    for (let attempt = 1; attempt <= 11; attempt++) {
      for (const event of round) {
        const [next, actions] = transition(payment, at, event);
        if (effectsOf(actions).includes('hold {"paymentId":"pay_1"}')) held.push(attempt);
        at = next;
      }
      expect(at.value).toBe("planned");
    }
    expect(held).toEqual([5, 10]);
  });

  test.each([
    ["held for an operator after each twenty attempts", {}, [20, 40]],
    ["never held where one node alone says so", { isPresumed: true }, []],
  ])("M17: what nodes only call dead is signed again at once, and %s", (_, presumed, expected) => {
    let [at] = initialTransition(payment, input);
    const held: number[] = [];
    for (let attempt = 1; attempt <= 41; attempt++) {
      for (const event of [events.SIGNED, events.EXPIRED, { ...events.DEAD, ...presumed }]) {
        const [next, actions] = transition(payment, at, event);
        if (effectsOf(actions).includes('hold {"paymentId":"pay_1"}')) held.push(attempt);
        at = next;
      }
      if (at.value === "pausing") [at] = transition(payment, at, events.PAUSE_OVER);
      expect(at.value).toBe("planned");
    }
    expect(held).toEqual(expected);
  });

  const paths = shortestPaths(payment, input, Object.values(events), ({ value, context }) =>
    JSON.stringify([value, context.wasConfirmed, context.signature, context.attempts > 2]),
  );

  test("every path that ends tells the address exactly once whether it has landed or is lost", () => {
    const ends = paths.filter(({ state }) => state.status === "done");
    expect(new Set(ends.map(({ state }) => state.value))).toEqual(new Set(["finalized", "failed"]));
    for (const { steps, state } of ends) {
      let [at] = initialTransition(payment, input);
      const told: string[] = [];
      for (const { event } of steps.slice(1)) {
        const [next, actions] = transition(payment, at, event);
        told.push(
          ...effectsOf(actions)
            .filter((effect) => effect.includes('"payment":"pay_1"'))
            .filter(isOfAddress),
        );
        at = next;
      }
      const expected = state.value === "finalized" ? "PAYMENT_LANDED" : "PAYMENT_LOST";
      expect(told.map((each) => each.includes(expected))).toEqual([true]);
    }
  });

  test("E6, E7: on no path are bytes broadcast that were not signed before, nor signed again while any may land", () => {
    const signedTooSoon: string[] = [];
    for (const { steps } of paths) {
      let [at] = initialTransition(payment, input);
      let isOpen = false;
      for (const { event } of steps.slice(1)) {
        const [next, actions] = transition(payment, at, event);
        if (event.type === "UNMADE" && event.isDead) isOpen = false;
        for (const effect of effectsOf(actions)) {
          if (effect.startsWith("sign ") && isOpen) signedTooSoon.push(effect);
          if (effect.startsWith("broadcast ")) isOpen = true;
        }
        at = next;
      }
    }
    expect(signedTooSoon).toEqual([]);
  });
});
