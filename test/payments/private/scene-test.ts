/** Tests of private orders, in a world whose every commit is kept. */
// modules: private
import { test } from "vitest";
import { opener } from "../../kit/opener.ts";
import { scene } from "./scene.ts";

/** `world` is opened with the usual options, `open` takes others. */
export const sceneTest = test
  .extend("open", ({ onTestFinished }) => opener(scene, onTestFinished))
  .extend("world", ({ open }) => open());
