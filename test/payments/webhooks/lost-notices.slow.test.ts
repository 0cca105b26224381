/** What was told can be read again, and what did not arrive is sent again: events, deliveries, redelivery, recovery. */
// modules: webhooks
import { describe, expect } from "vitest";
import type { DeliveryBody } from "../../../src/payments/webhooks/deliveries.ts";
import { answerWith } from "../../kit/https-receiver.ts";
import { expectRefusal } from "../wallet/wallet-world.ts";
import { webhookTest } from "./webhook-test.ts";
import { SECRET } from "./webhook-world.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOTICES = ["transaction.pending", "transaction.confirmed", "transaction.completed"];

const test = webhookTest
  /** Sends a payment, and lets a minute pass after its end. */
  .extend("send", ({ world, fixture }) => async (): Promise<string> => {
    const id = await world.sendOne();
    await fixture.finalize();
    fixture.clock.advance(MINUTE);
    return id;
  })
  /** The moment so long ago. */
  .extend(
    "since",
    ({ fixture }) =>
      (ms: number): string =>
        new Date(fixture.clock.now() - ms).toISOString(),
  )
  .extend(
    "listed",
    ({ service, customer }) =>
      async (webhookId: string): Promise<readonly DeliveryBody[]> =>
        (await service.deliveries(customer, webhookId)).data,
  );

describe("events", () => {
  test("H30: a receiver that lost every notice of the last day fetches them all, in order, word for word", async ({
    world,
    fixture,
    service,
    receiver,
    customer,
    send,
  }) => {
    await world.register();
    await send();
    const [before] = (await service.events(customer, { limit: 1 })).data;
    await fixture.pass(HOUR);
    receiver.answer(answerWith(500));
    const lost = [await send(), await send(), await send()];
    const fetched: unknown[] = [];
    let last = before?.eventId;
    for (;;) {
      const query = { order: "asc", limit: 2, ...(last !== undefined && { startingAfter: last }) } as const;
      const { data, hasMore } = await service.events(customer, query);
      fetched.push(...data);
      last = data.at(-1)?.eventId;
      if (!hasMore) break;
    }
    expect(fetched).toHaveLength(9);
    const posted = world.posts().map(({ body, headers }) => {
      const { event, transactionId, timestamp, data } = JSON.parse(body.toString()) as Record<
        string,
        unknown
      >;
      return { eventId: headers["webhook-id"], event, transactionId, createdAt: timestamp, data };
    });
    for (const event of fetched) expect(posted).toContainEqual(event);
    const told = fetched as { transactionId: string; event: string }[];
    expect(told.map(({ transactionId, event }) => [transactionId, event])).toEqual(
      lost.flatMap((id) => NOTICES.map((event) => [id, event])),
    );
  });

  test("newest first they are the same in reverse, and there are some without any webhook", async ({
    service,
    customer,
    send,
  }) => {
    await send();
    const forwards = (await service.events(customer, { order: "asc" })).data;
    const backwards = (await service.events(customer)).data;
    expect(backwards).toEqual(forwards.toReversed());
    expect(forwards.map(({ event }) => event)).toEqual(NOTICES);
    const last = backwards.at(-1)?.eventId ?? "";
    expect(await service.events(customer, { startingAfter: last })).toEqual({ data: [], hasMore: false });
    const newest = backwards[0]?.eventId ?? "";
    const beyond = { startingAfter: newest, order: "asc" } as const;
    expect(await service.events(customer, beyond)).toEqual({ data: [], hasMore: false });
    await send();
    expect((await service.events(customer, beyond)).data.map(({ event }) => event)).toEqual(NOTICES);
  });

  test("a transaction's timeline holds its own events only, newest first or oldest first", async ({
    service,
    customer,
    send,
  }) => {
    const [one, two] = [await send(), await send()];
    const { data, hasMore } = await service.transactionEvents(customer, one, { order: "asc" });
    expect([data.map(({ event }) => event), hasMore]).toEqual([NOTICES, false]);
    expect(data.every(({ transactionId }) => transactionId === one)).toBe(true);
    expect((await service.transactionEvents(customer, one)).data).toEqual(data.toReversed());
    const first = await service.transactionEvents(customer, one, { limit: 2 });
    expect(first.hasMore).toBe(true);
    const rest = { startingAfter: first.data[1]?.eventId ?? "", limit: 2 };
    expect(await service.transactionEvents(customer, one, rest)).toEqual({
      data: data.slice(0, 1),
      hasMore: false,
    });
    const refused = service.transactionEvents(customer, two, rest);
    await expectRefusal(refused, "VALIDATION_ERROR", { fields: [{ path: "startingAfter" }] });
  });
});

