/** Charts that differ in which events they take: partial descriptors, guards made of guards, reentering, routers. */
import {
  and,
  assign,
  createMachine,
  enqueueActions,
  fromPromise,
  not,
  or,
  raise,
  setup,
  stateIn,
  stopChild,
} from "xstate";
import type { ChartCase } from "./chart-case.ts";

const descriptors: ChartCase = {
  name: "partial event descriptors, the longest first, and an event that an inner state forbids",
  make: ({ note }) =>
    setup({ types: { events: {} as { type: string } } }).createMachine({
      id: "pointer",
      initial: "up",
      on: {
        "*": { actions: ({ event }) => note(`root: ${event.type}`) },
        "key.*": { actions: ({ event }) => note(`root, key: ${event.type}`) },
      },
      states: {
        up: {
          on: {
            "mouse.*": { actions: ({ event }) => note(`some mouse: ${event.type}`) },
            "mouse.down": "down",
            "key.escape": {},
          },
        },
        down: {
          on: {
            "mouse.*": { target: "up", guard: ({ event }) => event.type !== "mouse.move.slow" },
            "mouse.move.*": { actions: ({ event }) => note(`a move: ${event.type}`) },
            "*": { actions: ({ event }) => note(`down: ${event.type}`) },
          },
        },
      },
    }),
  script: [
    "mouse.move",
    "key.escape",
    "key.enter",
    "mouse.down",
    "mouse.move.slow",
    "key.enter",
    "mouse.up",
    "mouse",
  ],
  ends: "up",
};

const combinedGuards: ChartCase = {
  name: "guards made of guards: and, or, not, stateIn, with params",
  make: ({ note }) =>
    setup({
      types: {
        context: {} as { keys: number },
        events: {} as { type: "TAKE_KEY" } | { type: "OPEN" } | { type: "TOGGLE" } | { type: "SHUT" },
      },
      guards: {
        hasKeys: ({ context }, { least }: { least: number }) => context.keys >= least,
        isArmed: stateIn({ alarm: "armed" }),
        isBad: and([stateIn({ alarm: "armed" }), not("isOpen")]),
        isOpen: stateIn({ door: "open" }),
      },
      actions: { note: (_, { text }: { text: string }) => note(text) },
    }).createMachine({
      id: "house",
      context: { keys: 0 },
      type: "parallel",
      on: { TAKE_KEY: { actions: assign({ keys: ({ context }) => context.keys + 1 }) } },
      states: {
        door: {
          initial: "shut",
          states: {
            shut: {
              on: {
                OPEN: [
                  { guard: and([{ type: "hasKeys", params: { least: 1 } }, not("isArmed")]), target: "open" },
                  {
                    guard: or([{ type: "hasKeys", params: { least: 3 } }, not(or(["isBad", "isArmed"]))]),
                    target: "forced",
                  },
                  { actions: { type: "note", params: { text: "refused" } } },
                ],
              },
            },
            open: { on: { SHUT: "shut" } },
            forced: { type: "final" },
          },
        },
        alarm: {
          initial: "armed",
          states: {
            armed: { on: { TOGGLE: "off", SHUT: { guard: "isOpen", target: "off" } } },
            off: { on: { TOGGLE: { guard: not(stateIn("#house.door.open")), target: "armed" } } },
          },
        },
      },
    }),
  script: [
    "OPEN",
    "TAKE_KEY",
    "OPEN",
    "TOGGLE",
    "OPEN",
    "TOGGLE",
    "SHUT",
    "TOGGLE",
    "TAKE_KEY",
    "TAKE_KEY",
    "OPEN",
  ],
  ends: { door: "forced", alarm: "armed" },
};

const reentering: ChartCase = {
  name: "transitions inside a state and out of it, reentering, with timers that begin again or go on",
  make: ({ note }) => {
    const told = (name: string) => ({
      entry: () => note(`into ${name}`),
      exit: () => note(`out of ${name}`),
    });
    return createMachine({
      id: "editor",
      initial: "editing",
      states: {
        editing: {
          ...told("editing"),
          type: "parallel",
          after: { 1_000: "saved" },
          on: {
            INSIDE: ".text.selected",
            AGAIN: { target: "editing", reenter: true },
            SAME: { target: "editing" },
            NOTHING: { actions: () => note("nothing") },
          },
          states: {
            text: {
              ...told("text"),
              initial: "plain",
              on: {
                UP: { target: "text", reenter: true },
                BOTH: [{ target: [".selected", "#editor.editing.menu.open"] }],
              },
              states: { plain: told("plain"), selected: { ...told("selected"), after: { 400: "plain" } } },
            },
            menu: {
              ...told("menu"),
              initial: "shut",
              states: { shut: told("shut"), open: { ...told("open"), on: { UP: "shut" } } },
            },
          },
        },
        saved: { type: "final" },
      },
    });
  },
  script: ["INSIDE", 300, "NOTHING", "BOTH", 400, "UP", "SAME", 200, "AGAIN", 999, 1],
  ends: "saved",
};

