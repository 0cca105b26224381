/** H25: receivers of one account that keep their places delay no notice of another account. */
// modules: webhooks
import { afterEach, describe, expect, test } from "vitest";
import { adapters } from "../../kit/adapters.ts";
import { drawn } from "../../kit/thorough.ts";
import { type DeliveringEngines, deliveringEngines, type Manner } from "./delivering-engines.ts";

/** For all webhooks of an account, over all engines. */
const PLACES = 8;
const WITHIN_MS = 1_000;

let world: DeliveringEngines | undefined;

afterEach(async () => {
  await world?.close();
  world = undefined;
});

/** So many webhooks of an account that behave like this, each with notices queued. */
async function hostile(
  { register, behave, queue }: DeliveringEngines,
  accountId: string,
  { webhooks, manner, notices }: { webhooks: number; manner: (index: number) => Manner; notices: number },
): Promise<void> {
  for (let index = 0; index < webhooks; index++) {
    const id = `${accountId}-${index}`;
    await register(id, accountId);
    behave(id, manner(index));
    await queue(id, notices);
  }
}

/** Queues one notice for a webhook of its own; answers how long it waited for its first attempt. */
async function waitOf(engines: DeliveringEngines, webhookId: string): Promise<number> {
  const { clock, register, queue, quiet, begunAt, pass } = engines;
  await register(webhookId, `owner-of-${webhookId}`);
  const queuedAt = clock.now();
  await queue(webhookId, 1);
  await quiet();
  for (let tries = 0; begunAt(webhookId).length === 0 && tries < 400; tries++) await pass(50);
  return (begunAt(webhookId)[0] ?? Infinity) - queuedAt;
}

const dead = { webhooks: 50, manner: (): Manner => "times_out", notices: 12 };

describe.each(drawn(adapters, "fair deliveries"))("on $name", (adapter) => {
  const counts = adapter.name === "memory" ? [1] : [1, 2];

  test.each(counts)(
    "H25: beside fifty dead receivers of one account another's first attempt starts within a second (%i engines)",
    async (engines) => {
      world = await deliveringEngines(adapter, engines);
      await hostile(world, "hostile", dead);
      // Another process sees by its next poll what was queued here.
      await world.pass(1_500);
      const isHostile = (id: string): boolean => id.startsWith("hostile");
      expect(world.inFlight(isHostile)).toBe(PLACES);
      // Also in the middle of their attempts, and after each of them has timed out a few times.
      for (const [index, later] of [0, 3_000, 9_000, 31_000].entries()) {
        await world.pass(later);
        expect(world.inFlight(isHostile)).toBeGreaterThan(0);
        expect(await waitOf(world, `honest-${index}`)).toBeLessThanOrEqual(WITHIN_MS);
      }
    },
  );

  test("H25: beside ten accounts with dead receivers, too", async () => {
    world = await deliveringEngines(adapter, 1);
    for (let index = 0; index < 10; index++) {
      await hostile(world, `hostile${index}`, { ...dead, webhooks: 10 });
    }
    // The first of them came alone; since its attempts have ended nine others wait beside it.
    await world.pass(11_000);
    for (let index = 0; index < 10; index++) {
      const of = world.inFlight((id) => id.startsWith(`hostile${index}-`));
      expect(of).toBeGreaterThan(0);
      expect(of).toBeLessThanOrEqual(PLACES);
    }
    expect(await waitOf(world, "honest")).toBeLessThanOrEqual(WITHIN_MS);
  });

  test(
    "H25: beside hundreds of dead, slow and resetting receivers of one hostile account every notice of an honest one starts within a second",
    { timeout: 120_000 },
    async () => {
      world = await deliveringEngines(adapter, 1);
      const manners = ["times_out", "answers", "resets"] as const;
      const manner = (index: number): Manner => manners[index % manners.length] ?? "times_out";
      await hostile(world, "hostile", { webhooks: 300, manner, notices: 2 });
      const waits: number[] = [];
      for (let index = 0; index < 10; index++) {
        waits.push(await waitOf(world, `honest-${index}`));
        await world.pass(700);
      }
      expect(Math.max(...waits)).toBeLessThanOrEqual(WITHIN_MS);
    },
  );

  test("an account has eight places, alone or beside another, and its webhooks have four each", async () => {
    world = await deliveringEngines(adapter, 1);
    const busy = { webhooks: 30, manner: (): Manner => "answers", notices: 20 };
    await hostile(world, "one", busy);
    await world.quiet();
    expect(world.inFlight((id) => id.startsWith("one-"))).toBe(PLACES);
    await hostile(world, "two", { ...busy, webhooks: 1 });
    await world.quiet();
    const held = ["one-", "two-"].map((owner) => world?.inFlight((id) => id.startsWith(owner)));
    expect(held).toEqual([PLACES, 4]);
  });

  test("a webhook that fails without a timeout keeps its four places", async () => {
    world = await deliveringEngines(adapter, 1);
    const { register, behave, queue, quiet, pass, inFlight, begunAt } = world;
    await register("broken", "acct");
    behave("broken", "resets");
    await queue("broken", 12);
    await pass(500);
    expect(begunAt("broken").length).toBe(12);
    behave("broken", "times_out");
    await queue("broken", 8);
    await quiet();
    expect(inFlight(() => true)).toBe(4);
  });
});
