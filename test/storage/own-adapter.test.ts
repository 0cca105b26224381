/** A storage of anybody's own. */
// modules: rates
import { expect, test } from "vitest";
import { setup } from "xstate";
import { createEngine, workflow } from "paystate/engine";
import type { EngineStorage } from "paystate/storage";
import { sqliteStorage } from "paystate/storage/sqlite";
import { silentLogger } from "../../src/core/runtime.ts";

/** The methods fail where they are called on another object than their own, as those of a class do that has fields. */
function asClass(methods: EngineStorage): EngineStorage {
  const own: EngineStorage = new Proxy(methods, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return function call(this: unknown, ...given: unknown[]): unknown {
        if (this !== own) throw new TypeError(`${String(name)} is called without its object`);
        return Reflect.apply(method, target, given);
      };
    },
  });
  return own;
}

test("an adapter may be a class: its methods are called on their object, those that it need not have, too", async () => {
  let asked = 0;
  const time = async (now: number): Promise<number> => {
    asked += 1;
    return now;
  };
  const chart = setup({ actions: { call: () => {} } }).createMachine({
    id: "called",
    initial: "calling",
    states: { calling: { entry: "call", on: { CALLED: "done" } }, done: { type: "final" } },
  });
  const called = workflow(chart)({
    version: 1,
    effects: {
      call: {
        run: async () => ({ event: { type: "CALLED" } }),
        limit: { key: "all", atMost: 1, rate: { count: 5, perMs: 1_000 } },
      },
    },
  });
  const own = asClass({ ...(await sqliteStorage(":memory:")), time });
  const engine = createEngine({ storage: own, workflows: [called], logger: silentLogger });
  engine.run();
  await engine.start(called, { id: "one", input: undefined });
  await engine.waitFor(called, "one", "final");
  expect(asked).toBeGreaterThan(0);
  await engine.stop();
});