const router: ChartCase = {
  name: "routing through chosen states, and outputs of nested final states",
  make: ({ note }) =>
    setup({
      types: {
        context: {} as { points: number; path: string[] },
        input: {} as { points: number },
        events: {} as { type: "CHECK" } | { type: "ADD"; points: number } | { type: "SETTLE" },
      },
    }).createMachine({
      id: "router",
      context: ({ input }) => ({ points: input.points, path: [] }),
      initial: "collecting",
      states: {
        collecting: {
          initial: { target: "ready", actions: () => note("begun") },
          states: {
            ready: {
              on: {
                ADD: { actions: assign({ points: ({ context, event }) => context.points + event.points }) },
                CHECK: "first",
              },
            },
            first: {
              entry: raise({ type: "SETTLE" }),
              always: [
                { guard: ({ context }) => context.points > 10, target: "second" },
                { target: "ready", actions: assign({ points: ({ context }) => context.points + 1 }) },
              ],
              exit: assign({ path: ({ context }) => [...context.path, "first"] }),
            },
            second: {
              entry: [raise({ type: "SETTLE" }), () => note("second")],
              on: {
                SETTLE: {
                  target: "third",
                  actions: assign({ path: ({ context }) => [...context.path, "second"] }),
                },
              },
            },
            third: { type: "final", output: ({ context }) => ({ grade: context.points > 20 ? "A" : "B" }) },
          },
          onDone: [
            { guard: ({ event }) => (event.output as { grade: string }).grade === "A", target: "honoured" },
            { target: "passed", actions: ({ event }) => note(JSON.stringify(event.output)) },
          ],
        },
        honoured: { type: "final", output: { honours: true } },
        passed: { type: "final", output: ({ context }) => context.path },
      },
      output: ({ event, context }) => [(event as unknown as { output: unknown }).output, context.points],
    }),
  input: { points: 9 },
  script: ["CHECK", "CHECK", { type: "ADD", points: 1 }, "CHECK"],
  ends: "passed",
};

const selfSending: ChartCase = {
  name: "action bodies that send to their own chart",
  make: ({ note }) =>
    createMachine({
      id: "countdown",
      context: { left: 3 },
      initial: "counting",
      states: {
        counting: {
          entry: [
            ({ context }) => note(`${context["left"]}`),
            ({ context, self }) => self.send({ type: context["left"] > 0 ? "TICK" : "LAUNCH" }),
          ],
          on: {
            TICK: {
              target: "counting",
              reenter: true,
              actions: assign({ left: ({ context }) => context["left"] - 1 }),
            },
            LAUNCH: "launched",
          },
        },
        launched: { type: "final" },
      },
    }),
  script: [],
  ends: "launched",
};

const enqueued: ChartCase = {
  name: "enqueued actions that begin, tell and stop children, arm and cancel",
  make: ({ call, note }) =>
    setup({
      types: {
        context: {} as { round: number },
        events: {} as
          | { type: "ROUND" }
          | { type: "LATE"; of: number }
          | { type: `xstate.done.actor.${string}`; output: string },
      },
      actors: {
        greet: fromPromise<string, number>(({ input }) => call(`greet ${input}`, input)),
        listener: setup({ types: { input: {} as number, context: {} as { heard: number } } }).createMachine({
          id: "listener",
          context: ({ input }) => ({ heard: input }),
          on: { HEAR: { actions: ({ context }) => note(`listener ${context.heard}`) } },
          exit: ({ context }) => note(`listener ${context.heard} leaves`),
        }),
      },
      actions: { note: (_, { text }: { text: string }) => note(text) },
      guards: { isOdd: ({ context }) => context.round % 2 === 1 },
    }).createMachine({
      id: "rounds",
      context: { round: 0 },
      on: {
        ROUND: {
          actions: [
            assign({ round: ({ context }) => context.round + 1 }),
            enqueueActions(({ context: { round }, enqueue, check }) => {
              enqueue.cancel("late");
              if (check("isOdd")) {
                enqueue.spawnChild("listener", { id: `listener-${round}`, input: round });
                enqueue.spawnChild("greet", { id: `greet-${round}`, input: round });
                enqueue.sendTo(`listener-${round}`, { type: "HEAR" });
                enqueue.raise({ type: "LATE", of: round }, { id: "late", delay: 100 * round });
              } else {
                enqueue(stopChild(`listener-${round - 1}`));
                enqueue({ type: "note", params: { text: `even ${round}` } });
              }
            }),
          ],
        },
        LATE: { actions: ({ event }) => note(`late ${event.of}`) },
        "xstate.done.actor.*": {
          actions: ({ event }) => note(`done ${(event as unknown as { output?: string }).output}`),
        },
      },
    }),
  script: [
    "ROUND",
    100,
    "ROUND",
    "ROUND",
    { answer: "greet 1", with: "hello" },
    "ROUND",
    400,
    { answer: "greet 3", with: "again" },
  ],
  ends: {},
};

const routed: ChartCase = {
  name: "D86: routes: an event names the state to go to, if its guard lets it",
  make: ({ note }) =>
    setup({ types: { context: {} as { isPaid: boolean }, events: {} as { type: string } } }).createMachine({
      id: "checkout",
      initial: "cart",
      context: { isPaid: false },
      on: { PAID: { actions: assign({ isPaid: true }) } },
      states: {
        cart: { id: "cart", route: {} },
        address: { id: "address", route: {}, entry: () => note("an address is asked for") },
        thanks: { id: "thanks", route: { guard: ({ context }) => context.isPaid } },
      },
    }),
  script: [
    { type: "xstate.route", to: "#address" },
    { type: "xstate.route", to: "#thanks" },
    { type: "xstate.route", to: "#nowhere" },
    "PAID",
    { type: "xstate.route", to: "#cart" },
    { type: "xstate.route", to: "#thanks" },
  ],
  ends: "thanks",
};

export const events: readonly ChartCase[] = [
  descriptors,
  combinedGuards,
  reentering,
  router,
  selfSending,
  enqueued,
  routed,
];