describe("deliveries", () => {
  test("each delivery is listed with its attempts, newest first, page by page", async ({
    world,
    service,
    receiver,
    customer,
    send,
    listed,
  }) => {
    const webhookId = await world.register({ events: ["transaction.pending"] });
    const first = await send();
    receiver.answer(answerWith(503, "come back later"));
    const second = await send();
    const [failing, done] = await listed(webhookId);
    expect(done).toMatchObject({ webhookId, transactionId: first, status: "delivered" });
    expect(done?.attempts).toMatchObject([{ number: 1, httpStatus: 200, error: null }]);
    expect(failing).toMatchObject({ transactionId: second, event: "transaction.pending", status: "pending" });
    expect(failing?.attempts).toEqual([
      {
        number: 1,
        startedAt: failing?.createdAt,
        durationMs: 0,
        httpStatus: 503,
        error: "http_status",
        excerpt: "come back later",
        // Opened or kept: which of the two is a matter of what came before.
        phases: expect.objectContaining({ firstByteMs: 0 }) as object,
      },
    ]);
    const [newest] = (await service.deliveries(customer, webhookId, { limit: 1 })).data;
    const rest = await service.deliveries(customer, webhookId, { startingAfter: newest?.deliveryId ?? "" });
    expect(rest).toEqual({ data: [done], hasMore: false });
    await expectRefusal(
      service.deliveries(customer, webhookId, { startingAfter: "dlv_0" }),
      "VALIDATION_ERROR",
      {
        fields: [{ path: "startingAfter" }],
      },
    );
  });

  test("an abandoned delivery is sent again with the same id and bytes, and has six attempts more", async ({
    world,
    fixture,
    service,
    receiver,
    customer,
    send,
    listed,
  }) => {
    const webhookId = await world.register({ events: ["transaction.pending"], secret: SECRET });
    receiver.answer(answerWith(500));
    await send();
    await fixture.pass(8 * HOUR);
    const [abandoned] = await listed(webhookId);
    expect([abandoned?.status, abandoned?.attempts.length]).toEqual(["abandoned", 6]);
    const ids = { webhookId, deliveryId: abandoned?.deliveryId ?? "" };
    const { body } = await service.redeliver(customer, ids);
    expect(body).toEqual({ ...abandoned, status: "pending" });
    await fixture.pass(8 * HOUR);
    const [again] = await listed(webhookId);
    expect([again?.status, again?.attempts.map(({ number }) => number)]).toEqual([
      "abandoned",
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
    ]);
    receiver.answer(answerWith(200));
    await service.redeliver(customer, ids);
    await fixture.pass(MINUTE);
    expect((await listed(webhookId))[0]).toMatchObject({ status: "delivered" });
    const sent = world.posts();
    expect(sent).toHaveLength(13);
    expect(
      new Set(sent.map((each) => `${String(each.headers["webhook-id"])} ${each.body.toString()}`)).size,
    ).toBe(1);
    // What was delivered is sent again, too, when its receiver has lost it.
    await service.redeliver(customer, ids);
    await fixture.service.settled();
    expect(world.posts()).toHaveLength(14);
  });

  test("of a delivery that waits for its next attempt it ends the pause, and takes none of its attempts", async ({
    world,
    fixture,
    service,
    receiver,
    customer,
    send,
    listed,
  }) => {
    const webhookId = await world.register({ events: ["transaction.pending"] });
    receiver.answer(answerWith(500));
    await send();
    await fixture.pass(2 * HOUR);
    expect(world.posts()).toHaveLength(5);
    const [waiting] = await listed(webhookId);
    await service.redeliver(customer, { webhookId, deliveryId: waiting?.deliveryId ?? "" });
    await service.settled();
    expect(world.posts()).toHaveLength(6);
    await fixture.pass(DAY);
    expect(world.posts()).toHaveLength(6);
    expect((await listed(webhookId))[0]).toMatchObject({ status: "abandoned" });
  });

  test("of twenty redeliveries at once one is made; the same key is answered the same", async ({
    world,
    service,
    customer,
    send,
    listed,
  }) => {
    const webhookId = await world.register({ events: ["transaction.pending"] });
    await send();
    const [done] = await listed(webhookId);
    const ids = { webhookId, deliveryId: done?.deliveryId ?? "" };
    await service.stop();
    await Promise.all(Array.from({ length: 20 }, () => service.redeliver(customer, ids)));
    await service.start();
    await service.settled();
    expect(world.posts()).toHaveLength(2);
    const options = { idempotencyKey: "again" };
    const [one, other] = await Promise.all([
      service.redeliver(customer, ids, options),
      service.redeliver(customer, ids, options),
    ]);
    await service.settled();
    expect(one.text).toBe(other.text);
    expect((await service.redeliver(customer, ids, options)).replayed).toBe(true);
    await service.settled();
    expect(world.posts()).toHaveLength(3);
  });
});

