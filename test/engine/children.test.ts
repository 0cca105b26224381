/** Child machines as instances of their own: begun and ended with their state, and heard only while they are wanted. */
import { assign, fromPromise, sendParent, sendTo, setup } from "xstate";
import { expect } from "vitest";
import { workflow } from "paystate/engine";
import { gate, until } from "../kit/engine-world.ts";
import { engineTest } from "../kit/engine-test.ts";

const MINUTE = 60_000;

/** A child that works, waits, and reports; a parent that may lose interest. */
function kin(work: (signal: AbortSignal) => Promise<string>) {
  const child = setup({
    types: { context: {} as { result: string | null }, events: {} as { type: "HURRY" } },
    actors: { work: fromPromise<string>(({ signal }) => work(signal)) },
  }).createMachine({
    id: "child",
    context: { result: null },
    initial: "resting",
    states: {
      resting: { after: { [MINUTE]: "working" }, on: { HURRY: "working" } },
      working: {
        invoke: {
          src: "work",
          onDone: { target: "over", actions: assign({ result: ({ event }) => event.output }) },
        },
      },
      over: { type: "final" },
    },
    output: ({ context }) => ({ result: context.result }),
  });
  const parent = setup({
    types: {
      context: {} as { heard: unknown[] },
      events: {} as { type: "LEAVE" } | { type: "RETURN" } | { type: "HURRY" },
    },
    actors: { child },
  }).createMachine({
    id: "parent",
    context: { heard: [] },
    initial: "caring",
    states: {
      caring: {
        invoke: {
          id: "kid",
          src: "child",
          onDone: {
            target: "proud",
            actions: assign({ heard: ({ context, event }) => [...context.heard, event.output] }),
          },
        },
        on: { LEAVE: "away", HURRY: { actions: sendTo("kid", { type: "HURRY" }) } },
      },
      away: { on: { RETURN: "caring" } },
      proud: { type: "final" },
    },
  });
  return workflow(parent)({ version: 1 });
}

const { test, running, settled, pass } = engineTest("children");

test("ends with the state that invoked it: its timers are gone, its promise is aborted", async () => {
  const signals: AbortSignal[] = [];
  const never = gate<string>();
  const parents = kin((signal) => {
    signals.push(signal);
    return never.opened;
  });
  const { send, read } = await running(parents, "p");
  await send(parents, "p", { type: "LEAVE" });
  await settled();
  expect(await read("p/kid")).toMatchObject({ value: "resting", status: "stopped" });
  await pass(2 * MINUTE);
  expect(signals).toHaveLength(0);
  await send(parents, "p", { type: "RETURN" });
  await send(parents, "p", { type: "HURRY" });
  await until(() => signals.length === 1);
  await send(parents, "p", { type: "LEAVE" });
  await until(() => signals[0]?.aborted === true);
  await settled();
  expect(await read("p/kid~2")).toMatchObject({ value: "working", status: "stopped" });
  await send(parents, "p", { type: "RETURN" });
  await settled();
  expect(await read("p/kid~3")).toMatchObject({ value: "resting", status: "active" });
});

test("delayed messages between the two are timers: they outlive the process", async () => {
  const child = setup({}).createMachine({
    id: "echo",
    on: { CALL: { actions: sendParent({ type: "ECHO" }, { delay: 5 * MINUTE }) } },
  });
  const chart = setup({ actors: { child } }).createMachine({
    id: "caller",
    initial: "calling",
    invoke: { id: "echo", src: "child" },
    states: {
      calling: { entry: sendTo("echo", { type: "CALL" }, { delay: 5 * MINUTE }), on: { ECHO: "answered" } },
      answered: { type: "final" },
    },
  });
  const callers = workflow(chart)({ version: 1 });
  const first = await running(callers, "c");
  await pass(4 * MINUTE);
  await first.stop();
  const second = await running(callers);
  await pass(6 * MINUTE - 1);
  expect(await second.read("c")).toMatchObject({ value: "calling" });
  await pass(1);
  await settled();
  expect(await second.read("c")).toMatchObject({ status: "done" });
  expect(await second.read("c/echo")).toMatchObject({ status: "stopped" });
});
