/** D15: what one sender tells one target arrives in the order of its steps; effects of one step begin in their order. */
import { assign, sendTo, setup } from "xstate";
import { expect } from "vitest";
import { workflow } from "paystate/engine";
import { engineTest } from "../kit/engine-test.ts";

const MINUTE = 60_000;

interface Sum {
  readonly sum: number;
}

/** A parent that adds three times and ends its child, all in one step; the first attempt to add fails. */
function adders() {
  let attempts = 0;
  const adder = setup({
    types: {
      context: {} as Sum,
      events: {} as { readonly type: "ADD" } | { readonly type: "END" },
      output: {} as Sum,
    },
  }).createMachine({
    id: "adder",
    context: { sum: 0 },
    initial: "adding",
    states: {
      adding: {
        on: {
          ADD: {
            actions: assign({
              sum: ({ context }) => {
                attempts += 1;
                if (attempts === 1) throw new Error("the first attempt fails");
                return context.sum + 1;
              },
            }),
          },
          END: "ended",
        },
      },
      ended: { type: "final" },
    },
    output: ({ context }) => ({ sum: context.sum }),
  });
  const chart = setup({
    types: { context: {} as { readonly heard: unknown }, events: {} as { readonly type: "GO" } },
    actors: { adder },
  }).createMachine({
    id: "parent",
    context: { heard: null },
    initial: "waiting",
    invoke: {
      src: "adder",
      id: "child",
      onDone: { target: ".done", actions: assign({ heard: ({ event }) => event.output }) },
    },
    states: {
      waiting: {
        on: {
          GO: {
            actions: [
              sendTo("child", { type: "ADD" }),
              sendTo("child", { type: "ADD" }),
              sendTo("child", { type: "ADD" }),
              sendTo("child", { type: "END" }),
            ],
          },
        },
      },
      done: { type: "final" },
    },
  });
  return workflow(chart)({ version: 1 });
}

const { test, engine, settled, pass, awaitsOutside } = engineTest("order");

test("D15: ADD, ADD, ADD, END in one step to one child come to 3, over two engines and with one failed attempt", async () => {
  const parents = adders();
  const [one, two] = [await engine(parents), await engine(parents)];
  await one.start(parents, { id: "p", input: undefined });
  one.run();
  two.run();
  await one.send(parents, "p", { type: "GO" });
  await pass(MINUTE);
  expect(await one.read("p")).toMatchObject({ status: "done", context: { heard: { sum: 3 } } });
});

test("D15: the effects of one step begin in their order", async () => {
  const names = ["first", "second", "third", "fourth"] as const;
  const begun: string[] = [];
  const note = (name: string) => async () => void begun.push(name);
  const chart = setup({
    types: { events: {} as { readonly type: "AGAIN" } },
    actions: { first: () => {}, second: () => {}, third: () => {}, fourth: () => {} },
  }).createMachine({ id: "notes", entry: [...names], on: { AGAIN: { actions: [...names] } } });
  const notes = workflow(chart)({
    version: 1,
    effects: { first: note("first"), second: note("second"), third: note("third"), fourth: note("fourth") },
  });
  const one = await engine(notes, "n");
  one.run();
  await settled();
  await one.send(notes, "n", { type: "AGAIN" });
  await settled();
  expect(begun).toEqual([...names, ...names]);
  awaitsOutside("n");
});
