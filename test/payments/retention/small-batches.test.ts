/** Batches of what is removed are small, so that others wait for a few reads. */
import { expect, test } from "vitest";
import { newId } from "../../../src/payments/frame/ids.ts";
import { oldRows } from "../../../src/payments/frame/retention/old-rows.ts";
import { systemRandom } from "../../../src/core/runtime.ts";
import { memoryStorage } from "../../kit/storages.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";

const ROWS = 100;
const MOST_TOGETHER = 8;

test("L8: eight old rows at most are looked at together, and all of them in their order", async () => {
  const now = Date.UTC(2026, 0, 1);
  const rows = Array.from({ length: ROWS }, (_, at) => ({ id: newId("tx", now + at, systemRandom) }));
  const looked: string[] = [];
  const parts = {
    storage: await memoryStorage(),
    clock: virtualClock(now),
    archive: null,
    archiveDeadlineMs: 1_000,
  };
  const { batches } = oldRows<{ readonly id: string }>(parts, {
    name: "rows",
    keepMs: 0,
    page: async (after, limit) => rows.filter(({ id }) => id > (after?.id ?? "")).slice(0, limit),
    async look({ id }) {
      looked.push(id);
      return { before: [], removal: async () => ({ removes: [], writes: [], rows: [] }) };
    },
  });
  const gone: number[] = [];
  for await (const removed of batches(now + ROWS)) gone.push(removed);
  expect(gone.reduce((sum, each) => sum + each, 0)).toBe(ROWS);
  expect(looked).toEqual(rows.map(({ id }) => id));
  expect(Math.max(...gone)).toBe(MOST_TOGETHER);
});
