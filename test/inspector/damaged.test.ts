/** Rows that were damaged, or edited by hand: each is shown as what it is, and the others as ever. */
import { expect } from "vitest";
import type { InstanceRecord } from "paystate/storage";
import type { InspectedStorage } from "../../src/engine/inspected-engine.ts";
import { createInspector } from "../../src/inspector.ts";
import { isDamaged, readableStorage } from "../../src/inspector/readable-storage.ts";
import type { ParcelWorld } from "./parcel.ts";
import { parcelTest as test } from "./parcel-test.ts";
import { inWords, viewerOf } from "./viewer.ts";

/** Stores one instance as it should be, and one whose every text is cut off. */
async function withDamage({ engine, storage, workflow }: ParcelWorld): Promise<void> {
  await engine.start(workflow, { id: "whole", input: { note: "x" } });
  const good = await storage.load("whole");
  if (good === null) throw new Error("it was started");
  const { updatedAt: at, ...start } = good;
  const id = "broken";
  await storage.commit([
    {
      starts: [{ ...start, id, snapshot: good.snapshot.slice(0, -7) }],
      history: [
        {
          instance: id,
          version: 1,
          stamp: "s",
          at,
          event: '{"type":"$start',
          value: '{"pack',
          cause: "effect",
        },
        { instance: id, version: 2, stamp: "t", at, event: "null", value: "null", cause: null },
      ],
    },
  ]);
}

test("one damaged instance stands in the list as damaged, and the rest of the list is there", async ({
  world,
}) => {
  await withDamage(world);
  const { storage, workflow, clock } = world;
  const answer = await viewerOf(createInspector({ storage, workflows: [workflow], clock })).get();
  const page = inWords(await answer.text());
  expect(answer.status).toBe(200);
  expect(page).toMatch(/broken parcel@1 damaged ⚠ what is stored of it cannot be read/);
  expect(page).toMatch(/whole parcel@1 packing\.weighing (?!⚠)/);
});

test("its own page, its steps, its bundle and what may be done about it are there, and nothing of it is computed", async ({
  world,
}) => {
  await withDamage(world);
  const { engine, clock } = world;
  const viewer = viewerOf(createInspector({ engine, clock, acts: true }));
  const get = async (path: string): Promise<[status: number, text: string]> => {
    const answer = await viewer.get(path);
    return [answer.status, await answer.text()];
  };
  expect(await get("/instance?id=broken")).toEqual([
    200,
    expect.stringContaining("characters that are no snapshot"),
  ]);
  expect(await get("/instance?id=broken&step=1")).toEqual([200, expect.stringContaining("damaged")]);
  expect(await get("/bundle?id=broken")).toEqual([200, expect.stringContaining("damaged")]);
  expect((await get("/find?q=broken"))[0]).toBe(303);
});

test("engine.list names it and goes on; engine.read says that it cannot be read", async ({ world }) => {
  await withDamage(world);
  const { instances } = await world.engine.list();
  expect(instances.map(({ id, value, damaged }) => [id, value, damaged])).toEqual([
    ["broken", null, expect.stringContaining("cannot be read")],
    ["whole", { packing: "weighing" }, undefined],
  ]);
  await expect(world.engine.read("broken")).rejects.toThrow("the stored snapshot cannot be read");
});

test.each(['{"value":7,"context":{}}', '{"value":"a","context":"b"}', '{"value":"a","context":null}'])(
  "the snapshot %s is none",
  async (snapshot) => {
    const record = { id: "p", status: "active", snapshot } as unknown as InstanceRecord;
    const storage = { load: async () => record } as unknown as InspectedStorage;
    const shown = await readableStorage(storage).load("p");
    expect(shown !== null && isDamaged(shown)).toBe(true);
  },
);