describe("recovery", () => {
  test("H29, H30: what a disabled webhook missed is sent, oldest first, once, when it is enabled again", async ({
    world,
    fixture,
    service,
    customer,
    send,
    since,
  }) => {
    const webhookId = await world.register();
    await send();
    await service.updateWebhook(customer, webhookId, { enabled: false });
    const missed = [await send(), await send()];
    await service.updateWebhook(customer, webhookId, { enabled: true });
    await fixture.pass(DAY);
    expect(world.posts()).toHaveLength(3);
    const { body } = await service.recoverWebhook(customer, webhookId, { since: since(2 * DAY) });
    expect(body).toEqual({ webhookId, since: body.since, recovered: 6, hasMore: false });
    await service.settled();
    const sent = world
      .posts()
      .slice(3)
      .map((each) => JSON.parse(each.body.toString()) as Record<string, unknown>);
    for (const id of missed) {
      expect(sent.filter(({ transactionId }) => transactionId === id).map(({ event }) => event)).toEqual(
        NOTICES,
      );
    }
    const again = await service.recoverWebhook(customer, webhookId, { since: since(2 * DAY) });
    expect(again.body.recovered).toBe(0);
    await service.settled();
    expect(world.posts()).toHaveLength(9);
  });

  test("abandoned and dropped deliveries begin again, what is still tried and what lies before is left alone", async ({
    world,
    fixture,
    service,
    receiver,
    customer,
    send,
  }) => {
    const webhookId = await world.register({ events: ["transaction.pending"] });
    receiver.answer(answerWith(500));
    const [old] = [await send()];
    await fixture.pass(8 * HOUR);
    const lost = await send();
    const until = fixture.clock.now();
    await fixture.pass(8 * HOUR);
    const dropped = await send();
    await service.updateWebhook(customer, webhookId, { enabled: false });
    // Its second attempt may have begun before the webhook was disabled, and the third is due five minutes later.
    await fixture.pass(10 * MINUTE);
    await service.updateWebhook(customer, webhookId, { enabled: true });
    const fresh = await send();
    receiver.answer(answerWith(200));
    const before = world.posts().length;
    const sinceLost = new Date(until - 2 * MINUTE).toISOString();
    const { body } = await service.recoverWebhook(customer, webhookId, { since: sinceLost });
    expect(body.recovered).toBe(2);
    await service.settled();
    const ids = world
      .posts()
      .slice(before)
      .map((each) => (JSON.parse(each.body.toString()) as { transactionId: string }).transactionId);
    // The fresh one's own retry was due meanwhile.
    expect(ids.filter((id) => id !== fresh)).toEqual([lost, dropped]);
    await fixture.pass(2 * MINUTE);
    expect(world.eventsReceived()).toHaveLength(before + 3);
    expect(
      (await service.deliveries(customer, webhookId)).data.map(({ transactionId, status }) => [
        transactionId,
        status,
      ]),
    ).toEqual([
      [fresh, "delivered"],
      [dropped, "delivered"],
      [lost, "delivered"],
      [old, "abandoned"],
    ]);
  });

  test("R27: what happened before the webhook was there, and what it is not subscribed to, is not recovered", async ({
    world,
    service,
    customer,
    send,
    since,
  }) => {
    await send();
    const webhookId = await world.register({ events: ["transaction.confirmed"] });
    await service.updateWebhook(customer, webhookId, { enabled: false });
    await send();
    await service.updateWebhook(customer, webhookId, { enabled: true });
    const { body } = await service.recoverWebhook(customer, webhookId, { since: since(DAY) });
    expect(body.recovered).toBe(1);
  });

  test("a disabled webhook is neither recovered nor sent anything again: the refusal says what to do", async ({
    world,
    fixture,
    service,
    customer,
    send,
    since,
  }) => {
    const webhookId = await world.register();
    await send();
    const [done] = (await service.deliveries(customer, webhookId)).data;
    await service.updateWebhook(customer, webhookId, { enabled: false });
    const fields = [{ path: "webhookId", message: "is disabled; enable it first" }];
    const recovering = service.recoverWebhook(customer, webhookId, { since: since(DAY) });
    await expectRefusal(recovering, "VALIDATION_ERROR", { fields });
    const ids = { webhookId, deliveryId: done?.deliveryId ?? "" };
    await expectRefusal(service.redeliver(customer, ids), "VALIDATION_ERROR", { fields });
    const before = world.posts().length;
    await fixture.pass(DAY);
    expect(world.posts()).toHaveLength(before);
  });

  test("the same Idempotency-Key begins nothing twice", async ({
    world,
    fixture,
    service,
    receiver,
    customer,
    send,
    since,
  }) => {
    const webhookId = await world.register({ events: ["transaction.pending"] });
    receiver.answer(answerWith(500));
    await send();
    await fixture.pass(8 * HOUR);
    const request = { since: since(DAY) };
    const options = { idempotencyKey: "k" };
    const one = await service.recoverWebhook(customer, webhookId, request, options);
    await fixture.pass(8 * HOUR);
    const other = await service.recoverWebhook(customer, webhookId, request, options);
    expect([other.text, other.replayed, one.body.recovered]).toEqual([one.text, true, 1]);
    await fixture.pass(8 * HOUR);
    expect(world.posts()).toHaveLength(12);
  });
});

