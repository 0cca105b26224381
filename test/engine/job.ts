/** The smallest workflow with something to do: one effect, and the end. */
import { setup } from "xstate";
import { workflow, type EffectHandler, type Workflow } from "paystate/engine";
import type { Limit } from "paystate/storage";

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
    working: { entry: { type: "work", params: ({ context }) => ({ id: context.id }) }, on: { DONE: "done" } },
    done: { type: "final" },
  },
});

export type Job = Workflow<typeof jobChart, unknown>;
type Params = { readonly id: string };
type Run = EffectHandler<Params, JobEvent, unknown>;
/** The work of a job: a name that it answers is of who has done it. */
export type Work = (...given: Parameters<Run>) => Promise<Awaited<ReturnType<Run>> | string>;

/** The work of a job as the handler of an effect. */
export function handlerOf(work: Work): Run {
  return async (...given) => {
    const answer = await work(...given);
    return typeof answer === "string" ? { event: { type: "DONE", by: answer } } : answer;
  };
}

/** The job with what its work is, under a limit if one is given. */
export function job(work: Work, limit?: (params: Params) => Limit): Job {
  const run = handlerOf(work);
  return workflow(jobChart)({ version: 1, effects: { work: limit === undefined ? run : { run, limit } } });
}
