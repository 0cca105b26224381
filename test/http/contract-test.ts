/** `contractTest`: its tests are given one contract world, which a whole file shares. */
import { test } from "vitest";
import { contractWorld, type ContractWorld } from "./contract-world.ts";

export const contractTest = test.extend(
  "world",
  { scope: "file" },
  async ({}, { onCleanup }): Promise<ContractWorld> => {
    const world = await contractWorld();
    onCleanup(() => world.close());
    return world;
  },
);
