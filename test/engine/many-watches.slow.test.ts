/** Ten thousand watches of one kind, and the death of whoever polls them. */
// modules: watching
import { expect } from "vitest";
import type { Watcher } from "paystate/engine";
import { turns } from "../kit/engine-world.ts";
import { harbour } from "./harbour.ts";
import { Wire } from "./wire.ts";
import { engineTest } from "../kit/engine-test.ts";

const LEASE_MS = 15_000;
const SOON_MS = 2_000;
const SHIPS = 10_000;

const { test, world, engine, running, clock, awaitsOutside } = engineTest("many watches");

test("D69: of the ten thousand watches of a process that dies all are looked at within its lease, a listing and one look", async () => {
  const lookout = (): { readonly watcher: Watcher; readonly asked: Set<string> } => {
    const asked = new Set<string>();
    const poll: Watcher["poll"] = async (watches) => {
      for (const { key } of watches) asked.add(key);
      return [];
    };
    return { asked, watcher: { intervalMs: 1_000, poll } };
  };
  const live = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 100) {
      clock.advance(100);
      await turns(8);
    }
  };
  const ships = Array.from({ length: SHIPS }, (_, index) => `s${index}`);
  const [dying, heir] = [lookout(), lookout()];
  const wire = new Wire(world);
  const storage = await wire.storage();
  const first = await engine({ workflows: [harbour], watchers: { horizon: dying.watcher }, storage });
  for (let at = 0; at < SHIPS; at += 500) {
    await Promise.all(
      ships.slice(at, at + 500).map((ship) => first.start(harbour, { id: ship, input: { ship } })),
    );
  }
  first.run();
  await live(10_000);
  expect(dying.asked.size).toBe(SHIPS);
  wire.isCut = true;
  await running({ workflows: [harbour], watchers: { horizon: heir.watcher } });
  await live(LEASE_MS + SOON_MS);
  expect(heir.asked.size).toBe(SHIPS);
  wire.isCut = false;
  awaitsOutside(...ships);
});
