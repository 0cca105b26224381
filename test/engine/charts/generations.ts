/** Charts with families that run deeper: grandchildren, children by computed ids, children that fail or answer. */
import { assign, createMachine, fromPromise, sendParent, sendTo, setup, spawnChild, stopChild } from "xstate";
import type { ChartCase, Outside } from "./chart-case.ts";

const grandchild = ({ call, note }: Outside) =>
  setup({
    types: {
      context: {} as { page: number },
      input: {} as { page: number },
      output: {} as { words: number },
    },
    actors: { count: fromPromise<number, number>(({ input }) => call(`count ${input}`, input)) },
  }).createMachine({
    id: "page",
    context: ({ input }) => input,
    initial: "counting",
    entry: ({ context }) => note(`page ${context.page} begins`),
    states: {
      counting: {
        invoke: {
          src: "count",
          input: ({ context }) => context.page,
          onDone: { target: "counted", actions: assign({ page: ({ event }) => event.output }) },
          onError: { target: "waiting", actions: sendParent({ type: "TROUBLE" }) },
        },
      },
      waiting: { after: { 200: "counting" } },
      counted: { type: "final" },
    },
    output: ({ context }) => ({ words: context.page }),
  });

const threeDeep: ChartCase = {
  name: "machines three deep, with outputs and messages on the way up",
  make: (outside) => {
    const chapter = setup({
      types: {
        context: {} as { words: number; next: number; pages: number },
        input: {} as { pages: number },
        output: {} as number,
        events: {} as { type: "TROUBLE" },
      },
      actors: { page: grandchild(outside) },
    }).createMachine({
      id: "chapter",
      context: ({ input }) => ({ words: 0, next: 1, pages: input.pages }),
      initial: "reading",
      states: {
        reading: {
          invoke: {
            id: "page",
            src: "page",
            input: ({ context }) => ({ page: context.next }),
            onDone: {
              target: "turning",
              actions: assign({
                words: ({ context, event }) => context.words + event.output.words,
                next: ({ context }) => context.next + 1,
              }),
            },
          },
          on: { TROUBLE: { actions: sendParent({ type: "TROUBLE" }) } },
        },
        turning: {
          always: [
            { guard: ({ context }) => context.next > context.pages, target: "read" },
            { target: "reading" },
          ],
        },
        read: { type: "final" },
      },
      output: ({ context }) => context.words,
    });
    return setup({
      types: { context: {} as { troubles: number; words: number[] }, events: {} as { type: "TROUBLE" } },
      actors: { chapter },
    }).createMachine({
      id: "book",
      context: { troubles: 0, words: [] },
      type: "parallel",
      on: { TROUBLE: { actions: assign({ troubles: ({ context }) => context.troubles + 1 }) } },
      states: Object.fromEntries(
        ["short", "long"].map((name, index) => [
          name,
          {
            initial: "open",
            states: {
              open: {
                invoke: {
                  id: name,
                  src: "chapter" as const,
                  input: { pages: index + 1 },
                  onDone: {
                    target: "shut",
                    actions: assign({
                      words: ({ context, event }: never) => [
                        ...(context as { words: number[] }).words,
                        (event as { output: number }).output,
                      ],
                    }),
                  },
                },
              },
              shut: { type: "final" as const },
            },
          },
        ]),
      ) as never,
      output: ({ context }) => context.words,
    }) as unknown as ReturnType<ChartCase["make"]>;
  },
  script: [
    { answer: "count 1", with: 10 },
    { fail: "count 1", with: "smudged" },
    200,
    { answer: "count 1", with: 20 },
    { answer: "count 2", with: 300 },
  ],
  ends: { short: "shut", long: "shut" },
};

const byComputedIds: ChartCase = {
  name: "children begun, told and stopped by computed ids, known to the system by name",
  make: ({ note }) =>
    setup({
      types: {
        context: {} as { open: string[] },
        events: {} as
          | { type: "JOIN"; who: string }
          | { type: "SAY"; to: string; text: string }
          | { type: "LEAVE"; who: string }
          | { type: "ANNOUNCE"; text: string },
      },
      actors: {
        guest: setup({
          types: { context: {} as { name: string; heard: number }, input: {} as { name: string } },
        }).createMachine({
          id: "guest",
          context: ({ input }) => ({ ...input, heard: 0 }),
          on: {
            HEAR: {
              actions: [
                assign({ heard: ({ context }) => context.heard + 1 }),
                ({ context, event }) =>
                  note(
                    `${context.name} hears ${(event as unknown as { text: string }).text} (${context.heard})`,
                  ),
              ],
            },
          },
        }),
        board: createMachine({
          id: "board",
          on: { POST: { actions: ({ event }) => note(`board: ${event["text"]}`) } },
        }),
      },
    }).createMachine({
      id: "room",
      context: { open: [] },
      invoke: { id: "board", src: "board", systemId: "the-board" },
      on: {
        JOIN: {
          actions: [
            spawnChild("guest", {
              id: ({ event }) => event.who,
              input: ({ event }) => ({ name: (event as { who: string }).who }),
            }),
            assign({ open: ({ context, event }) => [...context.open, event.who] }),
          ],
        },
        SAY: {
          actions: sendTo(
            ({ event }) => event.to,
            ({ event }) => ({ type: "HEAR", text: event.text }) as never,
          ),
        },
        ANNOUNCE: {
          actions: sendTo(
            ({ system }) => system.get("the-board") as never,
            ({ event }) => ({ type: "POST", text: event.text }) as never,
          ),
        },
        LEAVE: {
          actions: [
            stopChild(({ event }) => (event as { who: string }).who),
            assign({ open: ({ context, event }) => context.open.filter((name) => name !== event.who) }),
          ],
        },
      },
    }),
  script: [
    { type: "JOIN", who: "ada" },
    { type: "JOIN", who: "bob" },
    { type: "SAY", to: "bob", text: "hello" },
    { type: "ANNOUNCE", text: "tea" },
    { type: "LEAVE", who: "ada" },
    { type: "SAY", to: "bob", text: "you there?" },
    { type: "JOIN", who: "ada" },
    { type: "SAY", to: "ada", text: "welcome back" },
  ],
  ends: {},
};

const notBegun: ChartCase = {
  name: "a child that cannot begin, and its successor that can",
  make: ({ note }) =>
    setup({
      types: { context: {} as { size: number; reason: string | null } },
      actors: {
        picky: setup({
          types: {
            context: {} as { size: number },
            input: {} as { size: number },
            output: {} as { size: number },
          },
        }).createMachine({
          id: "picky",
          context: ({ input }) => {
            if (input.size < 2) throw new RangeError(`${input.size} is too small`);
            return input;
          },
          initial: "content",
          states: { content: { type: "final" } },
          output: ({ context }) => context,
        }),
      },
    }).createMachine({
      id: "trying",
      context: { size: 0, reason: null },
      initial: "asking",
      states: {
        asking: {
          invoke: {
            src: "picky",
            input: ({ context }) => ({ size: context.size }),
            onDone: { target: "found", actions: ({ event }) => note(`found ${event.output.size}`) },
            onError: {
              target: "growing",
              actions: assign({ reason: ({ event }) => (event.error as Error).message }),
            },
          },
        },
        growing: {
          after: { 10: { target: "asking", actions: assign({ size: ({ context }) => context.size + 1 }) } },
        },
        found: { type: "final" },
      },
      output: ({ context }) => context.reason,
    }),
  script: [10, 10],
  ends: "found",
};

export const generations: readonly ChartCase[] = [threeDeep, byComputedIds, notBegun];
