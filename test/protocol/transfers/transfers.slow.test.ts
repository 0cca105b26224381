/** K8, K12, K14: chunks by the rows of the transfer's chart, and for each rule and row what breaks without it. */
// modules: private
import { test } from "vitest";
import { expectBroken, expectHolds } from "../expectations.ts";
import { BREAKS } from "./breaks.ts";
import { TransferModel } from "./model.ts";

test.each(["go", "later"] as const)("K14: a transfer of kind %s holds", (sends) => {
  expectHolds(new TransferModel({ sends }));
});

test.each(BREAKS.map((each) => [each.name, each] as const))("%s", (_, { in: scenario, edges, ...broken }) => {
  expectBroken(new TransferModel(scenario, edges), broken);
});
