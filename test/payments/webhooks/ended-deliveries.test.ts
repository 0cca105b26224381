/** Deliveries that are over: what they were is told by their rows, and no instance is kept. */
// modules: webhooks
import { expect } from "vitest";
import { createHttpHandler } from "../../../src/http/create-http-handler.ts";
import { webhookTest } from "./webhook-test.ts";
import type { WebhookWorld } from "./webhook-world.ts";

async function pageOf({ fixture: { service, clock } }: WebhookWorld, id: string): Promise<Response> {
  const handler = createHttpHandler({ service, clock, inspector: { authorize: () => true } });
  return handler.fetch(new Request(`http://127.0.0.1/_inspector/instance?id=${id}`));
}

/** What the engine holds of each delivery of the transaction. */
async function heldOf({ fixture: { storage } }: WebhookWorld, transactionId: string): Promise<unknown[]> {
  const deliveries = await storage.deliveries(transactionId);
  return Promise.all(
    deliveries.map(async ({ id, status, attempts }) => {
      const history = await storage.history(id, { after: 0, limit: 99 });
      const tasks = await storage.tasks({ order: "instance", instance: id, limit: 9 });
      return [status, attempts, (await storage.load(id))?.status ?? null, history.length, tasks.length];
    }),
  );
}

webhookTest(
  "L7: a delivery that arrived leaves its row and its attempt, which the inspector shows, and nothing of the engine's",
  async ({ open }) => {
    const world = await open();
    const { fixture, register, sendOne } = world;
    await register();
    const id = await sendOne();
    await fixture.finalize();
    expect(await heldOf(world, id)).toEqual(Array.from({ length: 3 }, () => ["delivered", 1, null, 0, 0]));
    const [first] = await fixture.storage.deliveries(id);
    const page = await pageOf(world, first?.id ?? "");
    expect(page.status).toBe(200);
    const text = await page.text();
    for (const shown of ["answered 200", "transaction.pending", id, first?.webhookId]) {
      expect(text).toContain(shown);
    }
    expect((await pageOf(world, "dlv_none")).status).toBe(404);
  },
);

webhookTest(
  "L7: one that is abandoned goes too, with its timers, and is sent again under its id and its numbers",
  async ({ open }) => {
    const world = await open();
    const { fixture, receiver, caller, register, sendOne, posts } = world;
    const { service, storage } = fixture;
    const webhookId = await register({ events: ["transaction.pending"] });
    receiver.answer((_, response) => void response.writeHead(500).end());
    const id = await sendOne();
    await service.settled();
    expect(await heldOf(world, id)).toEqual([["pending", 1, "active", 2, 1]]);
    await fixture.pass(8 * 3_600_000);
    expect(await heldOf(world, id)).toEqual([["abandoned", 6, null, 0, 0]]);
    receiver.answer((_, response) => void response.writeHead(200).end());
    const [{ id: deliveryId } = { id: "" }] = await storage.deliveries(id);
    await service.redeliver(caller, { webhookId, deliveryId });
    await service.settled();
    expect(await heldOf(world, id)).toEqual([["delivered", 7, null, 0, 0]]);
    const attempts = await storage.deliveryAttempts(deliveryId);
    expect(attempts.map(({ number, httpStatus }) => [number, httpStatus])).toEqual([
      ...[1, 2, 3, 4, 5, 6].map((number) => [number, 500]),
      [7, 200],
    ]);
    expect(new Set(posts().map(({ body }) => body.toString())).size).toBe(1);
  },
);

webhookTest(
  "L7: of two who have it sent again at once each has an answer, and no number of an attempt is taken twice",
  async ({ open }) => {
    const world = await open();
    const { fixture, caller, register, sendOne } = world;
    const { service, storage } = fixture;
    const webhookId = await register({ events: ["transaction.pending"] });
    const id = await sendOne();
    await service.settled();
    const [{ id: deliveryId } = { id: "" }] = await storage.deliveries(id);
    const again = () => service.redeliver(caller, { webhookId, deliveryId });
    await Promise.all([
      again(),
      again(),
      service.recoverWebhook(caller, webhookId, { since: isoAgo(world) }),
    ]);
    await service.settled();
    const [after] = await storage.deliveries(id);
    const numbers = (await storage.deliveryAttempts(deliveryId)).map(({ number }) => number);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(after).toMatchObject({ status: "delivered", attempts: numbers.length });
    expect(numbers.length).toBeGreaterThan(1);
  },
);

const isoAgo = ({ fixture }: WebhookWorld): string => new Date(fixture.clock.now() - 3_600_000).toISOString();
