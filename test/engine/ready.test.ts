/** `ready()`: what a program asks before it takes traffic, and a health check at any time. */
import { describe, expect, test } from "vitest";
import { createMachine } from "xstate";
import { ChangedChart, defineTable, workflow } from "paystate/engine";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { StorageUnusable } from "../../storage/storage-unusable.ts";
import { adapters } from "../kit/adapters.ts";
import { inWorld } from "../kit/engine-world.ts";
import { drawn } from "../kit/thorough.ts";

const light = (colour: string) =>
  workflow(
    createMachine({ id: "light", initial: "off", states: { off: { on: { SWITCH: colour } }, [colour]: {} } }),
  )({
    version: 1,
  });
const lights = light("green");

/** The way to a storage that can be cut. */
class Wire {
  isCut = false;

  through(storage: PaymentStorage): PaymentStorage {
    return new Proxy(storage, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function" || name === "onWake" || name === "close") return member;
        return async (...given: readonly unknown[]): Promise<unknown> => {
          if (this.isCut) throw new StorageUnusable("unavailable", "no connection");
          return member.apply(target, given) as Promise<unknown>;
        };
      },
    });
  }
}

describe.each(drawn(adapters, "ready"))("ready() on $name", (adapter) => {
  test("D68: it resolves before an outage, rejects with its reason during one, and resolves behind it", () =>
    inWorld(adapter, async ({ engine, open }) => {
      const wire = new Wire();
      const one = await engine({ workflows: [lights], storage: wire.through(await open()) });
      await one.ready();
      await one.ready();
      wire.isCut = true;
      await expect(one.ready()).rejects.toThrow(StorageUnusable);
      wire.isCut = false;
      await one.ready();
      await one.stop();
      await one.ready();
    }));

  test("D68: an outage from the first moment on is told, and behind it the engine is made ready", () =>
    inWorld(adapter, async ({ engine, open }) => {
      const wire = new Wire();
      const lamps = defineTable("lamps", { columns: { id: "text", watts: "integer" } });
      const opened = await open();
      const tables = { lamps } as never;
      const one = await engine({ workflows: [lights], tables, storage: wire.through(opened) });
      wire.isCut = true;
      await expect(one.ready()).rejects.toThrow("no connection");
      wire.isCut = false;
      await one.ready();
      expect(await opened.find({ table: lamps })).toEqual([]);
    }));

  test("a chart that changed under an unchanged version is told, while the others go on", () =>
    inWorld(adapter, async ({ engine, awaitsOutside }) => {
      const before = await engine({ workflows: [lights] });
      await before.start(lights, { id: "kitchen", input: undefined });
      const one = await engine({ workflows: [light("red")] });
      for (let look = 0; look < 2; look++) await expect(one.ready()).rejects.toThrow(ChangedChart);
      await before.ready();
      awaitsOutside("kitchen");
    }));
});
