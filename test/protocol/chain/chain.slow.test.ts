/** K1 to K12: all that the chain admits, in every order and all surroundings that are searched. */
import { describe, test } from "vitest";
import { expectHolds } from "../expectations.ts";
import { ChainModel } from "./model.ts";
import { ORDERS, WORLDS } from "./worlds.ts";

describe.each(WORLDS)("whatever lands, no promise is broken and every state can end: %s", (_, world) => {
  test.each(ORDERS)("K1 to K12: %s", (_order, chunks) => {
    expectHolds(new ChainModel({ ...world, chunks }));
  });
});
