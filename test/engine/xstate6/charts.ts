/** A handful of charts in the style of XState 6. */
import { createActor, createAsyncLogic, setup, SimulatedClock, types, type AnyActorLogic } from "xstate6";
import { workflowOf } from "../../../src/workflow/workflow.ts";
import type { ChartCase, ChartLibrary, Outside } from "../charts/chart-case.ts";
import { xstate6 } from "./interpreter.ts";

const library: ChartLibrary = {
  begin(machine, input) {
    const clock = new SimulatedClock();
    return {
      actor: createActor(machine as never, { input, clock, logger: () => {} } as never) as never,
      clock,
    };
  },
  register: (machine) => workflowOf(xstate6, machine as never, { version: 1 }),
};

const asks = ({ call }: Outside, name: string) =>
  createAsyncLogic<string, unknown>({ run: ({ input, signal }) => call(name, input, signal) });

const transfer: ChartCase = {
  name: "XState 6: a transfer that is broadcast, confirmed and finalized, or cancelled before",
  library,
  make: (outside) =>
    setup({
      schemas: {
        context: types<{ signature: string; broadcasts: number; fee: bigint | null }>(),
        input: types<{ signature: string }>(),
        events: { CANCEL: types<object>(), CONFIRMED: types<object>(), FINALIZED: types<{ fee: bigint }>() },
      },
      actions: {
        broadcast: ({ signature, nth }: { signature: string; nth: number }) =>
          outside.note(`${signature} ${nth}`),
      },
    }).createMachine({
      id: "transfer",
      context: ({ input }) => ({ signature: input.signature, broadcasts: 0, fee: null }),
      initial: "accepted",
      states: {
        accepted: { after: { 500: { target: "broadcasting" } }, on: { CANCEL: { target: "cancelled" } } },
        broadcasting: {
          entry: ({ context, actions }, enq) => {
            const broadcasts = context.broadcasts + 1;
            enq(actions.broadcast, { signature: context.signature, nth: broadcasts });
            return { context: { ...context, broadcasts } };
          },
          after: { 2_000: () => ({ target: "broadcasting", reenter: true }) },
          on: { CONFIRMED: { target: "confirmed" } },
        },
        confirmed: {
          on: {
            FINALIZED: ({ context, event }) => ({
              target: "finalized",
              context: { ...context, fee: event.fee },
            }),
          },
        },
        finalized: { type: "final" },
        cancelled: { type: "final" },
      },
      output: ({ context }) => ({ fee: context.fee, broadcasts: context.broadcasts }),
    }) as never,
  input: { signature: "sig" },
  script: [500, "CANCEL", 2_000, "CONFIRMED", 2_000, { type: "FINALIZED", fee: 2n ** 64n }],
  ends: "finalized",
};

const fetching: ChartCase = {
  name: "XState 6: a promise that is rejected, tried again after a named delay, and resolved",
  library,
  make: (outside) =>
    setup({
      schemas: {
        context: types<{ tries: number; reason: string | null; user: string | null }>(),
        events: { LEAVE: types<object>(), FETCH: types<object>() },
      },
      actors: { fetchUser: asks(outside, "fetchUser") },
      delays: { pause: ({ context }: { context: { tries: number } }) => context.tries * 100 },
    }).createMachine({
      id: "fetching",
      context: { tries: 0, reason: null, user: null },
      initial: "idle",
      states: {
        idle: { on: { FETCH: { target: "asking" } } },
        asking: {
          invoke: {
            id: "user",
            src: "fetchUser",
            input: ({ context }: { context: { tries: number } }) => context.tries,
            onDone: ({ context, event }) => ({
              target: "known",
              context: { ...context, user: event.output },
            }),
            onError: ({ context, event }) => ({
              target: "pausing",
              context: { ...context, tries: context.tries + 1, reason: (event.error as Error).message },
            }),
          },
          on: { LEAVE: { target: "idle" } },
        },
        pausing: { after: { pause: { target: "asking" } } },
        known: { type: "final" },
      },
      output: ({ context }) => context.user,
    }) as never,
  script: [
    "FETCH",
    "LEAVE",
    "FETCH",
    { fail: "fetchUser", with: new Error("reset") },
    100,
    { fail: "fetchUser", with: new Error("busy") },
    199,
    1,
    { answer: "fetchUser", with: "Ada" },
  ],
  ends: "known",
};

