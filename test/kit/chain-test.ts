/** Tests of a ledger over a local chain: a chain for each test, or one for all tests of a file. */
import { test } from "vitest";
import { chainFixture } from "./chain-fixture.ts";
import { opener } from "./opener.ts";

/** Each test has a chain of its own. */
export const chainTest = test
  .extend("open", ({ onTestFinished }) => opener(chainFixture, onTestFinished))
  .extend("world", ({ open }) => open());

/** The tests of a file share one chain, which is made for the first that asks for it. */
export const sharedChainTest = test.extend("world", { scope: "file" }, async ({}, { onCleanup }) => {
  const world = await chainFixture();
  onCleanup(() => world.close());
  return world;
});
