/** Events beside the status: who is told of them, once, whichever process dies or tells at the same moment. */
// modules: webhooks
import { expect } from "vitest";
import { NOTICE_EVENTS, STATUS_EVENTS } from "../../../src/payments/frame/notices/notice-body.ts";
import { webhookTest } from "./webhook-test.ts";

const MINUTE = 60_000;

const test = webhookTest
  .extend("world", ({ open }) => open({ broadcastDelayMs: 10_000 }))
  /** Path and event of each delivery that arrived. */
  .extend("arrived", ({ posts, eventsReceived }) => () => {
    const events = eventsReceived();
    return posts().map(({ path }, index) => `${path} ${String(events[index])}`);
  });

test("Q8: a cancelled transaction is told once, to the webhook alone that named the event", async ({
  fixture,
  service,
  receiver,
  customer,
  register,
  sendOne,
  arrived,
}) => {
  await register({ url: `${receiver.url}/named`, events: ["transaction.cancelled"] });
  await register({ url: `${receiver.url}/status`, events: STATUS_EVENTS });
  const id = await sendOne();
  const { cancelledAt } = await service.cancelTransaction(customer, id);
  await fixture.pass(MINUTE);
  await fixture.finalize();
  expect(arrived()).toEqual(["/hook/named transaction.cancelled"]);
  expect((await service.transactionEvents(customer, id)).data).toMatchObject([
    { event: "transaction.cancelled", createdAt: cancelledAt, data: { status: "cancelled", fee: "0" } },
  ]);
  expect((await service.events(customer)).data).toMatchObject([{ transactionId: id }]);
  expect(await fixture.storage.untoldEventsAfter("", 10)).toEqual([]);
});

test("Q8: what a process has committed that died before it told is told by the next one", async ({
  fixture,
  service,
  customer,
  register,
  sendOne,
  eventsReceived,
}) => {
  await register({ events: ["transaction.cancelled"] });
  const id = await sendOne();
  await service.stop();
  // It never begins to tell.
  await fixture.another().cancelTransaction(customer, id);
  expect((await service.events(customer)).data).toEqual([]);
  const next = fixture.another();
  await next.start();
  await next.settled();
  expect(eventsReceived()).toEqual(["transaction.cancelled"]);
  await next.stop();
});

test("Q8: of processes that tell of one change at once, one does", async ({
  fixture,
  service,
  customer,
  register,
  sendOne,
  eventsReceived,
}) => {
  await register({ events: ["transaction.cancelled"] });
  const others = [fixture.another(), fixture.another()];
  for (const other of others) await other.start();
  const id = await sendOne();
  await fixture.another().cancelTransaction(customer, id);
  fixture.clock.advance(5_000);
  for (const each of [service, ...others, service]) await each.settled();
  expect(eventsReceived()).toEqual(["transaction.cancelled"]);
  expect((await service.events(customer)).data).toHaveLength(1);
  for (const other of others) await other.stop();
});

test("Q8: a webhook that was disabled meanwhile recovers the event", async ({
  service,
  customer,
  register,
  sendOne,
  eventsReceived,
  fixture,
}) => {
  const webhookId = await register({ events: ["transaction.cancelled"] });
  await service.updateWebhook(customer, webhookId, { enabled: false });
  const since = new Date(fixture.clock.now()).toISOString();
  await service.cancelTransaction(customer, await sendOne());
  await service.settled();
  await service.updateWebhook(customer, webhookId, { enabled: true });
  expect(eventsReceived()).toEqual([]);
  const { body } = await service.recoverWebhook(customer, webhookId, { since });
  expect(body).toMatchObject({ recovered: 1, hasMore: false });
  await service.settled();
  expect(eventsReceived()).toEqual(["transaction.cancelled"]);
});

test("Q8: a sample of every event can be asked for", async ({
  service,
  customer,
  register,
  eventsReceived,
}) => {
  const webhookId = await register();
  for (const event of NOTICE_EVENTS) {
    const { body } = await service.testWebhook(customer, webhookId, { event });
    expect(body).toMatchObject({ event, delivered: true });
  }
  expect(eventsReceived()).toEqual(NOTICE_EVENTS);
});
