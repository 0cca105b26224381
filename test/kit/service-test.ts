/** Tests of a payment service over a chain of their own. */
import { test } from "vitest";
import { opener } from "./opener.ts";
import { serviceFixture } from "./service-fixture.ts";

/** `world` is opened with the usual options, `open` takes others. */
export const serviceTest = test
  .extend("open", ({ onTestFinished }) => opener(serviceFixture, onTestFinished))
  .extend("world", ({ open }) => open());
