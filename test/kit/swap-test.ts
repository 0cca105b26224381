/** Tests of a payment service with a swap desk. */
import { test } from "vitest";
import { opener } from "./opener.ts";
import { swapFixture } from "./swap-fixture.ts";

/** `world` is opened with the usual options, `open` takes others. */
export const swapTest = test
  .extend("open", ({ onTestFinished }) => opener(swapFixture, onTestFinished))
  .extend("world", ({ open }) => open());
