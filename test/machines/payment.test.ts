/** The chart of a payment, pure: one open attempt at a time, and only proof leads on. */
import { initialTransition, transition } from "xstate";
import type { EventFromLogic } from "xstate";
import { describe, expect, test } from "vitest";
import { payment } from "paystate/machines";
import { checkTable, placeOf, shortestPaths } from "./chart-table.ts";
import { effectsOf } from "./pure-steps.ts";

type Event = EventFromLogic<typeof payment>;

const input = {
  paymentId: "pay_1",
  address: "address",
  order: "tx_1",
  indexes: [0, 1],
  movements: [{ kind: "payout", mint: "mint", amount: "7" }],
  retryPauseMs: 30_000,
} as const;
const final = { type: "FINALIZED", slot: 7, blockTime: 1_700_000_000, fee: "5000" } as const;
const events = {
  SIGNED: { type: "SIGNED", signature: "one" },
  SIGNED_AGAIN: { type: "SIGNED", signature: "two" },
  REFUSED: { type: "REFUSED", fault: { kind: "payee", move: 1 } },
  MARKED: { type: "MARKED" },
  BROADCAST: { type: "BROADCAST" },
  CONFIRMED: { type: "CONFIRMED", about: "one" },
  FINALIZED: { ...final, error: null, about: "one" },
  FAILED_ON_CHAIN: { ...final, error: "custom", about: "one" },
  EXPIRED: { type: "EXPIRED", about: "one" },
  LATE_CONFIRMED: { type: "CONFIRMED", about: "none" },
  LATE_FINALIZED: { ...final, error: null, about: "none" },
  LATE_EXPIRED: { type: "EXPIRED", about: "none" },
  EXPLAINED_PASSING: { type: "EXPLAINED", fault: { kind: "fee_payer", move: null } },
  EXPLAINED_PAYEE: { type: "EXPLAINED", fault: { kind: "payee", move: 1 } },
  MARK_ABSENT: { type: "MARK_ABSENT" },
  MARK_PAID: { type: "MARK_PAID", signature: "zero", slot: 5, blockTime: 1_699_999_999 },
  MARK_TAKEN: { type: "MARK_TAKEN" },
  PAUSE_OVER: { type: "xstate.after.retryPause.payment.pausing" } as unknown as Event,
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
const landed = (slot: number, signature: string): string =>
  tell("deposit-address", "address", {
    type: "PAYMENT_LANDED",
    payment: "pay_1",
    slot,
    signature,
    movements: input.movements,
  });
const lost = (fault: object): string =>
  tell("deposit-address", "address", { type: "PAYMENT_LOST", payment: "pay_1", fault });

const sign = (attempt: number): string => `sign {"paymentId":"pay_1","attempt":${attempt}}`;
const payee = { kind: "payee", move: 1 };
const marked = { kind: "marked", move: 0 };
const pause = "xstate.after.retryPause.payment.pausing";
const inFlight = (state: string): string => `{"inFlight":"${state}"}`;

const fromFlight = {
  EXPIRED: ["proving", 'lookForMark {"paymentId":"pay_1"}'],
  FAILED_ON_CHAIN: ["explaining", 'explain {"paymentId":"pay_1","error":"custom"}'],
} as const;
const toConfirmed = [inFlight("confirmed"), news("PAYOUT_CONFIRMED")] as const;
const landing = (wasConfirmed: boolean) =>
  [
    "finalized",
    landed(7, "one"),
    news("PAYOUT_FINALIZED", { blockTime: 1_700_000_000, wasConfirmed }),
  ] as const;

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
      explaining: ["SIGNED", "FAILED_ON_CHAIN"],
      pausing: ["SIGNED", "FAILED_ON_CHAIN", "EXPLAINED_PASSING"],
      proving: ["SIGNED", "EXPIRED"],
      "the second attempt": ["SIGNED", "EXPIRED", "MARK_ABSENT", "SIGNED_AGAIN"],
      finalized: ["SIGNED", "FINALIZED"],
      failed: ["REFUSED"],
    },
    table: {
      planned: {
        SIGNED: [inFlight("signed"), 'broadcast {"signature":"one"}'],
        SIGNED_AGAIN: [inFlight("signed"), 'broadcast {"signature":"two"}'],
        REFUSED: ["failed", lost(payee), news("PAYOUT_FAILED", { signature: null, fault: payee })],
        MARKED: ["proving", 'lookForMark {"paymentId":"pay_1"}'],
      },
      signed: {
        BROADCAST: [inFlight("broadcast")],
        CONFIRMED: toConfirmed,
        FINALIZED: landing(false),
        ...fromFlight,
      },
      broadcast: { CONFIRMED: toConfirmed, FINALIZED: landing(false), ...fromFlight },
      confirmed: { FINALIZED: landing(true), ...fromFlight },
      explaining: {
        EXPLAINED_PASSING: ["pausing", `arm ${pause} 30000`],
        EXPLAINED_PAYEE: ["failed", lost(payee), news("PAYOUT_FAILED", { fault: payee })],
      },
      pausing: { PAUSE_OVER: ["planned", `disarm ${pause}`, sign(2)] },
      proving: {
        MARK_ABSENT: ["planned", sign(2)],
        MARK_PAID: [
          "finalized",
          landed(5, "zero"),
          news("PAYOUT_FINALIZED", { signature: "zero", blockTime: 1_699_999_999 }),
        ],
        MARK_TAKEN: ["failed", lost(marked), news("PAYOUT_FAILED", { fault: marked })],
      },
      "the second attempt": { BROADCAST: [inFlight("broadcast")] },
    },
    passed: ["landed", "lost"],
  });

  test("it begins by signing, and nothing else", () => {
    const [start, actions] = initialTransition(payment, input);
    expect([placeOf(start), ...effectsOf(actions)]).toEqual(["planned", sign(1)]);
  });

  test("E7: news of an attempt that is dead says nothing about the next one", () => {
    const second = reach("the second attempt");
    for (const event of ["CONFIRMED", "FINALIZED", "FAILED_ON_CHAIN", "EXPIRED"] as const) {
      const [next, actions] = transition(payment, second, events[event]);
      expect([event, next.value, effectsOf(actions)]).toEqual([event, second.value, []]);
    }
    expect(transition(payment, second, { ...events.EXPIRED, about: "two" })[0].value).toBe("proving");
  });

  test("a refund or a sweep, which no order waits for, tells its address and nobody else", () => {
    const [start] = initialTransition(payment, { ...input, order: null });
    const [confirmed, asked] = transition(
      payment,
      transition(payment, start, events.SIGNED)[0],
      events.CONFIRMED,
    );
    expect(effectsOf(asked)).toEqual([]);
    const [, ended] = transition(payment, confirmed, events.FINALIZED);
    expect(effectsOf(ended)).toEqual([landed(7, "one")]);
  });

  test("what keeps landing with an error is lost after five attempts", () => {
    let [at] = initialTransition(payment, input);
    for (let attempt = 1; attempt < 5; attempt++) {
      for (const event of [
        events.SIGNED,
        events.FAILED_ON_CHAIN,
        events.EXPLAINED_PASSING,
        events.PAUSE_OVER,
      ]) {
        at = transition(payment, at, event)[0];
      }
      expect(at.value).toBe("planned");
    }
    for (const event of [events.SIGNED, events.FAILED_ON_CHAIN, events.EXPLAINED_PASSING]) {
      at = transition(payment, at, event)[0];
    }
    expect(at.value).toBe("failed");
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
        told.push(...effectsOf(actions).filter((effect) => effect.includes('"PAYMENT_')));
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
        for (const effect of effectsOf(actions)) {
          if (effect.startsWith("sign ") && isOpen) signedTooSoon.push(effect);
          if (effect.startsWith("broadcast ")) isOpen = true;
          if (effect.startsWith("lookForMark ") || effect.startsWith("explain ")) isOpen = false;
        }
        at = next;
      }
    }
    expect(signedTooSoon).toEqual([]);
  });
});
