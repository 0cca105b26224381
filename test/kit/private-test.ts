/** Tests of a payment service with private mode on. */
import { test } from "vitest";
import { opener } from "./opener.ts";
import { privateFixture } from "./private-fixture.ts";

/** `world` is opened with the usual options, `open` takes others. */
export const privateTest = test
  .extend("open", ({ onTestFinished }) => opener(privateFixture, onTestFinished))
  .extend("world", ({ open }) => open());
