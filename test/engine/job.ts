/** The smallest workflow with something to do: one effect, and the end. */
import { setup } from "xstate";
import { workflow, type EffectHandler, type Limit, type Workflow } from "paystate/engine";

type JobEvent = { readonly type: "DONE"; readonly by: string };

export const jobChart = setup({
  types: {
    context: {} as { readonly id: string },
    input: {} as { readonly id: string },
    events: {} as JobEvent,
  },
  actions: { work: (_, _params: { readonly id: string }) => {} },
}).createMachine({
  id: "job",
  context: ({ input }) => input,
  initial: "working",
  states: {
    working: {
      entry: { type: "work", params: ({ context }) => ({ id: context.id }) },
      on: { DONE: "done" },
    },
    done: { type: "final" },
  },
});

export type Job = Workflow<typeof jobChart, unknown>;
export type Work = EffectHandler<{ readonly id: string }, JobEvent, unknown>;

/** The job with what its work is, under a limit if one is given. */
export function job(run: Work, limit?: (params: { readonly id: string }) => Limit): Job {
  return workflow(jobChart)({ version: 1, effects: { work: limit === undefined ? run : { run, limit } } });
}
