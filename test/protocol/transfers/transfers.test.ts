/** K12, K14: rests and acts by the rows of the transfer's chart, among copies of any age. */
// modules: private
import { describe, expect, test } from "vitest";
import { explore } from "../explore.ts";
import { type ActRule, ActsModel } from "./acts.ts";
import { TransferModel } from "./model.ts";

test.each(["rest", "redirect"] as const)("K14: a transfer of kind %s holds", (sends) => {
  expect(explore(new TransferModel({ sends }))).toMatchObject({ broken: null, isWhole: true });
});

describe("K12: an act and rests of one mint", () => {
  test("nobody gets what came after the person looked", () => {
    expect(explore(new ActsModel())).toMatchObject({ broken: null, isWhole: true });
  });

  test.each<readonly [ActRule, readonly string[]]>([
    [
      "K12: none is approved while a rest is out",
      [
        "a rest of 2 is signed",
        "a person approves 2 for another receiver",
        "b pays 2",
        "the rest lands",
        "the act lands",
      ],
    ],
    [
      "K12: none is approved while another is open",
      [
        "a person approves 2 for another receiver",
        "b pays 2",
        "a person approves the same once more",
        "the second lands",
      ],
    ],
    [
      "K12: no rest is signed while one is open",
      [
        "a person approves 2 for another receiver",
        "a rest of 2 is signed",
        "b pays 2",
        "the rest lands",
        "the act lands",
      ],
    ],
  ])("without %s", (without, acts) => {
    const promise = "nobody gets what came after the person looked";
    expect(explore(new ActsModel(without)).broken).toEqual({ promise, acts });
  });
});
