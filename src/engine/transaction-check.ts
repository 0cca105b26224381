/** Refuses effects that work in a transaction where the storage of an engine has none. */
// modules: host-sql
import type { z } from "zod";
import type { AnyWorkflow } from "../workflow/workflow.ts";

interface GivenOptions {
  readonly storage?: object;
  readonly workflows?: readonly AnyWorkflow[];
}

export function checkTransactions(
  { storage = {}, workflows = [] }: GivenOptions,
  context: z.RefinementCtx,
): void {
  if ("transact" in storage) return;
  for (const { key, effects } of workflows) {
    for (const [effect, handler] of effects) {
      if (typeof handler === "function" || !("transact" in handler)) continue;
      const message = `${key} does ${effect} in a transaction, which postgresStorage() has: take that, or give it \`run\``;
      context.addIssue({ code: "custom", path: ["storage"], message });
    }
  }
}
