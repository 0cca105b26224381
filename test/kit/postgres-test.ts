/** Tests on PostgreSQL: a schema of their own, and a way to the server that fails when it is told to. */
import { test } from "vitest";
import { postgresDatabase } from "./postgres-database.ts";
import { postgresProxy } from "./postgres-proxy.ts";

/** `proxy` leads to the server that `database` is in. */
export const postgresTest = test
  .extend("database", async ({}, { onCleanup }) => {
    const database = await postgresDatabase();
    onCleanup(() => database.destroy());
    return database;
  })
  .extend("proxy", async ({ database }, { onCleanup }) => {
    const proxy = await postgresProxy(database.url);
    onCleanup(() => proxy.stop());
    return proxy;
  });
