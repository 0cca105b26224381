/** Tests of what the verifier accepts: one chain for all tests of a file, and a new block for each of them. */
import { test } from "vitest";
import { verifyScene } from "./verify-scene.ts";

/** The scene is set for the first test that asks for it. */
export const verifyTest = test
  .extend("sharedScene", { scope: "file" }, async ({}, { onCleanup }) => {
    const scene = await verifyScene();
    onCleanup(() => scene.close());
    return scene;
  })
  .extend("scene", ({ sharedScene }) => {
    sharedScene.chain.advance(1);
    return sharedScene;
  });
