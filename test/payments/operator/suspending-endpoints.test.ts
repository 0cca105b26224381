/** Endpoints out of service, by acts of processes whose clocks are some seconds apart. */
// modules: private
import { expect, onTestFinished } from "vitest";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import { BY } from "../../kit/by.ts";
import { gone, oddEndpoint, type OddEndpoint } from "../../kit/odd-endpoints.ts";
import { sceneTest as test } from "../private/scene-test.ts";
import type { scene, Scene } from "../private/scene.ts";

/** A world of so many endpoints. */
async function worldOf(
  open: (...given: Parameters<typeof scene>) => Promise<Scene>,
  names: readonly string[],
): Promise<{ readonly world: Scene; readonly odd: readonly OddEndpoint[] }> {
  const odd: OddEndpoint[] = [];
  const world = await open({}, {}, ({ chain, ledgerOf }) => {
    odd.push(...names.map((name) => oddEndpoint(chain, name)));
    return ledgerOf(odd.map(({ option }) => option));
  });
  return { world, odd };
}

/** The clock of another process. */
function clockAhead(world: Scene, aheadMs: number): Scene["clock"] {
  return new Proxy(world.clock, {
    get: (target, key, receiver): unknown =>
      key === "now" ? () => target.now() + aheadMs : Reflect.get(target, key, receiver),
  });
}

/** Another process on the database, whose clock is three seconds behind. */
function processBehind(world: Scene): PaymentService {
  return world.another({ clock: clockAhead(world, -3_000) });
}

test("D10: a suspension stands when a process whose clock is behind takes another endpoint out of service", async ({
  open,
}) => {
  const { world } = await worldOf(open, ["one", "two", "three"]);
  const { operator } = world.service;
  await operator.suspendEndpoint({ endpoint: "one.example", minutes: 60 }, BY);
  const behind = processBehind(world);
  await behind.operator.suspendEndpoint({ endpoint: "two.example", minutes: 60 }, BY);
  world.clock.advance(10_000);
  const messages = (await operator.attention()).map(({ message }) => message);
  expect(messages.filter((each) => each.includes("one.example"))).toHaveLength(1);
  await operator.suspendEndpoint({ endpoint: "two.example", minutes: 30 }, BY);
  await behind.operator.restoreEndpoint("two.example", BY);
  await operator.restoreEndpoint("one.example", BY);
});

test("D10: the last endpoint in service is not taken out by a process whose clock is behind", async ({
  open,
}) => {
  const { world } = await worldOf(open, ["one", "two"]);
  await world.service.operator.suspendEndpoint({ endpoint: "one.example", minutes: 60 }, BY);
  const last = processBehind(world).operator.suspendEndpoint({ endpoint: "two.example", minutes: 60 }, BY);
  await expect(last).rejects.toThrow("last one");
});

test.for([
  ["three seconds behind", -3_000],
  ["three seconds ahead", 3_000],
] as const)(
  "M37: a number that one process has lowered holds as long in a process whose clock is %s",
  async ([, aheadMs], { open }) => {
    const { world, odd } = await worldOf(open, ["one", "two"]);
    const [one] = odd;
    if (one !== undefined) one.rule = gone;
    await world.pass(10_000);
    const begun = world.clock.now();
    await world.service.operator.lowerWitnesses({ witnesses: 1, minutes: 1 }, BY);
    const storage = { ...world.storage, time: async () => world.clock.now() };
    const other = world.another({ clock: clockAhead(world, aheadMs), storage });
    const needed = async (): Promise<unknown> => (await other.health()).witnesses;
    await other.start();
    onTestFinished(() => other.stop());
    expect(await needed()).toMatchObject({ needed: 1 });
    world.clock.advance(begun + 59_000 - world.clock.now());
    expect(await needed()).toMatchObject({ needed: 1 });
    await other.operator.restoreWitnesses(BY);
  },
);

test("a suspension that has ended is forgotten", async ({ open }) => {
  const { world } = await worldOf(open, ["one", "two"]);
  const { operator } = world.service;
  await operator.suspendEndpoint({ endpoint: "one.example", minutes: 1 }, BY);
  world.clock.advance(60_000);
  await operator.suspendEndpoint({ endpoint: "two.example", minutes: 1 }, BY);
  await expect(operator.restoreEndpoint("one.example", BY)).rejects.toThrow("in service");
});

test("with one endpoint out of service and another one gone the number of witnesses can be lowered", async ({
  open,
}) => {
  const { world, odd } = await worldOf(open, ["one", "two", "three"]);
  const { operator } = world.service;
  await operator.suspendEndpoint({ endpoint: "one.example", minutes: 60 }, BY);
  const lowered = { witnesses: 1, minutes: 10 };
  await expect(operator.lowerWitnesses(lowered, BY)).rejects.toThrow("nothing to lower");
  const [, , three] = odd;
  if (three !== undefined) three.rule = gone;
  await world.pass(10_000);
  expect((await world.service.health()).witnesses).toMatchObject({ needed: 2, answering: 1 });
  expect(await operator.lowerWitnesses(lowered, BY)).toMatchObject({ witnesses: 1 });
  await world.pass(10_000);
  expect((await world.service.health()).witnesses).toMatchObject({ needed: 1, answering: 1 });
});
