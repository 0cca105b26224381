/** Keys of limits: which are refused, and what a key means that stands second. */
// modules: rates
import { expect, it } from "vitest";
import { createEngine, workflow, type OwnLimit } from "paystate/engine";
import { sqliteStorage } from "paystate/storage/sqlite";
import { limitsFor } from "../../src/workflow/own-limit.ts";
import { messageKey } from "../../src/workflow/messages.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { until } from "../kit/engine-world.ts";
import { jobChart } from "./job.ts";
import { engineTest } from "../kit/engine-test.ts";

/** A logger, and the limits of which it was warned. */
function warned() {
  const warnings: (readonly [limit: unknown, message: string | undefined])[] = [];
  const warn = (fields: unknown, message?: string): void =>
    void warnings.push([(fields as { readonly limit?: unknown }).limit, message]);
  return { warnings, logger: { ...silentLogger, warn } };
}

const { test, engine, settled } = engineTest("limit keys");

test("D80: a key that stands second under two others is counted under each alone, and a warning tells so once", async () => {
  let most = 0;
  const running = new Map<string, () => void>();
  const limit: OwnLimit<{ readonly id: string }> = ({ id }) => [
    { key: `tenant ${id[0]}`, atMost: 5 },
    { key: "stripe", atMost: 1 },
  ];
  const work = ({ id }: { readonly id: string }) => {
    const done = new Promise<void>((resolve) => running.set(id, resolve));
    most = Math.max(most, running.size);
    return done.then(() => ({ event: { type: "DONE" as const, by: id } }));
  };
  const jobs = workflow(jobChart)({ version: 1, effects: { work: { run: work, limit } } });
  const { warnings, logger } = warned();
  const one = await engine({ workflows: [jobs], logger });
  await one.setLimit("stripe", { atMost: 1 });
  expect(warnings).toEqual([]);
  one.run();
  for (const id of ["a1", "a2", "b1", "b2", "c1"]) await one.start(jobs, { id, input: { id } });
  for (let done = 0; done < 5; done++) {
    await until(() => running.size > 0);
    for (const [id, end] of [...running].slice(0, 1)) {
      running.delete(id);
      end();
    }
  }
  await settled();
  expect(most).toBe(3);
  const told = [
    "stripe",
    "the limit stripe stands second, within tenant a and within tenant b, and is counted within each of them alone: " +
      "a key that is to hold over all stands first",
  ];
  expect(warnings).toEqual([told]);
  await one.setLimit("stripe", { atMost: 2 });
  expect(warnings).toEqual([told, told]);
  await one.setLimit("tenant a", { atMost: 2 });
  expect(warnings.length).toBe(2);
});

const odd: readonly (readonly [name: string, key: string, right: string])[] = [
  [
    "of the engine's own",
    messageKey("o-1"),
    'limit message to o-1: keys that begin with "message to " are the engine\'s own, which keeps messages in order by them',
  ],
  [
    "of 1,301 bytes",
    `${"x".repeat(1_299)}é`,
    `limit ${"x".repeat(60)}…: the key has 1301 bytes, and 1300 are the most`,
  ],
];

it.each(odd)("a key %s is refused by name, of a task and in setLimit", async (_name, key, right) => {
  expect(() => limitsFor({ key, atMost: 1 }, undefined)).toThrow(new TypeError(right));
  const engine = createEngine({ storage: await sqliteStorage(":memory:"), workflows: [] });
  await expect(engine.setLimit(key, null)).rejects.toThrow(new TypeError(right));
  expect(await engine.limits()).toEqual([]);
});

it("a key of 1,300 bytes is taken, and the messages to the longest id have one that is no longer", () => {
  const key = `${"x".repeat(1_298)}é`;
  expect(limitsFor({ key, atMost: 1 }, undefined)).toEqual({ limits: [{ key, atMost: 1 }] });
  const longest = "é".repeat(1_024);
  expect(Buffer.byteLength(messageKey(longest))).toBeLessThanOrEqual(1_300);
  expect(messageKey(longest)).not.toBe(messageKey(`${longest.slice(1)}e`));
});
