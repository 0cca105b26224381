/** K8, K12, K14: chunks by the rows of the transfer's chart, and for each rule and row what breaks without it. */
// modules: private
import { expect, test } from "vitest";
import { explore } from "../explore.ts";
import { BREAKS } from "./breaks.ts";
import { TransferModel } from "./model.ts";

test.each(["go", "later"] as const)("K14: a transfer of kind %s holds", (sends) => {
  expect(explore(new TransferModel({ sends }))).toMatchObject({ broken: null, isWhole: true });
});

test.each(BREAKS.map((each) => [each.name, each] as const))("%s", (_, { in: scenario, edges, ...broken }) => {
  const { promise, acts } = explore(new TransferModel(scenario, edges)).broken ?? {};
  expect({ promise, acts }).toEqual({ promise: broken.promise, acts: broken.acts });
});
