/** The rows by hand are rows of the tables as they are now: otherwise the bench would fail long after the change. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fileByHand } from "./rows-by-hand.ts";

test.each(["workflow-rows.sql", "send-rows.sql"] as const)("the rows of %s can be written", async (rows) => {
  const folder = mkdtempSync(join(tmpdir(), "paystate-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = await fileByHand(join(folder, "rows.db"), rows);
  onTestFinished(() => file.close());
  expect(await file.write({ total: 2, group: 2 })).toMatchObject({ cpuMs: expect.any(Number) as number });
});
