/** Effects that are done in the commit of the step that asks for them. */
// modules: with-step
import { expect } from "vitest";
import { createMachine } from "xstate";
import { startOf, workflow, type CommittingStep, type DoneWithStep, type Workflow } from "paystate/engine";
import type { PaymentTables } from "../../src/payments/payment-storage.ts";
import { jobChart } from "./job.ts";
import { engineTest } from "../kit/engine-test.ts";

type Step = CommittingStep<{ readonly id: string }, PaymentTables>;

/** What begins with the job, and waits. */
const helpers = workflow(createMachine({ id: "helper", initial: "waiting", states: { waiting: {} } }))({
  version: 1,
});

/** A job whose work can be done with its step; `ran` hears what was left to the task. */
function jobs(
  withStep: (step: Step) => Promise<DoneWithStep<PaymentTables> | null>,
  ran: string[],
): Workflow<typeof jobChart, PaymentTables> {
  return workflow(jobChart)<PaymentTables>({
    version: 1,
    effects: {
      work: {
        withStep,
        run: async ({ id }) => {
          ran.push(id);
          return { event: { type: "DONE", by: "task" } };
        },
      },
    },
    project: ({ id, before }) =>
      before === null ? [{ table: "facts", insert: { id, value: "projected" } }] : [],
  });
}

const begun = (id: string): DoneWithStep<PaymentTables>["starts"] => [startOf(helpers, id, undefined)];

const { test, engine, running, clock, log, storage, settled, awaitsOutside } =
  engineTest("effects with their step");

test("an effect is done in the commit of its step, by what it writes and starts, and has no task", async () => {
  const ran: string[] = [];
  const seen: Step[] = [];
  const work = jobs(async (step) => {
    seen.push(step);
    return {
      writes: [{ table: "facts", insert: { id: step.instance, value: "with the step" } }],
      starts: begun("helper"),
      isWhole: true,
    };
  }, ran);
  const one = await engine({ workflows: [work, helpers] });
  const caller = { table: "facts", insert: { id: "caller", value: "1" } } as const;
  const request = [startOf(work, "j", { id: "params" })];
  expect(await one.commit({ starts: request, writes: [caller] })).toMatchObject({ ok: true });
  expect(seen).toEqual([
    {
      instance: "j",
      asked: [{ id: "params" }],
      writes: [{ table: "facts", insert: { id: "j", value: "projected" } }],
      companions: [caller],
    },
  ]);
  const begin = log.commits.flatMap(({ commit }) => (commit.starts === undefined ? [] : [commit.starts]));
  expect(begin.map((starts) => starts.map(({ id }) => id))).toEqual([["j", "helper"]]);
  expect(await storage.fact("j")).toBe("with the step");
  one.run();
  await settled();
  expect(ran).toEqual([]);
  awaitsOutside("j", "helper");
});

test("D94: what a commit takes in hand is leased from the commit on, however long it was looked before", async () => {
  const ran: string[] = [];
  const work = jobs(async () => {
    clock.advance(10_000);
    return null;
  }, ran);
  const one = await running(work);
  await settled();
  await one.start(work, { id: "j", input: { id: "j" } });
  const untils = log.commits.flatMap(({ commit: { arms = [] } }) =>
    arms.flatMap(({ lease }) => (lease === undefined ? [] : [lease.until - lease.leaseMs])),
  );
  expect(untils).toEqual([clock.now()]);
  await settled();
  expect(ran).toEqual(["j"]);
});

test.each([
  ["says that it cannot be", (): Promise<null> => Promise.resolve(null)],
  ["throws", (): Promise<null> => Promise.reject(new Error("the database did not answer"))],
] as const)("an effect that %s is done by its task", async (_, withStep) => {
  const ran: string[] = [];
  const work = jobs(withStep, ran);
  const one = await engine(work, "j");
  expect(await storage.fact("j")).toBe("projected");
  one.run();
  await settled();
  expect(ran).toEqual(["j"]);
});

test("an effect that is not whole has its task, too", async () => {
  awaitsOutside("helper");
  const ran: string[] = [];
  const work = jobs(async ({ writes }) => ({ writes, starts: begun("helper"), isWhole: false }), ran);
  const one = await engine({ workflows: [work, helpers] }, "j");
  expect((await one.read("helper"))?.value).toBe("waiting");
  one.run();
  await settled();
  expect(ran).toEqual(["j"]);
});

test.each([
  ["twice it is asked again", 2, 3, []],
  ["three times its task does it", 3, 3, ["j"]],
] as const)("when the start that an effect adds is refused %s", async (_, refusals, times, left) => {
  const ran: string[] = [];
  let asked = 0;
  const work = jobs(async ({ writes }) => {
    asked += 1;
    return { writes, starts: begun(asked <= refusals ? "taken" : "free"), isWhole: true };
  }, ran);
  const one = await engine({ workflows: [work, helpers] });
  await one.start(helpers, { id: "taken", input: undefined });
  expect(await one.start(work, { id: "j", input: { id: "j" } })).toEqual({ ok: true });
  one.run();
  await settled();
  expect([asked, ran]).toEqual([times, left]);
  awaitsOutside("j", "taken", "free");
});

test("what a caller brings along is refused once, and is not the effect's to do anew", async () => {
  let asked = 0;
  const work = jobs(async ({ writes }) => {
    asked += 1;
    return { writes, starts: [], isWhole: true };
  }, []);
  const one = await engine(work);
  const write = { table: "facts", insert: { id: "caller", value: "1" } } as const;
  await one.commit({ writes: [write] });
  const starts = [startOf(work, "j", { id: "j" })];
  expect(await one.commit({ starts, writes: [write] })).toEqual({ ok: false, conflict: "write", index: 0 });
  expect([asked, await storage.load("j")]).toEqual([1, null]);
});
