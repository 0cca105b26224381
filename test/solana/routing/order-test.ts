/** Tests of orders on a local chain: a chain for each test, or one for all tests of a file. */
import { test } from "vitest";
import { opener } from "../../kit/opener.ts";
import { orderFixture } from "./order-fixture.ts";

/** Each test has a chain of its own. */
export const orderTest = test
  .extend("open", ({ onTestFinished }) => opener(orderFixture, onTestFinished))
  .extend("world", ({ open }) => open());

/** The tests of a file share one chain, which is made for the first that asks for it. */
export const sharedOrderTest = test.extend("world", { scope: "file" }, async ({}, { onCleanup }) => {
  const world = await orderFixture();
  onCleanup(() => world.close());
  return world;
});
