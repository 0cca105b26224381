/**
 * Folding: one row of an instance's history with the whole snapshot, in place of those before. Its part of a workflow and of
 * each step is in src/workflow/folding.ts. How an adapter removes rows of a history (`forgets`) is a rule of storage and
 * stays.
 */
import type { EngineModule } from "../../engine-module.ts";

export const folding: EngineModule = { name: "folding" };
