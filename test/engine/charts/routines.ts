/** Charts of everyday routines: onboarding, lending, an inbox, provisioning, readings, a queue, a cart. */
import {
  assign,
  createMachine,
  emit,
  forwardTo,
  fromPromise,
  sendParent,
  sendTo,
  setup,
  spawnChild,
} from "xstate";
import type { ChartCase } from "./chart-case.ts";

const onboarding: ChartCase = {
  name: "one service after another, each with what the one before has answered",
  make: ({ call, note }) => {
    const asks = (name: string, next: string) => ({
      invoke: {
        src: fromPromise(({ input }) => call(name, input)),
        input: ({ context }: { context: { answers: object } }) => context.answers,
        onDone: {
          target: next,
          actions: assign({
            answers: ({ context, event }: never) => ({
              ...(context as { answers: object }).answers,
              [name]: (event as { output: unknown }).output,
            }),
          }),
        },
        onError: { target: "review", actions: assign({ failed: name }) },
      },
      tags: ["asking"],
      meta: { step: name },
    });
    return createMachine({
      id: "onboarding",
      context: ({ input }: { input: { name: string } }) => ({ answers: { name: input.name }, failed: null }),
      initial: "store",
      states: {
        store: asks("store", "doctor"),
        doctor: asks("doctor", "visit"),
        visit: asks("visit", "done"),
        review: {
          on: {
            RETRY: [
              {
                guard: ({ context }: { context: { failed: string } }) => context.failed === "doctor",
                target: "doctor",
              },
              { target: "store" },
            ],
          },
          exit: () => note("reviewed"),
        },
        done: { type: "final" },
      },
      output: ({ context }: { context: { answers: unknown } }) => context.answers,
    } as never);
  },
  input: { name: "Ada" },
  script: [
    { answer: "store", with: 7 },
    { fail: "doctor", with: "on holiday" },
    "RETRY",
    { answer: "doctor", with: { name: "Grace", since: new Date(0) } },
    { answer: "visit", with: true },
  ],
  ends: "done",
};

const lending: ChartCase = {
  name: "lending a book: asked, held, waited for, asked again",
  make: ({ call, note }) =>
    setup({
      types: {
        context: {} as { title: string; looks: number },
        input: {} as { title: string },
        events: {} as { type: "HOLD" } | { type: "DECLINE" } | { type: "PICKED_UP" },
      },
      actors: { status: fromPromise<"here" | "lent", string>(({ input }) => call("status", input)) },
      delays: { twoWeeks: 14 * 86_400_000 },
    }).createMachine({
      id: "lending",
      context: ({ input }) => ({ ...input, looks: 0 }),
      initial: "looking",
      states: {
        looking: {
          entry: assign({ looks: ({ context }) => context.looks + 1 }),
          invoke: {
            src: "status",
            input: ({ context }) => context.title,
            onDone: [{ guard: ({ event }) => event.output === "here", target: "here" }, { target: "lent" }],
          },
        },
        lent: {
          initial: "asking",
          states: {
            asking: { on: { HOLD: "holding", DECLINE: "declined" } },
            holding: { after: { twoWeeks: "#lending.looking" } },
            declined: { type: "final" },
          },
          onDone: "cancelled",
        },
        here: {
          on: { PICKED_UP: "over" },
          after: { 86_400_000: { target: "lent.holding", actions: () => note("given to the next") } },
        },
        over: { type: "final" },
        cancelled: { type: "final" },
      },
      output: ({ context }) => context.looks,
    }),
  input: { title: "Statecharts" },
  script: [
    { answer: "status", with: "lent" },
    "HOLD",
    14 * 86_400_000,
    { answer: "status", with: "here" },
    86_400_000,
    14 * 86_400_000,
    { answer: "status", with: "here" },
    "PICKED_UP",
  ],
  ends: "over",
};

/** The first letter that a look has found. */
const firstOf = (event: unknown): string =>
  String((event as { readonly output: readonly string[] }).output[0]);

