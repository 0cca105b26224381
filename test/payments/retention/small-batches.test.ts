/** Batches of what is removed are small, so that others wait for a few reads. */
import { expect, test } from "vitest";
import { newId } from "../../../src/payments/frame/ids.ts";
import { OldestRowReader } from "../../../src/payments/frame/retention/removal.ts";
import { systemRandom } from "../../../src/core/runtime.ts";

const ROWS = 100;
const MOST_TOGETHER = 8;

test("L8: eight old rows at most are looked at together, and all of them in their order", async () => {
  const now = Date.UTC(2026, 0, 1);
  const rows = Array.from({ length: ROWS }, (_, at) => ({ id: newId("tx", now + at, systemRandom) }));
  const judged: (readonly string[])[] = [];
  const reader = new OldestRowReader<{ readonly id: string }>({
    page: async (after, limit) => rows.filter(({ id }) => id > after).slice(0, limit),
    async judge(page) {
      judged.push(page.map(({ id }) => id));
      return page.map(() => "gone" as const);
    },
  });
  let gone = 0;
  for await (const removed of reader.batches(now + ROWS)) gone += removed;
  expect(gone).toBe(ROWS);
  expect(judged.flat()).toEqual(rows.map(({ id }) => id));
  expect(Math.max(...judged.map((page) => page.length))).toBe(MOST_TOGETHER);
});
