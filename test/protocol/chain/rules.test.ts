/** With all rules the chain's model keeps its promises; without one the shortest way to its break is found. */
import { expect, test } from "vitest";
import { expectBroken, expectHolds } from "../expectations.ts";
import { CAN_END, explore, type System } from "../explore.ts";
import { BREAKS } from "./breaks.ts";
import { ChainModel } from "./model.ts";
import type { Scenario } from "./scenario.ts";
import { TWO_CHUNKS } from "./worlds.ts";

const ALL = BREAKS.map((each) => [each.without, each] as const);

/** Scenarios that were searched with every rule: many rules have the same. */
const held = new Set<string>();

function expectHeld(scenario: Scenario): void {
  const name = JSON.stringify(scenario);
  if (!held.has(name)) expectHolds(new ChainModel(scenario));
  held.add(name);
}

test.each(ALL)("%s", (_, { in: scenario }) => {
  expectHeld(scenario);
});

test.each(ALL)("without %s", (without, { in: scenario, ...broken }) => {
  expectBroken(new ChainModel({ ...scenario, without }), broken);
});

test("K11: nobody is an outcome", () => {
  const scenario: Scenario = { chunks: TWO_CHUNKS, thief: ["steals"], deposits: [4, 1] };
  expectHolds(new ChainModel(scenario));
  const model = new ChainModel({ ...scenario, without: "K11: nobody is an outcome" });
  // What cannot end before anything is stolen is passed over: an order to which nothing comes.
  const afterTheft = { start: model.start, key: model.key, broken: model.broken };
  const system: System<typeof model.start> = {
    ...afterTheft,
    steps: (world) => model.steps(world),
    isEnd: (world) => world.now.stolen === 0 || model.isEnd(world),
  };
  expectBroken(system, { promise: CAN_END, acts: "4 comes → the thief takes 4" });
});

test("K4: no member, and go, has a length: then c is paid though chunk 0 can pay nobody", () => {
  const scenario: Scenario = { chunks: TWO_CHUNKS, unpayable: ["the treasury", 0, 1] };
  expect(waysToPayC(scenario)).toEqual([
    "4 comes",
    "chunk 0 pays nobody, and the order goes on",
    "it is final",
    "chunk 1 pays c",
  ]);
  expect(waysToPayC({ ...scenario, without: "K4: no member, and go, has a length" })).toBeNull();
});

/** The shortest way to a payment of c, or null if there is none. */
function waysToPayC(scenario: Scenario): readonly string[] | null {
  const model = new ChainModel(scenario);
  const found = explore({
    start: model.start,
    key: model.key,
    steps: (world) => model.steps(world),
    broken: ({ now }) => (now.paid[2] === 1 ? "c is paid" : null),
  });
  return found.broken?.acts ?? null;
}
