/** Tests of wallet mode, in which Alice pays Bob through a service. */
import { test } from "vitest";
import { opener } from "../../kit/opener.ts";
import { walletWorld } from "./wallet-world.ts";

/** `world` is opened with the usual options, `open` takes others. */
export const walletTest = test
  .extend("open", ({ onTestFinished }) => opener(walletWorld, onTestFinished))
  .extend("world", ({ open }) => open());
