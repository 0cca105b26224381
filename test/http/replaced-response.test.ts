/** A host whose own server has replaced the global Response: answers are still written once, and connections go on. */
import { createServer, Agent, request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { afterEach, expect, test, vi } from "vitest";
import { serviceFixture } from "../kit/service-fixture.ts";

const own = { Request: globalThis.Request, Response: globalThis.Response };
afterEach(() => {
  Object.assign(globalThis, own);
  vi.restoreAllMocks();
});

test.each(["before", "after"] as const)("a Response replaced %s the handler was loaded", async (order) => {
  vi.resetModules();
  const replace = (): unknown => getRequestListener(() => new Response("of the host"));
  if (order === "before") replace();
  const { createHttpHandler } = await import("../../src/http/create-http-handler.ts");
  if (order === "after") replace();
  const shown = vi.spyOn(console, "error").mockImplementation(() => {});
  const world = await serviceFixture();
  const handler = createHttpHandler({ service: world.service, clock: world.clock });
  const server = createServer((incoming, outgoing) => void handler.node(incoming, outgoing)).listen(0);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const asked = (method: string): Promise<readonly [number | undefined, boolean]> =>
    new Promise((resolve, reject) => {
      const { port } = server.address() as AddressInfo;
      const sent = request({ port, method, path: "/v1/openapi.json", agent }, (answer: IncomingMessage) => {
        answer.resume().on("end", () => resolve([answer.statusCode, sent.reusedSocket]));
      });
      sent.on("error", reject).end();
    });
  try {
    expect(await asked("HEAD")).toEqual([200, false]);
    // A turn, in which a connection that is given up would be closed.
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await asked("HEAD")).toEqual([200, true]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await asked("GET")).toEqual([200, true]);
    expect(shown).not.toHaveBeenCalled();
  } finally {
    agent.destroy();
    server.close();
    await world.close();
  }
});
