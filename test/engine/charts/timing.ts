/** Charts about time: backoff, deadlines, delayed messages that are cancelled by a computed id, races. */
import { assign, cancel, createMachine, enqueueActions, fromPromise, sendTo, setup } from "xstate";
import type { ChartCase } from "./chart-case.ts";

const backoff: ChartCase = {
  name: "retry with growing pauses, told by input and context",
  make: ({ call, note }) =>
    setup({
      types: {
        context: {} as { tries: number; firstMs: number; most: number; reasons: unknown[] },
        input: {} as { firstMs: number; most: number },
      },
      actors: { upload: fromPromise<{ url: URL }, number>(({ input }) => call("upload", input)) },
      delays: {
        pause: ({ context }) => context.firstMs * 2 ** (context.tries - 1),
        patience: ({ context }) => context.firstMs * 100,
      },
      actions: { note: (_, { text }: { text: string }) => note(text) },
      guards: { mayTryAgain: ({ context }) => context.tries < context.most },
    }).createMachine({
      id: "upload",
      context: ({ input }) => ({ ...input, tries: 0, reasons: [] }),
      initial: "working",
      states: {
        working: {
          initial: "uploading",
          after: { patience: "late" },
          states: {
            uploading: {
              entry: assign({ tries: ({ context }) => context.tries + 1 }),
              invoke: {
                src: "upload",
                input: ({ context }) => context.tries,
                onDone: {
                  target: "#upload.stored",
                  actions: assign({
                    reasons: ({ context, event }) => [...context.reasons, event.output.url],
                  }),
                },
                onError: [
                  {
                    guard: "mayTryAgain",
                    target: "pausing",
                    actions: assign({ reasons: ({ context, event }) => [...context.reasons, event.error] }),
                  },
                  { target: "#upload.failed" },
                ],
              },
            },
            pausing: {
              entry: {
                type: "note",
                params: ({ context }: { context: { tries: number } }) => ({ text: `pause ${context.tries}` }),
              },
              after: { pause: "uploading" },
            },
          },
        },
        stored: { type: "final" },
        failed: { type: "final" },
        late: { type: "final" },
      },
      output: ({ context }) => context.reasons.at(-1),
    }),
  input: { firstMs: 100, most: 4 },
  script: [
    { fail: "upload", with: new Error("reset") },
    100,
    { fail: "upload", with: { code: 503, retry: true } },
    199,
    1,
    { fail: "upload", with: undefined },
    400,
    { answer: "upload", with: { url: new URL("https://example.com/1") } },
  ],
  ends: "stored",
};

const session: ChartCase = {
  name: "a session that is kept alive, and ends in any case after a while",
  make: ({ note }) =>
    createMachine({
      id: "session",
      initial: "open",
      states: {
        open: {
          after: { 1_000: { target: "over", actions: () => note("too long") } },
          initial: "active",
          states: {
            active: { after: { 300: "warned" }, on: { ALIVE: { target: "active", reenter: true } } },
            warned: {
              entry: () => note("warned"),
              after: { 200: "#session.over", 100: { actions: () => note("last call") } },
              on: { ALIVE: "active" },
            },
          },
          on: { LEAVE: "over" },
        },
        over: { type: "final", entry: () => note("over") },
      },
    }),
  script: [250, "ALIVE", 300, 100, "ALIVE", 299, 50, 1],
  ends: "over",
};

const computedIds: ChartCase = {
  name: "delayed events to itself, cancelled by a computed id",
  make: ({ note }) =>
    setup({
      types: {
        context: {} as { asked: number },
        events: {} as
          | { type: "ASK"; topic: string }
          | { type: "DROP"; topic: string }
          | { type: "REMIND"; topic: string },
      },
      delays: { growing: ({ context }) => context.asked * 100 },
    }).createMachine({
      id: "reminders",
      context: { asked: 0 },
      on: {
        ASK: {
          actions: [
            assign({ asked: ({ context }) => context.asked + 1 }),
            sendTo(
              ({ self }) => self,
              ({ event }) => ({ type: "REMIND", topic: event.topic }),
              { id: "self", delay: 50 },
            ),
            enqueueActions(({ enqueue, event: { topic } }) => {
              enqueue.raise({ type: "REMIND", topic: `${topic}, raised` }, { id: topic, delay: "growing" });
            }),
          ],
        },
        DROP: { actions: [cancel(({ event }) => event.topic), cancel("unknown")] },
        REMIND: { actions: ({ event }) => note(`remind of ${event.topic}`) },
      },
    }),
  script: [
    { type: "ASK", topic: "milk" },
    60,
    { type: "ASK", topic: "bread" },
    { type: "DROP", topic: "milk" },
    100,
    40,
    60,
    { type: "DROP", topic: "bread" },
  ],
  ends: {},
};

const race: ChartCase = {
  name: "a race of two invocations, the loser of which is aborted",
  make: ({ call, note }) =>
    createMachine({
      id: "race",
      context: { winner: null },
      initial: "racing",
      states: {
        racing: {
          invoke: ["fast", "slow"].map((id) => ({
            id,
            src: fromPromise(({ signal }) => call(id, undefined, signal)),
            onDone: {
              target: "won",
              actions: assign({ winner: ({ event }: never) => (event as { output: unknown }).output }),
            },
            onError: { actions: () => note(`${id} fell`) },
          })),
          after: { 500: "nobody" },
        },
        won: { after: { 10: "racing" }, on: { STOP: "end" } },
        nobody: { type: "final" },
        end: { type: "final" },
      },
    } as never),
  script: [
    { answer: "slow", with: "slow" },
    10,
    { fail: "slow", with: "fell" },
    499,
    { answer: "fast", with: "fast" },
    "STOP",
  ],
  ends: "end",
};

const deadline: ChartCase = {
  name: "an order with a deadline for each of its stages",
  make: ({ note }) => {
    const stage = (next: string, patienceMs: number) => ({
      after: { [patienceMs]: { target: "#order.cancelled", actions: () => note(`no ${next} in time`) } },
      on: { [next.toUpperCase()]: next },
    });
    return createMachine({
      id: "order",
      initial: "open",
      states: {
        open: {
          initial: "created",
          after: { P30D: "cancelled" },
          states: {
            created: stage("confirmed", 30_000),
            confirmed: stage("shipped", 40_000),
            shipped: { type: "final" },
          },
          onDone: "delivered",
        },
        cancelled: { type: "final" },
        delivered: { type: "final" },
      },
    }).provide({ delays: { P30D: 60_000 } });
  },
  script: [29_999, "CONFIRMED", 30_000, 1],
  ends: "cancelled",
};

export const timing: readonly ChartCase[] = [backoff, session, computedIds, race, deadline];
