/** Tests of several processes that share one database, of every adapter. */
import { test } from "vitest";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { serviceFixture } from "./service-fixture.ts";
import { everyAdapter } from "./adapters.ts";

/** `world` is a service on a new database; `handle` opens that database once more, as another process does. */
export const sharedDatabaseTests = everyAdapter.map(({ name, make }) => ({
  name,
  databaseTest: test
    .extend("handle", async ({}, { onCleanup }) => {
      const database = await make();
      const handles: PaymentStorage[] = [];
      onCleanup(async () => {
        for (const storage of handles) await storage.close();
        await database.destroy();
      });
      return async () => {
        const storage = await database.open();
        handles.push(storage);
        return storage;
      };
    })
    .extend("world", async ({ handle }, { onCleanup }) => {
      const world = await serviceFixture({ storage: await handle() });
      onCleanup(() => world.close());
      return world;
    }),
}));
