/** Runs of deliveries: those that arrived at once are let go, and are shown as they were. */
import { expect } from "vitest";
import { createHttpHandler } from "../../../src/http/create-http-handler.ts";
import type { HistoryRecord } from "../../../storage/storage.ts";
import { runIdOf } from "../../../src/payments/webhooks/delivery-runs.ts";
import type { ArchivedRow } from "../../../src/index.ts";
import { webhookTest } from "../webhooks/webhook-test.ts";
import type { WebhookWorld } from "../webhooks/webhook-world.ts";
import { passed } from "./passing.ts";

const HOUR = 3_600_000;

const passOf = ({ service, clock }: WebhookWorld["fixture"]): Promise<void> =>
  passed(clock, async () => (await service.health()).retention?.lastPassAt);

/** Each delivery of the transaction: its first run as it is stored, and its steps as a viewer sees them. */
async function runsOf({ fixture }: WebhookWorld, transactionId: string) {
  const { storage, service } = fixture;
  const deliveries = await storage.deliveries(transactionId);
  return Promise.all(
    deliveries.map(async ({ id }) => ({
      stored: await storage.load(id),
      shown: await service.inspected.storage.load(id),
      steps: await service.inspected.storage.history(id, { after: 0, limit: 10 }),
    })),
  );
}

/** Steps name each other by their stamps, or where these are not known by their numbers. */
function numbered(steps: readonly HistoryRecord[]): readonly HistoryRecord[] {
  return steps.map((step) => {
    const cause = steps.reduce(
      (text, { stamp, version }) => text.replace(`@${stamp}:`, `@${version}:`),
      step.cause ?? "",
    );
    return { ...step, stamp: "", cause };
  });
}

async function pageOf({ fixture: { service, clock } }: WebhookWorld, id: string): Promise<string> {
  const handler = createHttpHandler({ service, clock, inspector: { authorize: () => true } });
  const answer = await handler.fetch(new Request(`http://127.0.0.1/_inspector/instance?id=${id}`));
  return (await answer.text()).replaceAll(/step=[0-9a-v]{19}/g, "step=");
}

webhookTest(
  "L7: an hour after a delivery has arrived its run is not stored any more, and is shown as before",
  async ({ open }) => {
    const archived: ArchivedRow[] = [];
    const world = await open({ archive: (rows) => void archived.push(...rows) });
    const { fixture, register, sendOne } = world;
    await register();
    const id = await sendOne();
    await fixture.finalize();
    const before = await runsOf(world, id);
    expect(before.map(({ stored, steps }) => [stored?.status, steps.length])).toEqual([
      ["done", 2],
      ["done", 2],
      ["done", 2],
    ]);
    await passOf(fixture);
    expect(await runsOf(world, id)).toEqual(before);

    const pages = [id, ...before.map(({ shown }) => shown?.id ?? "")];
    const shownBefore = await Promise.all(pages.map((page) => pageOf(world, page)));
    fixture.clock.advance(HOUR);
    await passOf(fixture);
    const after = await runsOf(world, id);
    expect(after.map(({ stored }) => stored)).toEqual([null, null, null]);
    for (const [index, { shown, steps }] of after.entries()) {
      const { shown: instance, steps: recorded = [] } = before[index] ?? {};
      expect(shown).toEqual({ ...instance, stamp: shown?.stamp, life: shown?.life });
      expect(numbered(steps)).toEqual(numbered(recorded));
      expect(steps.every(({ stamp, version }) => stamp === String(version))).toBe(true);
    }
    const words = (page: string): string => page.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
    const shownAfter = await Promise.all(pages.map((page) => pageOf(world, page)));
    expect(shownAfter.map(words)).toEqual(shownBefore.map(words));
    expect(archived.filter(({ table }) => table === "instances")).toHaveLength(3);
    expect(archived.filter(({ table }) => table === "history")).toHaveLength(6);
  },
);

webhookTest(
  "L7: the run of a delivery stays whose rows do not tell it whole, or that a later delivery may still ask",
  async ({ open }) => {
    const world = await open();
    const { fixture, receiver, caller, register, sendOne } = world;
    const { service, storage } = fixture;
    const webhookId = await register();
    receiver.answer((_, response) => void response.writeHead(500).end());
    const failing = await sendOne();
    await service.settled();
    receiver.answer((_, response) => void response.writeHead(200).end());
    await fixture.finalize();
    await fixture.pass(2 * 60_000);
    const again = await sendOne();
    await fixture.finalize();
    const [first] = await storage.deliveries(again);
    await service.redeliver(caller, { webhookId, deliveryId: first?.id ?? "" });
    await service.settled();
    const young = await sendOne();
    await service.settled();

    fixture.clock.advance(2 * HOUR);
    await passOf(fixture);
    const stored = async (id: string): Promise<readonly boolean[]> =>
      (await runsOf(world, id)).map((run) => run.stored !== null);
    // The first one needed a second attempt.
    expect(await stored(failing)).toEqual([true, false, false]);
    const [twice] = await storage.deliveries(again);
    expect([twice?.runs, await stored(again)]).toEqual([2, [true, false, false]]);
    expect(await storage.load(runIdOf({ id: twice?.id ?? "", runs: 2 }))).not.toBeNull();
    expect(await stored(young)).toEqual([true]);
    await fixture.finalize();
    expect((await storage.deliveries(young)).map(({ status }) => status)).toEqual([
      "delivered",
      "delivered",
      "delivered",
    ]);
  },
);
