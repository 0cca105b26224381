/** What released charts have stored is read on by the charts of today. */
import { expect, test } from "vitest";
import type { EventObject } from "xstate";
import type { AnyWorkflow, ChartSnapshot } from "paystate/engine";
import { snapshotFromText, snapshotToText } from "../../src/workflow/snapshot-text.ts";
import { eventFromText } from "../../src/workflow/values.ts";
import type { WatchedSnapshot } from "../../src/workflow/watch-option.ts";
import { privateFixture } from "../kit/private-fixture.ts";
import { storedLives, type StoredLife } from "./lives.ts";

const stored = storedLives();

/** All workflows of the service, those of private mode included. */
async function registered(): Promise<readonly AnyWorkflow[]> {
  const { service, close } = await privateFixture();
  await close();
  return service.workflows;
}

test("every chart of the service has stored lives of its present version, by the same chart", async () => {
  const present = (await registered()).map(({ key, hash }) => `${key} ${hash}`);
  const kept = stored.map(({ workflow, hash }) => `${workflow} ${hash}`);
  // Where this fails, a chart has changed: raise its version, say how instances migrate, and run test/corpus/write.ts.
  expect(kept).toEqual(expect.arrayContaining(present));
});

test("every version that has stored lives is registered, or migrated to one that is", async () => {
  const known = (await registered()).flatMap(({ claims }) => claims);
  expect(known).toEqual(expect.arrayContaining(stored.map(({ workflow }) => workflow)));
});

test.each(stored)(
  "$workflow: each life is read from every stored state, and goes on to the same end",
  async (kept) => {
    const chart = (await registered()).find(({ key }) => key === kept.workflow)?.chart;
    // What a migration makes of an older version is for the test of that migration to say.
    if (chart === undefined) return;
    for (const life of kept.lives) expect(replayed(life, chart), life.id).toBe(ofChart(life));
  },
);

/** The last snapshot as its chart has made it: what is watched the engine has written beside it. */
function ofChart({ snapshot }: StoredLife): string {
  return JSON.stringify({ ...(JSON.parse(snapshot) as WatchedSnapshot), watched: undefined });
}

/** The last snapshot, each step made from what the one before it has stored. */
function replayed({ history }: StoredLife, chart: AnyWorkflow["chart"]): string {
  let text = "";
  for (const row of history) {
    const event = eventFromText(row.event) as EventObject & { input: unknown };
    const before: ChartSnapshot | null = text === "" ? null : snapshotFromText(text);
    const step = before === null ? chart.start(event.input) : chart.step(before, event);
    if (step === null) throw new Error(`step ${row.version} does nothing`);
    expect(JSON.stringify(step.after.value)).toBe(row.value);
    text = snapshotToText(step.after);
  }
  return text;
}
