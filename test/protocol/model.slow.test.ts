/** M7: searches all ways that an order can go. With every rule nothing breaks; without a rule its attack is found. */
import { describe, expect, test } from "vitest";
import { ATTACKS, attacked } from "./attacks.ts";
import { explore, type Search } from "./explore.ts";
import { type Act, describeAct, protocol, type Scenario, type World } from "./model.ts";
import { EVERY_PROMISE, type Promised } from "./promises.ts";
import { PROTOCOL, type Rules, without } from "./rules.ts";
import {
  CLOSING,
  EVERYTHING,
  EXCESS,
  EXCESS_AND_FORKS,
  SWAP,
  FIVE_PAYEES,
  LYING_READER,
  ONE_CHUNK,
  RESTORED,
  TWO_CHUNKS,
  TWO_COPIES,
  TWO_COSTS,
  TWO_WAYS,
  UNPAYABLE,
} from "./scenarios.ts";
import { THOROUGH } from "../kit/thorough.ts";

/** Longer than every way in the scenarios that end. */
const TO_THE_END = 60;

/** A bound for what takes too long in every run. */
const FIRST_ACTS = 8;

/** What the chain keeps by itself, even when readers lie. */
const KEPT_BY_THE_CHAIN = EVERY_PROMISE.filter(
  (promised) => promised !== "excess takes no money that is owed",
);

function search(
  scenario: Scenario,
  promises: readonly Promised[] = EVERY_PROMISE,
  bound = TO_THE_END,
): Search<World, Act> {
  return explore(protocol(scenario, promises), bound);
}

describe("with every rule, no way of any length breaks a promise", () => {
  const scenarios: readonly (readonly [string, Scenario])[] = [
    ["an order of one chunk", ONE_CHUNK],
    ["an order of two chunks", TWO_CHUNKS],
    ["an order with a payee who cannot be paid", UNPAYABLE],
    ["an order of five payees", FIVE_PAYEES],
    ["two copies of the database", TWO_COPIES],
    ["two copies that withhold different costs", TWO_COSTS],
    ["a swap that is priced again", SWAP],
    ["excess", EXCESS],
    ["closing", CLOSING],
    ["closing, and an older copy restored", RESTORED],
  ];
  test.each(scenarios)("M7: %s", (_, scenario) => {
    expect(search(scenario)).toMatchObject({ violation: null, isComplete: true });
  });

  test("M3: readers that lie about everything break no promise that the chain keeps", () => {
    for (const scenario of [LYING_READER, { ...CLOSING, excess: 1, reader: "lies" } as const]) {
      expect(search(scenario, KEPT_BY_THE_CHAIN)).toMatchObject({ violation: null, isComplete: true });
    }
  });

  test("E9: excess while blocks are lost", () => {
    expect(search(EXCESS_AND_FORKS)).toMatchObject({ violation: null, isComplete: true });
  });

  // All 184,000 states take half a minute; the first acts of every way are looked at in each run.
  test(
    "M7: two copies, two chunks, excess, forks, closing and a restored copy, all at once",
    { timeout: 600_000 },
    () => {
      const found = search(EVERYTHING, EVERY_PROMISE, THOROUGH ? TO_THE_END : FIRST_ACTS);
      expect(found).toMatchObject({ violation: null, isComplete: THOROUGH });
    },
  );
});

describe("without a rule, the shortest way to its attack is found", () => {
  test.each(ATTACKS.map((attack) => [attack.name, attack] as const))("M7: %s", (_, attack) => {
    const { violation } = search(attacked(attack), [attack.breaks]);
    expect(violation?.promise).toBe(attack.breaks);
    expect(violation?.acts.map(describeAct)).toEqual(attack.acts);
  });

  test("each rule has an attack", () => {
    const left = new Set(ATTACKS.flatMap((attack) => attack.without));
    expect(Object.keys(PROTOCOL).filter((rule) => !left.has(rule as keyof Rules))).toEqual([]);
  });
});

test("each promise is broken by an attack, so that none of them is empty", () => {
  const broken = new Set(ATTACKS.map((attack) => attack.breaks));
  expect(EVERY_PROMISE.filter((promise) => !broken.has(promise))).toEqual([]);
});

describe("rules that cost no money as long as the others are kept", () => {
  const MOVES_ONCE: readonly Promised[] = [
    "no payee is paid twice",
    "no amount is refunded twice",
    "no amount is both paid and refunded",
  ];
  const rules: readonly (readonly [keyof Rules, Scenario])[] = [
    ["chunksFollowFromTheOrder", TWO_COPIES],
    ["failuresAreIsolated", TWO_WAYS],
    ["refundsNameNoAmount", TWO_COSTS],
    ["plansCloseFirst", RESTORED],
  ];
  test.each(rules)("M7: without %s no payee is paid twice", (rule, scenario) => {
    const found = search({ ...scenario, rules: without(rule) }, MOVES_ONCE);
    expect(found).toMatchObject({ violation: null, isComplete: true });
  });

  test("while plan markers close first, the order's marker guards the rest without any history", () => {
    const scenario = { ...RESTORED, rules: without("historyBeforeSigning") };
    const guarded: Promised = "the order's marker guards the others while they are closed";
    expect(search(scenario, [guarded])).toMatchObject({ violation: null, isComplete: true });
  });
});

test("a chunk of n payees makes at most 2 n markers, however often it is replaced", () => {
  for (const payees of [1, 2, 3, 4]) {
    const indices = Array.from({ length: payees }, (_, index) => index);
    const scenario: Scenario = {
      ...ONE_CHUNK,
      order: { ...ONE_CHUNK.order, amounts: indices.map(() => 1) },
      copies: ONE_CHUNK.copies.map((copy) => ({ ...copy, chunks: [indices] })),
    };
    expect(mostMarkers(scenario)).toBe(2 * payees);
  }
});

function mostMarkers(scenario: Scenario): number {
  const system = protocol(scenario, []);
  let most = 0;
  const count = ({ tip }: World): null => {
    most = Math.max(most, Object.keys(tip.markers).length);
    return null;
  };
  explore({ ...system, broken: count }, TO_THE_END);
  return most;
}

test("the limit of the protocol: excess rests on readings, and lies can return to the sender what a payee was to get", () => {
  const { violation } = search(LYING_READER, ["excess takes no money that is owed"]);
  expect(violation?.acts.map(describeAct)).toEqual(["deposit 4", "refund 2 to the sender as excess 0"]);
});
