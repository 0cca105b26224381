/** Tests of the handler: those of a file share a service for each way into it, and a receiver of webhooks. */
import { test } from "vitest";
import { startHttpsReceiver } from "../kit/https-receiver.ts";
import { httpFixture, type HttpFixture } from "./http-fixture.ts";
import type { Way } from "./ways.ts";

/** `httpOf` opens a way when it is first asked for it, with the options that it is given then. */
export const httpTest = test
  .extend("receiver", { scope: "file" }, async ({}, { onCleanup }) => {
    const receiver = await startHttpsReceiver();
    onCleanup(() => receiver.close());
    return receiver;
  })
  .extend("httpOf", { scope: "file" }, ({}, { onCleanup }) => {
    const opened = new Map<Way, Promise<HttpFixture>>();
    onCleanup(async () => {
      for (const http of opened.values()) await (await http).close();
    });
    return (way: Way, options: Parameters<typeof httpFixture>[1]): Promise<HttpFixture> => {
      const http = opened.get(way) ?? httpFixture(way, options);
      opened.set(way, http);
      return http;
    };
  });
