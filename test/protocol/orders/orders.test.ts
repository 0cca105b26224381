/** K17: an order that this copy alone serves, by the rows of its chart. */
import { expect, test } from "vitest";
import { explore } from "../explore.ts";
import { OrderModel } from "./model.ts";

test.each([
  ["", {}],
  [" whose deposit is worth less than its refund costs", { isSmall: true }],
] as const)("K17: an order%s ends in every way as it was told", (_, small) => {
  expect(explore(new OrderModel({ copies: "one", ...small }))).toMatchObject({ broken: null, isWhole: true });
});
