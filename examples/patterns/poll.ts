/** Polling a slow API: an order is placed once, and its progress asked for with growing pauses, for a day at most. */
import { assign, fromPromise, setup } from "xstate";
import { currentRun, workflow } from "paystate/engine";
import { call, type Play } from "./pattern.ts";

const print = setup({
  types: { context: {} as { readonly job: string; readonly asked: number } },
  actors: {
    place: fromPromise<string>(async ({ signal }) => {
      await call("places the order", signal);
      return `job ${currentRun().key.slice(-4)}`; // the API knows the key: placed twice, it is one order
    }),
    ask: fromPromise<boolean, number>(async ({ input, signal }) => {
      await call(`asks (${input})`, signal);
      return input === 3; // ready, in this play
    }),
  },
  delays: {
    pause: ({ context }) => Math.min(50 * 2 ** context.asked, 60_000),
    day: 24 * 60 * 60 * 1_000,
  },
}).createMachine({
  id: "print",
  context: { job: "", asked: 0 },
  initial: "placing",
  states: {
    placing: {
      invoke: {
        src: "place",
        onDone: { target: "waiting", actions: assign({ job: ({ event }) => event.output }) },
      },
    },
    waiting: {
      // The states within come and go; the timer of this state runs on.
      after: { day: "givenUp" },
      initial: "pausing",
      states: {
        pausing: { after: { pause: "asking" } },
        asking: {
          entry: assign({ asked: ({ context }) => context.asked + 1 }),
          invoke: {
            src: "ask",
            input: ({ context }) => context.asked,
            onDone: [{ guard: ({ event }) => event.output, target: "#print.ready" }, "pausing"],
          },
        },
      },
    },
    ready: { type: "final" },
    givenUp: { type: "final" },
  },
});

export const flow = workflow(print)({ version: 1 });

export const play: Play = async (engine) => {
  await engine.start(flow, { id: "poster", input: undefined });
  console.log((await engine.waitFor(flow, "poster", "final")).value);
};
