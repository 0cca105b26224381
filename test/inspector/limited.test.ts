/** What waits for a place or a rate of its key: told by the inspector and by the command, in the same words. */
// modules: rates
import { expect, test } from "vitest";
import { createEngine, workflow } from "paystate/engine";
import { sqliteStorage } from "paystate/storage/sqlite";
import { createInspector } from "../../src/inspector.ts";
import { instancePage } from "../../src/cli/instances/pages.ts";
import { limitWords } from "../../src/engine/limit-words.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { jobChart } from "../engine/job.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { AT } from "./viewer.ts";

const inSingleSpaces = (text: string): string => text.replace(/<[^>]*>/g, "").replace(/\s+/g, " ");

test("F6: an instance tells for a place of which key it waits and how many come before it, or for which rate, until when", async () => {
  const limit = { key: "printer", atMost: 1 };
  const jobs = workflow(jobChart)({ version: 1, effects: { work: { run: async () => undefined, limit } } });
  const [storage, clock] = [await sqliteStorage(":memory:"), virtualClock()];
  const engine = createEngine({ storage, workflows: [jobs], clock, logger: silentLogger });
  const { fetch } = createInspector({ storage, workflows: [jobs], clock });
  /** The page of the inspector, and the one of the command. */
  const pagesOf = async (id: string): Promise<readonly [string, string]> => {
    const answer = await fetch(new Request(`${AT}/instance?id=${id}`));
    const instance = await engine.read(id);
    if (instance === null) throw new Error(`no ${id}`);
    const page = instancePage(instance, await engine.pending(id), []);
    return [inSingleSpaces(await answer.text()), inSingleSpaces(page)];
  };
  await engine.setLimit("printer", { atMost: 0 });
  for (const id of ["p1", "p2", "p3"]) await engine.start(jobs, { id, input: { id } });
  const [first, [third, shown]] = [await pagesOf("p1"), await pagesOf("p3")];
  expect(first[0]).toContain(
    "It waits for the effect work, which waits for a place of printer, none before it.",
  );
  expect(third).toContain("It waits for the effect work, which waits for a place of printer, 2 before it.");
  expect(third).toContain("effect work waits for a place of printer, 2 before it");
  expect(shown).toContain("effect work waits for a place of printer, 2 before it");

  await engine.setLimit("printer", { rate: { count: 1, perMs: 60_000 } });
  engine.run();
  await engine.settled();
  const [second, listed] = await pagesOf("p2");
  expect(second).toMatch(/which waits for the rate of printer until 2026-01-01 00:01:0\d UTC\./);
  expect(listed).toMatch(/effect work waits for the rate of printer until 2026-01-01T00:01:0/);
  await engine.stop();
});

test("F6: of very many before it so many are told as were counted", () => {
  expect(limitWords({ key: "stripe", before: 1_000 })).toBe(
    "waits for a place of stripe, 1,000 or more before it",
  );
});
