/** What is published of the tasks that leave the hands of a process: how each ended, and no ids. */
import { enqueueActions, fromPromise, setup, spawnChild } from "xstate";
import { expect, onTestFinished } from "vitest";
import { workflow, type PreviousInstance, type TellParams } from "paystate/engine";
import { taskEnded, type TaskEndedEvent } from "../../src/core/diagnostics.ts";
import { gate, until } from "../kit/engine-world.ts";
import { job } from "./job.ts";
import { engineTest } from "../kit/engine-test.ts";

const WAIT_MS = 1_000;

/** Everything that is published until the test is over. */
function published(): readonly TaskEndedEvent[] {
  const heard: TaskEndedEvent[] = [];
  onTestFinished(taskEnded.subscribe((message) => void heard.push(message)));
  return heard;
}

const { test, engine, running, settled, pass } = engineTest("published tasks");

test("work that is given back at a stop has not failed, and what throws has", async () => {
  const heard = published();
  let runs = 0;
  const jobs = job(async (_params, { signal }) => {
    runs += 1;
    if (runs === 1) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throw new Error("aborted");
    }
    if (runs === 2) throw new Error("no answer");
    return "me";
  });
  const first = await running(jobs, "a");
  await until(() => runs === 1);
  await first.stop({ timeoutMs: 0 });
  await until(() => heard.length === 1);
  await running(jobs);
  await pass(WAIT_MS);
  expect(heard.map(({ outcome }) => outcome)).toEqual(["given_back", "failed", "done"]);
});

test("a task is given back when its instance has moved to another version meanwhile", async () => {
  const heard = published();
  const charging = gate<string>();
  const order = setup({ actors: { charge: fromPromise<string>(() => charging.opened) } }).createMachine({
    id: "order",
    initial: "paying",
    states: { paying: { invoke: { id: "charge", src: "charge", onDone: "paid" } }, paid: { type: "final" } },
  });
  const old = workflow(order)({ version: 1 });
  await running(old, "o");
  const now = workflow(order)({
    version: 2,
    migrate: { 1: ({ value }: PreviousInstance) => ({ value: value as "paying" }) },
  });
  const after = await engine(now);
  await after.send(now, "o", { type: "ANY" });
  charging.open("receipt");
  await until(() => heard.length === 1);
  after.run();
  await settled();
  expect(heard).toMatchObject([
    { workflow: "order@1", name: "charge", outcome: "given_back" },
    { workflow: "order@2", name: "charge", outcome: "done" },
  ]);
});

test("no name holds an id that a chart has computed for a timer or an actor", async () => {
  const heard = published();
  const secret = "customer-4711";
  const shop = setup({
    types: { context: {} as { readonly id: string }, input: {} as { readonly id: string } },
    actors: { charge: fromPromise<string>(async () => "receipt") },
    actions: { tell: (_, _params: TellParams) => {}, note: () => {} },
  }).createMachine({
    id: "shop",
    context: ({ input }) => input,
    initial: "open",
    states: {
      open: {
        entry: [
          "note",
          spawnChild("charge", { id: ({ context }) => context.id }),
          enqueueActions(({ enqueue, context }) => {
            enqueue.raise({ type: "CLOSE" }, { id: context.id, delay: WAIT_MS });
          }),
          {
            type: "tell",
            params: ({ context }) => ({ machine: "shop", id: context.id, event: { type: "HELLO" } }),
          },
        ],
        on: { CLOSE: "closed" },
      },
      closed: { type: "final" },
    },
  });
  const shops = workflow(shop)({ version: 1, effects: { note: "setup" } });
  await running(shops, secret);
  await pass(WAIT_MS);
  const named = heard.map(({ kind, name }) => `${kind} ${name}`);
  expect(named.toSorted()).toEqual(["effect note", "invocation charge", "message message", "timer timer"]);
  expect(JSON.stringify(heard)).not.toContain(secret);
});
