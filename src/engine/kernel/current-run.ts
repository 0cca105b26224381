/** The run of a promise creator or of an action body, which XState itself does not hand over. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { EffectRun } from "../../workflow/effect-run.ts";

const runs = new AsyncLocalStorage<EffectRun>();

/**
 * The run of the promise actor or of the action body that calls this, also after an `await` in it. Its `key` is the same
 * for every run of this invocation, also after a crash: hand it as idempotency key to what must not happen twice.
 * @throws Error when called from anywhere else.
 *
 * @example
 * ```ts
 * import { createEngine, currentRun, workflow } from "paystate/engine";
 * import { sqliteStorage } from "paystate/storage/sqlite";
 * import { createMachine, fromPromise } from "xstate";
 *
 * const charge = fromPromise(async () => currentRun().key); // give it to the payment provider as idempotency key
 * const checkout = createMachine({
 *   id: "checkout",
 *   initial: "paying",
 *   states: { paying: { invoke: { src: charge, onDone: "paid" } }, paid: { type: "final" } },
 * });
 * const checkouts = workflow(checkout)({ version: 1 });
 * const engine = createEngine({ storage: await sqliteStorage(":memory:"), workflows: [checkouts] });
 * engine.run();
 * await engine.start(checkouts, { id: "order-1", input: undefined });
 * console.log((await engine.waitFor(checkouts, "order-1", "final")).value); // paid
 * await engine.stop();
 * ```
 */
export function currentRun(): EffectRun {
  const run = runs.getStore();
  if (run === undefined) {
    throw new Error("currentRun() is only known inside a promise actor or an action body");
  }
  return run;
}

export function withinRun<T>(run: EffectRun, act: () => T): T {
  return runs.run(run, act);
}