const inbox: ChartCase = {
  name: "an inbox that is looked at again and again, with a worker for each letter",
  make: ({ call, note }) =>
    setup({
      types: {
        context: {} as { seen: string[]; answered: string[] },
        events: {} as { type: "ANSWERED"; letter: string } | { type: "CLOSE" },
      },
      actors: {
        look: fromPromise<string[]>(() => call("look")),
        worker: setup({
          types: { context: {} as { letter: string }, input: {} as { letter: string } },
          actors: { answer: fromPromise<string, string>(({ input }) => call(`answer ${input}`)) },
        }).createMachine({
          id: "worker",
          context: ({ input }) => input,
          initial: "answering",
          states: {
            answering: {
              invoke: {
                src: "answer",
                input: ({ context }) => context.letter,
                onDone: "sent",
                onError: "resting",
              },
              on: { HURRY: { actions: ({ context }) => note(`hurry with ${context.letter}`) } },
            },
            resting: { after: { 30: "answering" } },
            sent: {
              type: "final",
              entry: sendParent(({ context }) => ({ type: "ANSWERED", letter: context.letter })),
            },
          },
        }),
      },
    }).createMachine({
      id: "inbox",
      context: { seen: [], answered: [] },
      initial: "looking",
      on: {
        ANSWERED: {
          actions: assign({ answered: ({ context, event }) => [...context.answered, event.letter] }),
        },
        CLOSE: ".closed",
      },
      states: {
        looking: {
          invoke: {
            src: "look",
            onDone: {
              target: "waiting",
              actions: [
                spawnChild("worker", {
                  id: ({ event }) => `worker-${firstOf(event)}`,
                  input: ({ event }) => ({ letter: firstOf(event) }),
                }),
                assign({ seen: ({ context, event }) => [...context.seen, ...event.output] }),
                sendTo(({ event }) => `worker-${event.output[0]}`, { type: "HURRY" }, { delay: 10 }),
              ],
            },
          },
        },
        waiting: { after: { 60: "looking" } },
        closed: {},
      },
    }),
  script: [
    { answer: "look", with: ["a"] },
    10,
    { fail: "answer a", with: "no ink" },
    30,
    20,
    { answer: "look", with: ["b", "c"] },
    { answer: "answer b" },
    { answer: "answer a" },
    "CLOSE",
  ],
  ends: "closed",
};

class Missing extends Error {
  readonly field: string;
  constructor(field: string) {
    super(`${field} is missing`);
    this.field = field;
  }
}

const provisioning = (name: string, script: ChartCase["script"], ends: string): ChartCase => ({
  name,
  make: ({ call, note }) =>
    setup({
      types: { context: {} as { field: string | null }, emitted: {} as { type: "provisioned"; id: string } },
      actors: { provision: fromPromise<{ id: string }>(() => call("provision")) },
      guards: {
        isMissing: (_, { error, field }: { error: unknown; field: string }) =>
          (error as Missing).field === field,
      },
      actions: { tell: (_, { field }: { field: string }) => note(`no ${field}`) },
    }).createMachine({
      id: "provisioning",
      context: { field: null },
      initial: "working",
      states: {
        working: {
          invoke: {
            src: "provision",
            onDone: {
              target: "done",
              actions: emit(({ event }) => ({ type: "provisioned" as const, id: event.output.id })),
            },
            onError: [
              {
                guard: { type: "isMissing", params: ({ event }) => ({ error: event.error, field: "id" }) },
                target: "invalid.id",
              },
              {
                guard: { type: "isMissing", params: ({ event }) => ({ error: event.error, field: "item" }) },
                target: "invalid.item",
              },
              { target: "broken", actions: assign({ field: ({ event }) => (event.error as Error).name }) },
            ],
          },
        },
        invalid: {
          entry: assign({ field: ({ event }) => (event as unknown as { error: Missing }).error.field }),
          initial: "id",
          states: {
            id: { entry: { type: "tell", params: { field: "id" } }, on: { FIXED: "#provisioning.working" } },
            item: {
              entry: { type: "tell", params: ({ context }) => ({ field: context.field ?? "" }) },
              type: "final",
            },
          },
          onDone: "refused",
        },
        done: { type: "final" },
        refused: { type: "final" },
        broken: { type: "final" },
      },
      output: ({ context }) => context.field,
    }),
  script,
  ends,
});

const cart: ChartCase = {
  name: "a cart whose items are machines that take what is forwarded",
  make: ({ note }) =>
    setup({
      types: {
        context: {} as { total: number },
        events: {} as { type: "ADD" } | { type: "PRICE"; is: number } | { type: "CHECK_OUT" },
      },
      actors: {
        item: createMachine({
          id: "item",
          context: { count: 0 },
          initial: "idle",
          states: {
            idle: {
              on: {
                ADD: { target: "priced", actions: assign({ count: ({ context }) => context.count + 1 }) },
              },
            },
            priced: {
              entry: sendParent(({ context }) => ({ type: "PRICE", is: context.count * 5 })),
              always: { guard: ({ context }) => context.count < 3, target: "idle" },
            },
          },
        }),
      },
    }).createMachine({
      id: "cart",
      context: { total: 0 },
      initial: "open",
      states: {
        open: {
          invoke: { id: "item", src: "item" },
          on: {
            ADD: { actions: forwardTo("item") },
            PRICE: { actions: assign({ total: ({ context, event }) => context.total + event.is }) },
            CHECK_OUT: [
              { guard: ({ context }) => context.total > 20, target: "paid" },
              { actions: () => note("too little") },
            ],
          },
        },
        paid: { type: "final" },
      },
      output: ({ context }) => context.total,
    }),
  script: ["ADD", "CHECK_OUT", "ADD", "ADD", "ADD", "CHECK_OUT"],
  ends: "paid",
};

export const routines: readonly ChartCase[] = [
  onboarding,
  lending,
  inbox,
  provisioning(
    "errors told apart by guards with params",
    [
      { fail: "provision", with: new Missing("id") },
      "FIXED",
      { fail: "provision", with: new Missing("item") },
    ],
    "refused",
  ),
  provisioning(
    "an error that no guard knows",
    [{ fail: "provision", with: new RangeError("odd") }],
    "broken",
  ),
  cart,
];