test("H16: nothing of another account is read or sent again", async ({
  world,
  fixture,
  service,
  receiver,
  customer,
  send,
  since,
}) => {
  const webhookId = await world.register();
  const transactionId = await send();
  const [delivery] = (await service.deliveries(customer, webhookId)).data;
  const [event] = (await service.events(customer)).data;
  const stranger = await fixture.caller();
  const own = await service.registerWebhook(stranger, { url: receiver.url, events: NOTICES });
  const ids = { webhookId, deliveryId: delivery?.deliveryId ?? "" };
  expect(await service.events(stranger)).toEqual({ data: [], hasMore: false });
  const before = world.posts().length;
  const gone = "WEBHOOK_NOT_FOUND";
  await expectRefusal(service.deliveries(stranger, webhookId), gone, { webhookId });
  await expectRefusal(service.redeliver(stranger, ids), gone, { webhookId });
  await expectRefusal(service.recoverWebhook(stranger, webhookId, { since: since(DAY) }), gone, {
    webhookId,
  });
  const crossed = { ...ids, webhookId: own.body.webhookId };
  await expectRefusal(service.redeliver(stranger, crossed), "DELIVERY_NOT_FOUND", {
    deliveryId: ids.deliveryId,
  });
  const begun = service.events(stranger, { startingAfter: event?.eventId ?? "" });
  await expectRefusal(begun, "VALIDATION_ERROR", { fields: [{ path: "startingAfter" }] });
  const theirs = service.transactionEvents(stranger, transactionId);
  await expectRefusal(theirs, "TRANSACTION_NOT_FOUND", { transactionId });
  const deliveriesOf = { startingAfter: ids.deliveryId };
  await expectRefusal(service.deliveries(stranger, own.body.webhookId, deliveriesOf), "VALIDATION_ERROR", {});
  expect(
    (await service.recoverWebhook(stranger, own.body.webhookId, { since: since(DAY) })).body.recovered,
  ).toBe(0);
  await service.settled();
  expect(world.posts()).toHaveLength(before);
});
