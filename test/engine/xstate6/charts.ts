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

export const charts6: readonly ChartCase[] = [reminders, checkout];
