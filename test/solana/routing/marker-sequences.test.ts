/** Any moves of markers in any order: the chain does what a few lines of set logic say, and the reading tells it. */
import fc from "fast-check";
import { expect } from "vitest";
import type { Address } from "../../../src/address.ts";
import type { Marker, TransactionFault } from "../../../src/ledger/routing.ts";
import type { Party, RoutingFixture } from "./routing-fixture.ts";
import { sharedRoutingTest } from "./routing-test.ts";
import { runsOf } from "../../kit/thorough.ts";

/** What a marker costs. */
interface Scene extends RoutingFixture {
  readonly rent: bigint;
}

const test = sharedRoutingTest.extend("scene", { scope: "file" }, async ({ world }): Promise<Scene> => ({
  ...world,
  rent: await world.ledger.rentMinimum(165),
}));

const SEEDS = ["a", "b", "c", "d"] as const;
type Seed = (typeof SEEDS)[number];

/** A move of one deposit address. */
type Step =
  | { readonly does: "mark" | "follow" | "unmark"; readonly seed: Seed }
  | { readonly does: "replace"; readonly seed: Seed; readonly plan: Seed };

/** Which plan replaced each marker that was made, null where none did. */
type Model = ReadonlyMap<Seed, Seed | null>;

/** What one step makes of the model, or why it fails. */
function after(model: Model, step: Step): Model | TransactionFault["kind"] {
  const next = new Map(model);
  switch (step.does) {
    case "mark":
      return model.has(step.seed) ? "marked" : next.set(step.seed, null);
    case "replace":
      if (model.has(step.seed) || model.has(step.plan)) return "marked";
      return next.set(step.seed, step.plan).set(step.plan, null);
    case "follow":
      return model.has(step.seed) ? next.set(step.seed, null) : "unplanned";
    case "unmark":
      return next.delete(step.seed) ? next : "source";
  }
}

/** What all steps of a transaction make of the model: all or nothing. */
function afterAllOf(
  model: Model,
  steps: readonly Step[],
): { readonly model: Model; readonly fault: Pick<TransactionFault, "kind" | "move"> | null } {
  let reached = model;
  for (const [move, step] of steps.entries()) {
    const next = after(reached, step);
    if (typeof next === "string") return { model, fault: { kind: next, move } };
    reached = next;
  }
  return { model: reached, fault: null };
}

const seed = fc.constantFrom(...SEEDS);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ does: fc.constantFrom("mark" as const, "follow" as const, "unmark" as const), seed }),
  fc
    .record({ does: fc.constant("replace" as const), seed, plan: seed })
    .filter((each) => each.seed !== each.plan),
);
const transactions = fc.array(fc.array(step, { minLength: 1, maxLength: 2 }), { minLength: 2, maxLength: 6 });

async function expectModel(scene: Scene, deposit: Party, model: Model): Promise<void> {
  const { rent } = scene;
  const markerOf = (each: Seed): Address => scene.ledger.markerAddress(deposit.address, each);
  const expected = SEEDS.map((each): Marker => {
    const plan = model.get(each);
    if (plan === undefined) return "unmade";
    return { delegate: plan === null ? null : markerOf(plan), lamports: rent };
  });
  expect(await scene.markers(deposit, ...SEEDS)).toEqual(expected);
}

test("each transaction of marks, replacements, follows and closings succeeds or fails as the rules say, at the move they say", async ({
  scene,
}) => {
  const { plan, mark, replace, follow, unmark, carryOut } = scene;
  await fc.assert(
    fc.asyncProperty(transactions, async (all) => {
      const deposit = scene.party();
      let model: Model = new Map();
      for (const steps of all) {
        const moves = steps.map((each) => {
          if (each.does === "replace") return replace(deposit, each.plan, each.seed);
          return { mark, follow, unmark }[each.does](deposit, each.seed);
        });
        const { tried, landed } = await carryOut(plan(...moves), deposit);
        const expected = afterAllOf(model, steps);
        expect(landed && { kind: landed.kind, move: landed.move }).toEqual(expected.fault);
        expect(tried).toEqual(landed);
        ({ model } = expected);
        await expectModel(scene, deposit, model);
      }
    }),
    { numRuns: runsOf(15) },
  );
});
