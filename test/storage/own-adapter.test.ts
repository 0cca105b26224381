/** What the page on storage says of writing an adapter. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { setup } from "xstate";
import { createEngine, workflow, type EngineStorage } from "paystate/engine";
import * as parts from "paystate/storage";
import { memoryStorage } from "paystate/storage/memory";
import { silentLogger } from "../../src/runtime.ts";

const storage = join(import.meta.dirname, "../../storage");
const page = readFileSync(join(storage, "README.md"), "utf8");

test("the page says how many lines the adapter in memory takes, and in how many files", () => {
  const files = ["memory.ts", ...readdirSync(join(storage, "memory")).map((name) => `memory/${name}`)];
  const lines = files
    .map((name) => readFileSync(join(storage, name), "utf8").split("\n").length - 1)
    .reduce((sum, each) => sum + each);
  expect(files).toHaveLength(5);
  expect(page).toContain(`about ${Math.round(lines / 10) * 10} lines in five files`);
});

test("the page names everything that paystate/storage has for an adapter", () => {
  const table = page.slice(page.indexOf("| from `paystate/storage`"));
  const named = [...table.slice(0, table.indexOf("\n\n")).matchAll(/^\| (`.*?) +\|/gm)];
  const names = named.flatMap(([, cell = ""]) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name));
  expect(names.toSorted()).toEqual(Object.keys(parts).toSorted());
});

/** The methods fail where they are called on another object than their own, as those of a class do that has fields. */
function asClass(storage: EngineStorage): EngineStorage {
  const own: EngineStorage = new Proxy(storage, {
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
  const storage = asClass({ ...memoryStorage(), time });
  const engine = createEngine({ storage, workflows: [called], logger: silentLogger });
  engine.run();
  await engine.start(called, { id: "one", input: undefined });
  await engine.waitFor(called, "one", "final");
  expect(asked).toBeGreaterThan(0);
  await engine.stop();
});
