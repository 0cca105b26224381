/** `ready()`: what a program asks before it takes traffic, and a health check at any time. */
import { expect } from "vitest";
import { createMachine } from "xstate";
import { defineTable, workflow } from "paystate/engine";
import { StorageUnusable } from "../../storage/storage-unusable.ts";
import { Wire } from "./wire.ts";
import { engineTest } from "../kit/engine-test.ts";

const light = (colour: string) =>
  workflow(
    createMachine({ id: "light", initial: "off", states: { off: { on: { SWITCH: colour } }, [colour]: {} } }),
  )({ version: 1 });
const lights = light("green");

const { test, world, engine } = engineTest("ready");

/** A way to the storage that is unavailable while it is cut. */
const newWire = (): Wire => new Wire(world, 500, () => new StorageUnusable("unavailable", "no connection"));

test("D68: it resolves before an outage, rejects with its reason during one, and resolves behind it", async () => {
  const wire = newWire();
  const one = await engine({ workflows: [lights], storage: await wire.storage() });
  await one.ready();
  await one.ready();
  wire.isCut = true;
  await expect(one.ready()).rejects.toThrow(StorageUnusable);
  wire.isCut = false;
  await one.ready();
  await one.stop();
  await one.ready();
});

test("D68: an outage from the first moment on is told, and behind it the engine is made ready", async () => {
  const wire = newWire();
  const lamps = defineTable("lamps", { columns: { id: "text", watts: "integer" } });
  const tables = { lamps } as never;
  const behind = await wire.storage();
  const one = await engine({ workflows: [lights], tables, storage: behind });
  wire.isCut = true;
  await expect(one.ready()).rejects.toThrow("no connection");
  wire.isCut = false;
  await one.ready();
  expect(await behind.find({ table: lamps })).toEqual([]);
});