const reminders: ChartCase = {
  name: "XState 6: delayed events that are raised, replaced and cancelled",
  library,
  make: ({ note }) =>
    setup({
      schemas: {
        context: types<{ rings: number }>(),
        events: {
          SET: types<object>(),
          SNOOZE: types<object>(),
          RING: types<object>(),
          OFF: types<object>(),
        },
        emitted: { rang: types<{ times: number }>() },
      },
      actions: { ring: ({ times }: { times: number }) => note(`ring ${times}`) },
    }).createMachine({
      id: "alarm",
      context: { rings: 0 },
      initial: "idle",
      states: {
        idle: {
          on: {
            SET: (_, enq) => {
              enq.raise({ type: "RING" }, { id: "ring", delay: 1_000 });
              enq.raise({ type: "OFF" }, { delay: 10_000 });
            },
            SNOOZE: (_, enq) => {
              enq.cancel("ring");
              enq.raise({ type: "RING" }, { id: "ring", delay: 5_000 });
            },
            RING: ({ context, actions }, enq) => {
              const rings = context.rings + 1;
              enq(actions.ring, { times: rings });
              enq.emit({ type: "rang", times: rings });
              return { context: { rings } };
            },
            OFF: { target: "off" },
          },
        },
        off: { type: "final" },
      },
    }) as never,
  script: ["SET", 900, "SNOOZE", 1_000, 4_000, 4_100],
  ends: "off",
};

const checkout: ChartCase = {
  name: "XState 6: a child machine that is told, left, begun again and done (the alpha's pure steps know no parent to tell)",
  library,
  make: (outside) => {
    const payment = setup({
      schemas: {
        context: types<{ amount: number; receipt: string | null }>(),
        input: types<{ amount: number }>(),
        events: { DISCOUNT: types<{ by: number }>() },
      },
      actors: { charge: asks(outside, "charge") },
      actions: { note: ({ text }: { text: string }) => outside.note(text) },
    }).createMachine({
      id: "payment",
      context: ({ input }) => ({ amount: input.amount, receipt: null }),
      initial: "open",
      states: {
        open: {
          on: {
            DISCOUNT: ({ context, event }) => ({
              context: { ...context, amount: context.amount - event.by },
            }),
          },
          after: { 1_000: { target: "charging" } },
        },
        charging: {
          entry: ({ context, actions }, enq) => enq(actions.note, { text: `charging ${context.amount}` }),
          invoke: {
            src: "charge",
            input: ({ context }: { context: { amount: number } }) => context.amount,
            onDone: ({ context, event }) => ({
              target: "paid",
              context: { ...context, receipt: event.output },
            }),
            onError: { target: "open" },
          },
        },
        paid: { type: "final" },
      },
      output: ({ context }) => ({ receipt: context.receipt, amount: context.amount }),
    });
    return setup({
      schemas: {
        context: types<{ paid: unknown }>(),
        events: { LEAVE: types<object>(), BACK: types<object>(), COUPON: types<{ by: number }>() },
      },
      // Under exactOptionalPropertyTypes the alpha's machines are no logics.
      actors: { payment: payment as unknown as AnyActorLogic },
    }).createMachine({
      id: "checkout",
      context: { paid: null },
      initial: "paying",
      states: {
        paying: {
          invoke: {
            id: "pay",
            src: "payment",
            input: { amount: 10 },
            onDone: ({ event }) => ({ target: "done", context: { paid: event.output as unknown } }),
          },
          on: {
            COUPON: ({ children, event }, enq) =>
              enq.sendTo(children["pay"], { type: "DISCOUNT", by: event.by }),
            LEAVE: { target: "away" },
          },
        },
        away: { on: { BACK: { target: "paying" } } },
        done: { type: "final" },
      },
      output: ({ context }) => context.paid,
    }) as never;
  },
  script: [
    { type: "COUPON", by: 2 },
    "LEAVE",
    1_000,
    "BACK",
    { type: "COUPON", by: 3 },
    1_000,
    { fail: "charge", with: "declined" },
    1_000,
    { answer: "charge", with: "r1" },
  ],
  ends: "done",
};

const desk: ChartCase = {
  name: "XState 6: parallel regions with a deep history, done when all of them are",
  library,
  make: ({ note }) =>
    setup({
      schemas: {
        events: {
          NEXT: types<object>(),
          SWITCH: types<object>(),
          LEAVE: types<object>(),
          BACK: types<object>(),
        },
      },
      actions: { note: ({ text }: { text: string }) => note(text) },
    }).createMachine({
      id: "desk",
      initial: "at",
      states: {
        at: {
          type: "parallel",
          on: { LEAVE: { target: "away" } },
          states: {
            left: {
              initial: "one",
              states: {
                one: { on: { NEXT: { target: "two" } } },
                two: {
                  initial: "inner",
                  states: { inner: { on: { NEXT: { target: "#desk.at.left.three" } } } },
                },
                three: { type: "final" },
              },
            },
            right: {
              initial: "off",
              states: {
                off: { on: { SWITCH: { target: "on" } } },
                on: { type: "final", entry: ({ actions }, enq) => enq(actions.note, { text: "on" }) },
              },
            },
            last: { type: "history", history: "deep", target: ["#desk.at.left.one", "#desk.at.right.off"] },
          },
          onDone: { target: "over" },
        },
        away: { on: { BACK: { target: "at.last" } } },
        over: { type: "final" },
      },
    }) as never,
  script: ["NEXT", "SWITCH", "LEAVE", "SWITCH", "BACK", "NEXT"],
  ends: "over",
};

export const charts6: readonly ChartCase[] = [transfer, fetching, reminders, checkout, desk];
