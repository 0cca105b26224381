/** Running some workflows only: the work of the others waits where it is, until the engine runs whole. */
import { setup } from "xstate";
import { expect } from "vitest";
import { workflow, type Watcher } from "paystate/engine";
import { turns } from "../kit/engine-world.ts";
import { engineTest } from "../kit/engine-test.ts";

const SECOND = 1_000;

/** Does one thing at once, another after a second, and watches something all the time until it is told to go. */
function chartOf(id: string) {
  return setup({
    types: { events: {} as { readonly type: "GO" } | { readonly type: "SEEN" } },
    actions: { work: () => {} },
  }).createMachine({
    id,
    initial: "waiting",
    states: {
      waiting: { entry: "work", after: { [SECOND]: "late" }, on: { GO: "gone" } },
      late: { meta: { watches: ["sky"] }, on: { SEEN: "seen" } },
      gone: { entry: "work", type: "final" },
      seen: { type: "final" },
    },
  });
}

function scene() {
  const done: string[] = [];
  const of = (id: string) =>
    workflow(chartOf(id))({
      version: 1,
      effects: {
        work: async (_, { instance }) => {
          done.push(instance);
          return undefined;
        },
      },
      watches: { sky: () => id },
    });
  const [letters, money] = [of("letters"), of("money")];
  let looks = 0;
  const sky: Watcher = {
    intervalMs: SECOND,
    poll: async (watches) => {
      looks += 1;
      return watches.map(({ instance }) => ({ instance, event: { type: "SEEN" } }));
    },
  };
  const options = { workflows: [letters, money], watchers: { sky } };
  return { letters, money, options, done, looks: () => looks };
}

const input = undefined;

const { test, engine, running, clock, storage, settled } = engineTest("run only");

test("does the work of these, polls nothing, and leaves what is left of the others alone", async () => {
  const { letters, money, options, done, looks } = scene();
  const before = await engine(options);
  await before.start(money, { id: "m-before", input });
  await before.start(letters, { id: "l-before", input });
  const only = await engine(options);
  only.run({ only: [letters] });
  // Also what this process commits itself, and would take in hand with the commit.
  await only.start(money, { id: "m-now", input });
  await only.start(letters, { id: "l-now", input });
  for (let second = 0; second < 10; second++) {
    await only.settled();
    clock.advance(SECOND);
    await turns(20);
  }
  await only.settled();
  expect(done.toSorted()).toEqual(["l-before", "l-now"]);
  expect((await storage.load("m-now"))?.version).toBe(1);
  expect((await only.read("l-now"))?.value).toBe("late");
  expect(looks()).toBe(0);
  expect(only.watching()).toEqual({}); // modules: watching

  only.run();
  for (let second = 0; second < 5; second++) {
    await only.settled();
    clock.advance(SECOND);
    await turns(20);
  }
  await only.settled();
  expect(done.toSorted()).toEqual(["l-before", "l-now", "m-before", "m-now"]);
  for (const id of ["m-now", "m-before", "l-now"]) {
    expect([id, (await only.read(id))?.value]).toEqual([id, "seen"]);
  }
});

test("is not narrowed once it runs whole, and can begin with some again after a stop", async () => {
  const { letters, money, options, done } = scene();
  const whole = await running(options);
  whole.run({ only: [letters] });
  await whole.start(money, { id: "m-1", input });
  await settled();
  expect(done).toEqual(["m-1"]);
  await whole.send(money, "m-1", { type: "GO" });
  await settled();
  await whole.stop();
  whole.run({ only: [letters] });
  await whole.start(money, { id: "m-2", input });
  await settled();
  expect(done).toEqual(["m-1", "m-1"]);
  whole.run();
  await settled();
  await whole.send(money, "m-2", { type: "GO" });
  await settled();
  expect(done).toEqual(["m-1", "m-1", "m-2", "m-2"]);
});
