/** A parent that starts children and is told by each of them how it ended: the shape of a payroll. */
import { assign, setup } from "xstate";
import {
  workflow,
  type EffectHandler,
  type StartParams,
  type TellParams,
  type Workflow,
} from "paystate/engine";

type ParentEvent =
  | { readonly type: "PAID"; readonly child: string }
  | { readonly type: "FAILED"; readonly child: string }
  | { readonly type: "CLOSE" };
type ChildEvent = { readonly type: "DONE" } | { readonly type: "BROKE" } | { readonly type: "PARENT_GONE" };

interface ParentContext {
  readonly id: string;
  readonly children: number;
  readonly started: number;
  readonly paid: number;
  readonly failed: number;
}

const countPaid = assign<ParentContext, ParentEvent, undefined, ParentEvent, never>({
  paid: ({ context }) => context.paid + 1,
});
const countFailed = assign<ParentContext, ParentEvent, undefined, ParentEvent, never>({
  failed: ({ context }) => context.failed + 1,
});

/** Starts its children one after another and ends when all have reported, or when it is closed. */
export const parentChart = setup({
  types: {
    context: {} as ParentContext,
    input: {} as { readonly id: string; readonly children: number },
    events: {} as ParentEvent,
  },
  actions: { start: (_, _params: StartParams) => {} },
  guards: {
    startsMore: ({ context }) => context.started < context.children,
    allReported: ({ context }) => context.paid + context.failed === context.children,
  },
}).createMachine({
  id: "parent",
  context: ({ input }) => ({ ...input, started: 0, paid: 0, failed: 0 }),
  initial: "starting",
  on: { CLOSE: ".closed" },
  states: {
    starting: {
      always: [
        {
          guard: "startsMore",
          target: "starting",
          reenter: true,
          actions: [
            {
              type: "start",
              params: ({ context }) => ({
                machine: "child",
                id: `${context.id}/${context.started}`,
                input: { id: `${context.id}/${context.started}`, parent: context.id },
              }),
            },
            assign({ started: ({ context }) => context.started + 1 }),
          ],
        },
        { target: "waiting" },
      ],
    },
    waiting: {
      on: { PAID: { actions: countPaid }, FAILED: { actions: countFailed } },
      always: { guard: "allReported", target: "settled" },
    },
    settled: { type: "final" },
    closed: { type: "final" },
  },
});

/** Works once, tells its parent how it went, and learns when there is nobody left to tell. */
export const childChart = setup({
  types: {
    context: {} as { readonly id: string; readonly parent: string },
    input: {} as { readonly id: string; readonly parent: string },
    events: {} as ChildEvent,
  },
  actions: { work: (_, _params: { readonly id: string }) => {}, tell: (_, _params: TellParams) => {} },
}).createMachine({
  id: "child",
  context: ({ input }) => input,
  initial: "working",
  states: {
    working: {
      entry: { type: "work", params: ({ context }) => ({ id: context.id }) },
      on: { DONE: "reporting", BROKE: "failed" },
    },
    // Waits a moment for the word that nobody is there any more.
    reporting: {
      entry: {
        type: "tell",
        params: ({ context }) => ({
          machine: "parent",
          id: context.parent,
          event: { type: "PAID", child: context.id },
          otherwise: { type: "PARENT_GONE" },
        }),
      },
      after: { 60_000: "paid" },
      on: { PARENT_GONE: "orphaned" },
    },
    paid: { type: "final" },
    orphaned: { type: "final" },
    failed: {
      type: "final",
      entry: {
        type: "tell",
        params: ({ context }) => ({
          machine: "parent",
          id: context.parent,
          event: { type: "FAILED", child: context.id },
        }),
      },
    },
  },
});

/** Both workflows, with what a child's work is. */
export function family(
  work: EffectHandler<{ readonly id: string }, ChildEvent, unknown>,
): readonly [Workflow<typeof parentChart, unknown>, Workflow<typeof childChart, unknown>] {
  return [
    workflow(parentChart)({ version: 1, effects: {} }),
    workflow(childChart)({ version: 1, effects: { work } }),
  ];
}
