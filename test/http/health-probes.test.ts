/** What a load balancer is answered without a key. */
import { expect } from "vitest";
import { createHttpHandler, type HttpHandlerOptions } from "../../src/http/create-http-handler.ts";
import { HealthCache } from "../../src/service/health-cache.ts";
import type { Health } from "../../src/service/read-health.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import type { ServiceFixture } from "../kit/service-fixture.ts";
import { serviceTest as test } from "../kit/service-test.ts";

async function ask(
  world: ServiceFixture,
  path: string,
  options: Partial<HttpHandlerOptions> = { health: true },
) {
  const { service, clock } = world;
  const handler = createHttpHandler({ service, clock, ...options });
  const response = await handler.fetch(new Request(`https://pay.example${path}`));
  return { status: response.status, body: await response.json() };
}

test("a service that works is live and ready, and shows one word", async ({ world }) => {
  expect(await ask(world, "/health/live")).toEqual({ status: 200, body: { status: "ok" } });
  expect(await ask(world, "/health/ready")).toEqual({ status: 200, body: { status: "ok" } });
});

test("without its chain it is ready still, and degraded: cancels and reads go on", async ({ world }) => {
  await world.ledger.close();
  expect(await ask(world, "/health/ready")).toEqual({ status: 200, body: { status: "degraded" } });
});

test("without its storage it is live and not ready", async ({ world }) => {
  const silent = new Proxy(world.storage, {
    get: (storage, property, receiver) =>
      property === "nextDue"
        ? () => Promise.reject(new Error("disk gone"))
        : (Reflect.get(storage, property, receiver) as unknown),
  });
  const options = { health: true, service: world.another({ storage: silent }) };
  expect(await ask(world, "/health/live", options)).toEqual({ status: 200, body: { status: "ok" } });
  expect(await ask(world, "/health/ready", options)).toEqual({ status: 503, body: { status: "down" } });
});

test("a storage and a ledger that hang make no probe wait for longer than 3 s", async ({ world }) => {
  const hanging = new Proxy(world.storage, {
    get: (storage, property, receiver) =>
      property === "tasks"
        ? () => new Promise(() => {})
        : (Reflect.get(storage, property, receiver) as unknown),
  });
  const asked = ask(world, "/health/ready", { health: true, service: world.another({ storage: hanging }) });
  await world.pass(3_000);
  expect(await asked).toEqual({ status: 503, body: { status: "down" } });
});

test("the probes stand below the base path, and only where they were asked for", async ({ world }) => {
  expect((await ask(world, "/pay/health/live", { health: true, basePath: "/pay" })).status).toBe(200);
  // As every path without a key.
  expect((await ask(world, "/health/live", {})).status).toBe(401);
});

test("strangers who ask often cost one reading a second", async ({ world }) => {
  const clock = virtualClock();
  let readings = 0;
  const health = (): Promise<Health> => {
    readings += 1;
    return world.service.health();
  };
  const recent = new HealthCache({ health }, clock);
  await Promise.all(Array.from({ length: 1_000 }, () => recent.read()));
  clock.advance(999);
  await recent.read();
  expect(readings).toBe(1);
  clock.advance(1);
  await recent.read();
  expect(readings).toBe(2);
});
