/** Ten thousand watches of one kind, and the death of whoever polls them. */
// modules: watching
import { describe, expect, test } from "vitest";
import type { Watcher } from "paystate/engine";
import { adapters } from "../kit/adapters.ts";
import { inWorld, turns } from "../kit/engine-world.ts";
import { drawn } from "../kit/thorough.ts";
import { harbour } from "./harbour.ts";

const LEASE_MS = 15_000;
const SOON_MS = 2_000;
const SHIPS = 10_000;

describe.each(drawn(adapters, "many watches"))("very many watches on $name", (adapter) => {
  test("D69: of the ten thousand watches of a process that dies all are looked at within its lease, a listing and one look", () =>
    inWorld(adapter, async ({ engine, clock, open, awaitsOutside }) => {
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
      let isDead = false;
      const alive = await open();
      const storage = new Proxy(alive, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name);
          if (typeof member !== "function" || name === "onWake" || name === "close") return member;
          return async (...given: readonly unknown[]): Promise<unknown> => {
            if (isDead) throw new Error("no way to the database");
            return (await member.apply(target, given)) as unknown;
          };
        },
      });
      const first = await engine({ workflows: [harbour], watchers: { horizon: dying.watcher }, storage });
      for (let at = 0; at < SHIPS; at += 500) {
        await Promise.all(
          ships.slice(at, at + 500).map((ship) => first.start(harbour, { id: ship, input: { ship } })),
        );
      }
      first.run();
      await live(10_000);
      expect(dying.asked.size).toBe(SHIPS);
      isDead = true;
      const second = await engine({ workflows: [harbour], watchers: { horizon: heir.watcher } });
      second.run();
      await live(LEASE_MS + SOON_MS);
      expect(heir.asked.size).toBe(SHIPS);
      isDead = false;
      awaitsOutside(...ships);
    }));
});
