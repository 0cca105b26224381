/** Charts that ask services: retries, cancelling, polling, parallel and chained requests. */
import { assign, createMachine, fromPromise, setup } from "xstate";
import type { ChartCase } from "./chart-case.ts";

const fetchWithRetry: ChartCase = {
  name: "fetch with retry and cancel",
  make: ({ call, note }) =>
    setup({
      types: {
        context: {} as { attempts: number; data: unknown; error: unknown },
        events: {} as { type: "FETCH" } | { type: "CANCEL" },
      },
      actors: { fetchUser: fromPromise(({ input, signal }) => call("fetchUser", input, signal)) },
      actions: { report: (_, params: { text: string }) => note(params.text) },
      guards: { mayRetry: ({ context }) => context.attempts < 3 },
      delays: { backoff: ({ context }) => 1_000 * 2 ** (context.attempts - 1) },
    }).createMachine({
      id: "fetchWithRetry",
      context: { attempts: 0, data: null, error: null },
      initial: "idle",
      states: {
        idle: { on: { FETCH: "loading" } },
        loading: {
          entry: assign({ attempts: ({ context }) => context.attempts + 1 }),
          exit: { type: "report", params: ({ context }) => ({ text: `left after ${context.attempts}` }) },
          invoke: {
            src: "fetchUser",
            input: ({ context }) => ({ attempt: context.attempts }),
            onDone: { target: "success", actions: assign({ data: ({ event }) => event.output }) },
            onError: { target: "failing", actions: assign({ error: ({ event }) => event.error }) },
          },
          on: { CANCEL: "idle" },
        },
        failing: {
          always: { guard: ({ context }) => context.attempts >= 3, target: "failure" },
          after: { backoff: { guard: "mayRetry", target: "loading" } },
          on: { CANCEL: "idle" },
        },
        success: { type: "final" },
        failure: { type: "final" },
      },
      output: ({ context }) => context.data,
    }),
  script: [
    "FETCH",
    "CANCEL",
    "FETCH",
    { fail: "fetchUser", with: new TypeError("offline") },
    "CANCEL",
    "FETCH",
    { answer: "fetchUser", with: { name: "Ada", since: new Date(0) } },
  ],
  ends: "success",
};

const retriesUsedUp: ChartCase = {
  ...fetchWithRetry,
  name: "fetch with retries used up",
  script: [
    "FETCH",
    { fail: "fetchUser", with: "first" },
    1_000,
    { fail: "fetchUser", with: "second" },
    1_999,
    1,
    { fail: "fetchUser", with: "third" },
  ],
  ends: "failure",
};

const creditCheck: ChartCase = {
  name: "credit check with parallel invocations",
  make: ({ call, note }) => {
    const bureau = (name: string) => ({
      initial: "asking",
      states: {
        asking: {
          invoke: {
            src: fromPromise(({ input }) => call(name, input)),
            input: ({ context }: { context: { ssn: string } }) => context.ssn,
            onDone: {
              target: "known",
              actions: [
                assign({
                  scores: ({ context, event }: never) =>
                    new Map((context as { scores: Map<string, number> }).scores).set(
                      name,
                      (event as { output: number }).output,
                    ),
                }),
                () => note(`${name} answered`),
              ],
            },
            onError: "unknown",
          },
        },
        known: { type: "final" },
        unknown: { type: "final" },
      },
    });
    return createMachine({
      id: "creditCheck",
      context: ({ input }: { input: { ssn: string } }) => ({ ssn: input.ssn, scores: new Map() }),
      initial: "verifying",
      states: {
        verifying: {
          type: "parallel",
          states: { equi: bureau("equi"), expo: bureau("expo"), tran: bureau("tran") },
          onDone: "deciding",
        },
        deciding: {
          always: [
            {
              guard: ({ context }: { context: { scores: Map<string, number> } }) => context.scores.size >= 2,
              target: "approved",
            },
            { target: "rejected" },
          ],
        },
        approved: { type: "final", entry: () => note("approved") },
        rejected: { type: "final", entry: () => note("rejected") },
      },
    } as never);
  },
  input: { ssn: "123" },
  script: [
    { answer: "expo", with: 700 },
    { fail: "equi", with: new Error("closed") },
    { answer: "tran", with: 640 },
  ],
  ends: "approved",
};

const polling: ChartCase = {
  name: "polling until it is ready",
  make: ({ call }) =>
    setup({
      types: { context: {} as { polls: number; job: string }, input: {} as { job: string } },
      actors: {
        check: fromPromise<{ ready: boolean }, { job: string }>(({ input }) => call("check", input)),
      },
    }).createMachine({
      id: "polling",
      context: ({ input }) => ({ polls: 0, job: input.job }),
      initial: "checking",
      states: {
        checking: {
          invoke: {
            src: "check",
            input: ({ context }) => ({ job: context.job }),
            onDone: [
              { guard: ({ event }) => event.output.ready, target: "ready" },
              { target: "waiting", actions: assign({ polls: ({ context }) => context.polls + 1 }) },
            ],
            onError: "waiting",
          },
        },
        waiting: { after: { 5_000: "checking" } },
        ready: { type: "final" },
      },
      output: ({ context }) => `${context.job} after ${context.polls}`,
    }),
  input: { job: "j1" },
  script: [
    { answer: "check", with: { ready: false } },
    5_000,
    { fail: "check", with: "busy" },
    5_000,
    { answer: "check", with: { ready: true } },
  ],
  ends: "ready",
};

const search: ChartCase = {
  name: "search that waits until typing stops",
  make: ({ call }) =>
    setup({
      types: {
        context: {} as { query: string; results: unknown },
        events: {} as { type: "TYPE"; query: string },
      },
      actors: { search: fromPromise(({ input, signal }) => call("search", input, signal)) },
    }).createMachine({
      id: "search",
      context: { query: "", results: undefined },
      initial: "idle",
      on: {
        TYPE: { target: ".typing", actions: assign({ query: ({ event }) => event.query }), reenter: true },
      },
      states: {
        idle: {},
        typing: { after: { 300: "searching" } },
        searching: {
          invoke: {
            src: "search",
            input: ({ context }) => context.query,
            onDone: { target: "idle", actions: assign({ results: ({ event }) => event.output }) },
            onError: "idle",
          },
        },
      },
    }),
  script: [
    { type: "TYPE", query: "d" },
    299,
    { type: "TYPE", query: "du" },
    299,
    1,
    { type: "TYPE", query: "dur" },
    300,
    { answer: "search", with: new Set(["durable"]) },
  ],
  ends: "idle",
};

const timeout: ChartCase = {
  name: "a request that takes too long",
  make: ({ call, note }) =>
    setup({ actors: { slow: fromPromise(({ signal }) => call("slow", undefined, signal)) } }).createMachine({
      id: "timeout",
      initial: "asking",
      states: {
        asking: {
          invoke: { src: "slow", onDone: "answered", onError: "refused" },
          after: { 2_000: { target: "late", actions: () => note("too late") } },
        },
        answered: { type: "final" },
        refused: { type: "final" },
        late: { on: { AGAIN: "asking" } },
      },
    }),
  script: [2_000, "AGAIN", { answer: "slow" }],
  ends: "answered",
};

export const requests: readonly ChartCase[] = [
  fetchWithRetry,
  retriesUsedUp,
  creditCheck,
  polling,
  search,
  timeout,
];
