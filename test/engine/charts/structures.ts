/** Charts that use the structure of statecharts: history, parallel states, delayed raises, values that JSON loses. */
import { assign, cancel, createMachine, raise, setup } from "xstate";
import type { ChartCase } from "./chart-case.ts";

const player = (kind: "shallow" | "deep", ends: unknown): ChartCase => ({
  name: `history after an interruption, ${kind}`,
  make: ({ note }) =>
    createMachine({
      id: "player",
      initial: "on",
      states: {
        on: {
          initial: "stopped",
          entry: () => note("on"),
          exit: () => note("off"),
          on: { CALL: "interrupted", POWER: "end" },
          states: {
            stopped: { on: { PLAY: "playing" } },
            playing: {
              initial: "slow",
              states: { slow: { on: { FASTER: "fast" } }, fast: { entry: () => note("fast") } },
            },
            back: { type: "history", history: kind },
          },
        },
        interrupted: { on: { OVER: "on.back" } },
        end: { type: "final" },
      },
    } as never),
  script: ["PLAY", "FASTER", "CALL", "OVER"],
  ends,
});

const keyboard: ChartCase = {
  name: "parallel regions and stateIn",
  make: ({ note }) =>
    setup({
      types: { events: {} as { type: "BOLD" } | { type: "LIST" } | { type: "RESET" } },
      actions: { note: (_, { text }: { text: string }) => note(text) },
    }).createMachine({
      id: "keyboard",
      type: "parallel",
      states: {
        bold: {
          initial: "off",
          states: {
            off: { on: { BOLD: "on" } },
            on: { entry: { type: "note", params: { text: "bold" } }, on: { BOLD: "off" } },
          },
          on: { RESET: ".off" },
        },
        list: {
          initial: "none",
          states: {
            none: { on: { LIST: "bullets" } },
            bullets: {
              on: { LIST: "numbers" },
              after: { 100: { actions: { type: "note", params: { text: "idle" } } } },
            },
            numbers: {},
          },
          on: { RESET: ".none" },
        },
      },
    }),
  script: ["BOLD", "LIST", 100, "LIST", "RESET"],
  ends: { bold: "off", list: "none" },
};

const alarm: ChartCase = {
  name: "delayed raises, one of them cancelled",
  make: ({ note }) =>
    setup({
      types: {
        context: {} as { rings: number },
        events: {} as { type: "SET" } | { type: "RING" } | { type: "SNOOZE" } | { type: "OFF" },
      },
      actions: { ring: ({ context }) => note(`ring ${context.rings}`) },
      delays: { soon: 2_000 },
    }).createMachine({
      id: "alarm",
      context: { rings: 0 },
      initial: "idle",
      states: {
        idle: {
          on: {
            SET: {
              actions: [
                raise({ type: "RING" }, { delay: "soon", id: "ring" }),
                raise({ type: "OFF" }, { delay: 9_000 }),
              ],
            },
            RING: "ringing",
            SNOOZE: { actions: [cancel("ring"), raise({ type: "RING" }, { delay: 5_000, id: "ring" })] },
            OFF: "off",
          },
        },
        ringing: {
          entry: [assign({ rings: ({ context }) => context.rings + 1 }), "ring"],
          on: { OFF: "off", SNOOZE: "idle" },
        },
        off: { type: "final" },
      },
    }),
  script: ["SET", 1_000, "SNOOZE", 5_000, 3_000],
  ends: "off",
};

class NotPlain extends Error {}

const values: ChartCase = {
  name: "values that JSON loses",
  make: () =>
    createMachine({
      id: "values",
      context: {
        at: new Date(86_400_000),
        seen: new Set(["a"]),
        counts: new Map<string, unknown>([["a", { n: 1n }]]),
        nothing: undefined,
        odd: [Number.NaN, -0, Infinity],
        where: new URL("https://example.com/a?b=c"),
        bytes: new Uint8Array([1, 2, 255]),
        error: new RangeError("far", { cause: new NotPlain("inner") }),
      },
      initial: "first",
      states: {
        first: {
          on: {
            NEXT: {
              target: "second",
              actions: assign({
                at: ({ context, event }: never) =>
                  new Date((context as { at: Date }).at.getTime() + (event as { by: number }).by),
                counts: ({ context }: never) =>
                  new Map((context as { counts: Map<string, number> }).counts).set("b", 2),
              }),
            },
          },
        },
        second: { type: "final" },
      },
      output: ({ context }: { context: { counts: unknown } }) => context.counts,
    } as never),
  script: [{ type: "NEXT", by: 5 }],
  ends: "second",
};

const wizard: ChartCase = {
  name: "wizard with guards, wildcards and tags",
  make: ({ note }) =>
    createMachine({
      id: "wizard",
      context: { step: 0, answers: {} as Record<string, unknown> },
      initial: "asking",
      on: { "*": { actions: ({ event }: { event: { type: string } }) => note(`unknown ${event.type}`) } },
      states: {
        asking: {
          tags: ["busy"],
          on: {
            ANSWER: {
              actions: assign(({ context, event }: never) => {
                const { step, answers } = context as { step: number; answers: object };
                return {
                  step: step + 1,
                  answers: { ...answers, [step]: (event as { value: unknown }).value },
                };
              }),
            },
          },
          always: {
            guard: ({ context }: { context: { step: number } }) => context.step === 3,
            target: "review",
          },
        },
        review: { on: { ACCEPT: "done", AGAIN: { target: "asking", actions: assign({ step: 0 }) } } },
        done: { type: "final" },
      },
      output: ({ context }: { context: { answers: unknown } }) => context.answers,
    } as never),
  script: [
    { type: "ANSWER", value: "x" },
    "STRANGE",
    { type: "ANSWER", value: null },
    { type: "ANSWER", value: new Date(1) },
    "ACCEPT",
  ],
  ends: "done",
};

const lights: ChartCase = {
  name: "traffic lights with nested timers",
  make: ({ note }) =>
    createMachine({
      id: "lights",
      initial: "green",
      states: {
        green: { after: { 3_000: "yellow" }, exit: () => note("stop soon") },
        yellow: { after: { 1_000: "red" } },
        red: {
          initial: "walk",
          after: { 6_000: "green" },
          states: {
            walk: { after: { 2_000: "blink" } },
            blink: { after: { 0.5: { actions: () => note("blink") }, 2_000: "wait" } },
            wait: {},
          },
        },
      },
    }),
  script: [3_000, 1_000, 2_000, 1, 1_999, 2_000],
  ends: "green",
};

export const structures: readonly ChartCase[] = [
  player("shallow", { on: { playing: "slow" } }),
  player("deep", { on: { playing: "fast" } }),
  keyboard,
  alarm,
  values,
  wizard,
  lights,
];
