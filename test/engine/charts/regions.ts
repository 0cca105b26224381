/** Charts with parallel regions and history: ends of regions, defaults of histories, invocations inside both. */
import { assign, createMachine, fromPromise, setup } from "xstate";
import type { ChartCase } from "./chart-case.ts";

const application: ChartCase = {
  name: "regions inside regions, done when all of them are",
  make: ({ note }) => {
    const waits = (event: string) => ({
      initial: "waiting",
      states: { waiting: { on: { [event]: "received" } }, received: { type: "final" } },
      onDone: { actions: () => note(`${event} is complete`) },
    });
    return createMachine({
      id: "application",
      initial: "collecting",
      states: {
        collecting: {
          type: "parallel",
          states: {
            person: { type: "parallel", states: { name: waits("NAME"), photo: waits("PHOTO") } },
            money: {
              initial: "asked",
              states: {
                asked: { on: { PAID: "paid", WAIVED: "waived" } },
                paid: { type: "final" },
                waived: { type: "final" },
              },
            },
            marks: waits("MARKS"),
          },
          onDone: { target: "reviewing", actions: () => note("all is there") },
        },
        reviewing: { on: { ACCEPT: "accepted" } },
        accepted: { type: "final" },
      },
    } as never);
  },
  script: ["MARKS", "PHOTO", "MARKS", "WAIVED", "PAID", "NAME", "ACCEPT"],
  ends: "accepted",
};

const defaultHistory = (kind: "shallow" | "deep", ends: unknown): ChartCase => ({
  name: `history with a default target, in parallel regions, ${kind}`,
  make: ({ note }) =>
    createMachine({
      id: "desk",
      initial: "away",
      states: {
        away: { entry: () => note("away"), on: { SIT: "at.last" } },
        at: {
          type: "parallel",
          on: { LEAVE: "away" },
          states: {
            left: {
              initial: "one",
              states: {
                one: { on: { NEXT: "two" } },
                two: {
                  initial: "inner",
                  states: { inner: { on: { NEXT: "other" } }, other: { entry: () => note("other") } },
                },
              },
            },
            right: {
              initial: "off",
              states: { off: { on: { SWITCH: "on" } }, on: { on: { SWITCH: "off" } } },
            },
            last: {
              type: "history",
              history: kind,
              target: ["#desk.at.left.two.other", "#desk.at.right.on"],
            },
          },
        },
      },
    } as never),
  script: ["SIT", "SWITCH", "LEAVE", "SIT", "NEXT", "NEXT", "SWITCH", "LEAVE", "SIT"],
  ends,
});

const interruptedWork: ChartCase = {
  name: "history that leads back into an invocation and a timer",
  make: ({ call, note }) =>
    setup({
      types: { context: {} as { done: string[] } },
      actors: { step: fromPromise<string, number>(({ input }) => call(`step ${input}`, input)) },
    }).createMachine({
      id: "work",
      context: { done: [] },
      initial: "working",
      states: {
        working: {
          initial: "first",
          on: { PAUSE: "paused" },
          states: {
            first: {
              invoke: {
                src: "step",
                input: 1,
                onDone: {
                  target: "resting",
                  actions: assign({ done: ({ context, event }) => [...context.done, event.output] }),
                },
              },
            },
            resting: { after: { 100: "second" }, entry: () => note("rest") },
            second: {
              invoke: {
                src: "step",
                input: ({ context }) => context.done.length + 1,
                onDone: {
                  target: "complete",
                  actions: assign({ done: ({ context, event }) => [...context.done, event.output] }),
                },
              },
            },
            complete: { type: "final" },
            back: { type: "history" },
          },
          onDone: "over",
        },
        paused: { on: { RESUME: "working.back", RESTART: "working" } },
        over: { type: "final", output: ({ context }) => context.done.join() },
      },
      output: ({ event }) => (event as unknown as { output: unknown }).output,
    }),
  script: [
    "PAUSE",
    "RESUME",
    { answer: "step 1", with: "one" },
    99,
    "PAUSE",
    100,
    "RESUME",
    100,
    "PAUSE",
    "RESUME",
    { answer: "step 2", with: "two" },
  ],
  ends: "over",
};

const failFast: ChartCase = {
  name: "parallel invocations, all given up when one fails",
  make: ({ call, note }) => {
    const part = (name: string) => ({
      initial: "asking",
      states: {
        asking: {
          invoke: {
            id: name,
            src: fromPromise(({ signal }) => call(name, undefined, signal)),
            onDone: {
              target: "answered",
              actions: assign(({ event }: never) => ({ [name]: (event as { output: unknown }).output })),
            },
            onError: {
              target: "#trip.failed",
              actions: assign({ reason: ({ event }: never) => (event as { error: Error }).error.message }),
            },
          },
          exit: () => note(`${name} ends`),
        },
        answered: { type: "final" },
      },
    });
    return createMachine({
      id: "trip",
      context: {},
      initial: "asking",
      states: {
        asking: {
          type: "parallel",
          states: { hotel: part("hotel"), train: part("train"), museum: part("museum") },
          onDone: "complete",
        },
        failed: { on: { AGAIN: "asking" } },
        complete: { type: "final" },
      },
    } as never);
  },
  script: [
    { answer: "train", with: new Date(0) },
    { fail: "hotel", with: new TypeError("full") },
    "AGAIN",
    { answer: "museum", with: null },
    { answer: "hotel", with: { stars: 3 } },
    { answer: "train", with: ["1A", undefined] },
  ],
  ends: "complete",
};

const bidding: ChartCase = {
  name: "bids that are collected until time is up, while a second region watches them",
  make: ({ note }) =>
    setup({
      types: {
        context: {} as { bids: { by: string; cents: bigint }[]; best: bigint },
        events: {} as { type: "BID"; by: string; cents: bigint },
      },
      guards: { isHigher: ({ context, event }) => event.cents > context.best },
    }).createMachine({
      id: "auction",
      context: { bids: [], best: 0n },
      initial: "open",
      states: {
        open: {
          type: "parallel",
          states: {
            bids: {
              initial: "none",
              on: {
                BID: {
                  guard: "isHigher",
                  target: ".some",
                  actions: assign(({ context, event: { by, cents } }) => ({
                    bids: [...context.bids, { by, cents }],
                    best: cents,
                  })),
                },
              },
              states: { none: {}, some: { entry: ({ context }) => note(`best ${context.best}`) } },
            },
            mood: {
              initial: "calm",
              states: {
                calm: { on: { BID: "lively" }, after: { 400: { actions: () => note("boring") } } },
                lively: { on: { BID: { target: "lively", reenter: true } }, after: { 100: "calm" } },
              },
            },
          },
          after: { 1_000: "closed" },
        },
        closed: {
          always: [
            { guard: ({ context }) => context.bids.length === 0, target: "unsold" },
            { target: "sold" },
          ],
        },
        sold: { type: "final" },
        unsold: { type: "final" },
      },
      output: ({ context }) => context.bids.at(-1),
    }),
  script: [
    { type: "BID", by: "Ada", cents: 100n },
    { type: "BID", by: "Bob", cents: 90n },
    50,
    { type: "BID", by: "Cyd", cents: 2n ** 70n },
    100,
    400,
    450,
  ],
  ends: "sold",
};

export const regions: readonly ChartCase[] = [
  application,
  defaultHistory("shallow", { at: { left: "one", right: "off" } }),
  defaultHistory("deep", { at: { left: { two: "other" }, right: "on" } }),
  interruptedWork,
  failFast,
  bidding,
];
