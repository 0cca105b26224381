/** K7, K9, K16, K17: the chart of an order in all its worlds, and for each rule and row what breaks without it. */
import { describe, test } from "vitest";
import { expectBroken, expectHolds } from "../expectations.ts";
import { BREAKS } from "./breaks.ts";
import { OrderModel } from "./model.ts";
import type { Happening } from "./scenario.ts";

const WORLDS: readonly (readonly Happening[])[] = [
  [],
  ["screening", "prices"],
  ["lies"],
  ["culprits", "set back"],
];

describe.each(WORLDS.map((happens) => [happens.join(", ") || "nothing else", happens] as const))(
  "with %s",
  (_, happens) => {
    test.each([
      ["one copy", { copies: "one" }],
      ["one copy, a deposit worth less than its refund costs", { copies: "one", isSmall: true }],
      ["other copies of any age", { copies: "any" }],
      [
        "other copies of any age, a deposit worth less than its refund costs",
        { copies: "any", isSmall: true },
      ],
    ] as const)(
      "%s: no status goes back, nothing contradicts what was told, and every state can end",
      (_name, world) => {
        expectHolds(new OrderModel({ happens, ...world }));
      },
    );
  },
);

test.each(BREAKS.map((each) => [each.name, each] as const))("%s", (_, { in: scenario, edges, ...broken }) => {
  expectBroken(new OrderModel(scenario, edges), broken);
});
