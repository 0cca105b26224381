/** K12, K14: rests and acts by the rows of the transfer's chart, among copies of any age. */
// modules: private
import { describe, test } from "vitest";
import { expectBroken, expectHolds } from "../expectations.ts";
import { type ActRule, ActsModel } from "./acts.ts";
import { TransferModel } from "./model.ts";

test.each(["rest", "redirect"] as const)("K14: a transfer of kind %s holds", (sends) => {
  expectHolds(new TransferModel({ sends }));
});

describe("K12: an act and rests of one mint", () => {
  test("nobody gets what came after the person looked", () => {
    expectHolds(new ActsModel());
  });

  test.each<readonly [ActRule, string]>([
    [
      "K12: none is approved while a rest is out",
      "a rest of 2 is signed → a person approves 2 for another receiver → b pays 2 → the rest lands → the act lands",
    ],
    [
      "K12: none is approved while another is open",
      "a person approves 2 for another receiver → b pays 2 → a person approves the same once more → the second lands",
    ],
    [
      "K12: no rest is signed while one is open",
      "a person approves 2 for another receiver → a rest of 2 is signed → b pays 2 → the rest lands → the act lands",
    ],
  ])("without %s", (without, acts) => {
    const promise = "nobody gets what came after the person looked";
    expectBroken(new ActsModel(without), { promise, acts });
  });
});
