/** A clock that is set back: what waits by a delay waits no longer than that, and nothing is done twice. */
import { setup } from "xstate";
import { expect } from "vitest";
import { workflow } from "paystate/engine";
import { gate, turns } from "../kit/engine-world.ts";
import { virtualClock, type VirtualClock } from "../kit/virtual-clock.ts";
import { job } from "./job.ts";
import { engineTest } from "../kit/engine-test.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const LEASE = 15_000;

const egg = workflow(
  setup({}).createMachine({
    id: "egg",
    initial: "boiling",
    states: { boiling: { after: { [3 * MINUTE]: "boiled" } }, boiled: { type: "final" } },
  }),
)({ version: 1 });

/** Lets time pass of which the hands of the clock may tell another story, a second at a time. */
async function live(clock: VirtualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1_000) {
    clock.advance(1_000);
    await turns(30);
  }
}

const { test, engine, running, clock, log, storage, open, settled } = engineTest("set back");

test.each(["lives on", "begins after it"])(
  "D26, D35: timers, a retry and what a dead process held go on in their time, in a process that %s",
  async (when) => {
    const frozen = virtualClock(clock.now());
    const hanging = gate();
    const held = job(async (_, { crashes }) => {
      if (crashes === 0) await hanging.opened;
      return "alive";
    });
    await running({ workflows: [held], storage: await open(), clock: frozen }, "held");
    let isDown = true;
    const work = workflow(
      setup({ actions: { dial: () => {} } }).createMachine({
        id: "caller",
        initial: "calling",
        states: { calling: { entry: "dial", on: { HEARD: "done" } }, done: { type: "final" } },
      }),
    )({
      version: 1,
      effects: {
        dial: async () => {
          if (isDown) throw new Error("no route");
          return { event: { type: "HEARD" } };
        },
      },
    });
    const workflows = [egg, held, work];
    const first = await running({ workflows });
    await first.start(egg, { id: "egg", input: undefined });
    await first.start(work, { id: "call", input: undefined });
    await live(clock, 2_000);
    if (when === "begins after it") await first.stop();
    clock.put(-HOUR);
    isDown = false;
    const second = when === "begins after it" ? await engine({ workflows }) : first;
    second.run();
    await live(clock, 4 * LEASE);
    expect(await storage.load("held"), "its lease").toMatchObject({ status: "done" });
    expect(await storage.load("call"), "its pause").toMatchObject({ status: "done" });
    expect(await storage.load("egg"), "not early").toMatchObject({ status: "active" });
    await live(clock, 3 * MINUTE - 3 * LEASE);
    expect(await storage.load("egg")).toMatchObject({ status: "done" });
    expect(
      (await second.history("egg")).map(({ cause }) => cause),
      "a note in the history",
    ).toMatchObject([null, { kind: "timer", isMoved: true }]);
    hanging.open();
    await settled();
  },
);

test("D35: what fired while the clock was set back fires no second time by the right clock, or once it is set back again", async () => {
  await running(egg, "egg");
  for (const put of [-HOUR, HOUR, -HOUR]) {
    clock.put(put);
    await live(clock, 4 * MINUTE);
    expect(await storage.load("egg")).toMatchObject({ status: "done", version: 2 });
  }
  expect(log.commits.filter(({ commit }) => commit.consumes !== undefined)).toHaveLength(1);
});

test("D35: what another process arms by the old time right behind the step back waits no longer than its delay", async () => {
  await running(egg);
  await live(clock, 2_000);
  const late = virtualClock(clock.now());
  const dying = await engine({ workflows: [egg], storage: await open(), clock: late });
  clock.put(-HOUR);
  await live(clock, 1_000);
  await dying.start(egg, { id: "egg", input: undefined });
  await live(clock, 3 * MINUTE + 3_000);
  expect(await storage.load("egg")).toMatchObject({ status: "done" });
});
