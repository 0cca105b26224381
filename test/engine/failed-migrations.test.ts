/** Which failures of migrations are remembered, and for how long. */
import { expect, test } from "vitest";
import { MigrationFailed } from "paystate/engine";
import { FailedMigrationCache } from "../../src/engine/kernel/failed-migration-cache.ts";
import { virtualClock } from "../kit/virtual-clock.ts";

const tried = (instance: string) => ({ instance, from: "order@1", to: "order@2", version: 1 });

test("a failure is remembered for a second, and a thousand of them at most: the oldest goes first", () => {
  const clock = virtualClock();
  const failed = new FailedMigrationCache(clock);
  const isRemembered = (instance: string): boolean => {
    try {
      failed.throwRemembered(tried(instance));
      return false;
    } catch {
      return true;
    }
  };
  for (let each = 0; each <= 1_000; each++) {
    const migration = tried(`i${each}`);
    failed.remember(migration, new MigrationFailed(migration, "migrate.1", "it threw"));
  }
  expect(["i0", "i1", "i1000"].map(isRemembered)).toEqual([false, true, true]);
  clock.advance(1_000);
  expect(isRemembered("i1000")).toBe(false);
});
