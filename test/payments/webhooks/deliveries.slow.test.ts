/** One delivery after the other, from the notice to the receiver and to the last retry. */
// modules: webhooks
import { describe, expect, vi } from "vitest";
import { Webhook } from "standardwebhooks";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { verifyServiceSignature } from "../../../src/payments/webhooks/sending/signature.ts";
import { answerWith, type HttpsReceiver } from "../../kit/https-receiver.ts";
import type { ServiceFixture } from "../../kit/service-fixture.ts";
import { webhookTest as test } from "./webhook-test.ts";
import { ALL_EVENTS, passFor, SECRET } from "./webhook-world.ts";

const MINUTE = 60_000;

describe("a delivery", () => {
  test("W19, H1: all notices arrive once each and in order, with every field, signed over their raw bytes", async ({
    fixture,
    customer,
    register,
    sendOne,
    posts,
    eventsReceived,
  }) => {
    await register({ secret: SECRET });
    const transactionId = await sendOne();
    await fixture.finalize();
    expect(eventsReceived()).toEqual([
      "transaction.pending",
      "transaction.confirmed",
      "transaction.completed",
    ]);

    const [, , last] = posts();
    const text = last?.body.toString("utf8") ?? "";
    const { signature, blockTime } = await fixture.service.transaction(customer, transactionId);
    expect(JSON.parse(text)).toEqual({
      event: "transaction.completed",
      transactionId,
      timestamp: new Date(fixture.clock.now()).toISOString(),
      data: {
        transactionId,
        status: "completed",
        mode: "wallet",
        type: "send",
        signature,
        blockTime,
        fee: "0.000005091",
        recipients: [{ address: expect.any(String) as string, amount: "1.5" }],
        reason: null,
        reference: null,
        sender: fixture.wallet("alice").address,
        quoteId: expect.stringMatching(/^quote_/) as string,
        inputAsset: "USDC",
        inputMint: fixture.mints.USDC,
        inputAmount: "1.5",
        outputAsset: "USDC",
        outputMint: fixture.mints.USDC,
        outputAmount: "1.5",
      },
    });
    const header = String(last?.headers["x-service-signature"]);
    expect(verifyServiceSignature(text, header, SECRET)).toBe(true);
    expect(verifyServiceSignature(`${text} `, header, SECRET)).toBe(false);
  });

  test("H23: the npm package standardwebhooks verifies what was received, and refuses it with a byte changed", async ({
    fixture,
    register,
    sendOne,
    posts,
  }) => {
    await register({ secret: SECRET });
    await sendOne();
    await fixture.finalize();
    // It reads the time itself and refuses old deliveries; ours are made on the virtual clock.
    vi.useFakeTimers({ toFake: ["Date"], now: fixture.clock.now() });
    try {
      const webhook = new Webhook(SECRET);
      expect(posts()).toHaveLength(3);
      for (const { body, headers } of posts()) {
        const text = body.toString("utf8");
        const received = headers as Record<string, string>;
        expect(webhook.verify(text, received)).toEqual(JSON.parse(text));
        expect(() => webhook.verify(text.replace("1.5", "1.6"), received)).toThrow(/No matching signature/);
      }
    } finally {
      vi.useRealTimers();
    }
  });

  test("H2: without a secret there is no signature header", async ({ fixture, register, sendOne, posts }) => {
    await register();
    await sendOne();
    await fixture.finalize();
    const [first] = posts();
    expect(first?.headers).not.toHaveProperty("x-service-signature");
    expect(first?.headers).not.toHaveProperty("webhook-signature");
    expect(first?.headers).toHaveProperty("webhook-id");
  });

  test("H9: events that were not subscribed are never sent", async ({
    fixture,
    register,
    sendOne,
    eventsReceived,
  }) => {
    await register({ events: ["transaction.completed", "transaction.completed"] });
    await sendOne();
    await fixture.finalize();
    expect(eventsReceived()).toEqual(["transaction.completed"]);
  });

  test("a webhook registered after a notice does not receive it", async ({
    fixture,
    register,
    sendOne,
    eventsReceived,
  }) => {
    await sendOne();
    await fixture.service.settled();
    fixture.clock.advance(1);
    await register();
    await fixture.finalize();
    expect(eventsReceived()).toEqual(["transaction.confirmed", "transaction.completed"]);
  });

  test("H8: a deleted webhook gets nothing more, deliveries that wait for their retry included", async ({
    fixture,
    receiver,
    customer,
    register,
    sendOne,
    posts,
  }) => {
    receiver.answer(answerWith(500));
    const webhookId = await register();
    await sendOne();
    await fixture.service.settled();
    expect(posts()).toHaveLength(1);
    await fixture.service.deleteWebhook(customer, webhookId);
    await fixture.finalize();
    await fixture.pass(8 * 60 * MINUTE);
    expect(posts()).toHaveLength(1);
    expect((await fixture.service.webhooks(customer)).webhooks).toEqual([]);
  });

  test("notices of one transaction stay in order while the first is slow, and retries may overtake", async ({
    fixture,
    receiver,
    register,
    sendOne,
    posts,
    eventsReceived,
  }) => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    receiver.answer(async (request, response) => {
      if (request.method === "POST" && posts().length === 1) await gate;
      response.writeHead(posts().length === 1 ? 500 : 200).end();
    });
    await register();
    await sendOne();
    const first = receiver.nextRequest();
    const settling = fixture.service.settled();
    await first;
    // The first attempt hangs. The chain goes on to finality, and the other notices wait for their turn.
    fixture.chain.advance(60);
    expect(eventsReceived()).toEqual(["transaction.pending"]);
    open();
    await settling;
    await fixture.finalize();
    expect(eventsReceived()).toEqual([
      "transaction.pending",
      "transaction.confirmed",
      "transaction.completed",
    ]);
    await fixture.pass(MINUTE);
    expect(eventsReceived().at(-1)).toBe("transaction.pending");
  });

  test("of two notices of one commit the second waits for the first one's first attempt, at each webhook for itself", async ({
    fixture,
    receiver,
    register,
    sendOne,
    posts,
  }) => {
    const slow = await register();
    await register({ url: `${receiver.url}/quick` });
    const transactionId = await sendOne();
    await fixture.service.settled();
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const heardAt = (path: string): readonly unknown[] =>
      posts()
        .filter((post) => post.path === path)
        .map(({ body }) => (JSON.parse(body.toString("utf8")) as { event: string }).event);
    let told: () => void = () => undefined;
    const quickHasAll = new Promise<void>((resolve) => {
      told = resolve;
    });
    receiver.answer(async ({ path }, response) => {
      if (path === "/hook") await gate;
      response.writeHead(200).end();
      if (heardAt("/hook/quick").length === ALL_EVENTS.length - 1) told();
    });
    // First seen final: confirmed and completed are told in one commit.
    fixture.chain.advance(60);
    const settling = fixture.service.settled();
    await quickHasAll;
    expect(heardAt("/hook")).toEqual(["transaction.pending", "transaction.confirmed"]);
    const runs = (await fixture.storage.deliveries(transactionId)).filter((each) => each.webhookId === slow);
    const states = await Promise.all(
      runs.map(async ({ id, status }) => {
        const { snapshot = "{}" } = (await fixture.storage.load(id)) ?? {};
        const { value = "gone" } = JSON.parse(snapshot) as { value?: string };
        return `${status} ${value}`;
      }),
    );
    expect(new Set(states)).toEqual(new Set(["delivered gone", "pending attempting", "pending waiting"]));
    open();
    await settling;
    const inOrder = ["transaction.pending", "transaction.confirmed", "transaction.completed"];
    expect([heardAt("/hook"), heardAt("/hook/quick")]).toEqual([inOrder, inOrder]);
  });
});

describe("retries", () => {
  test("H3, H6: attempts start at 0, 1, 6, 21, 81 and 441 minutes, across a restart, same id and bytes, and stop at six", async ({
    world,
    fixture,
    receiver,
    register,
    sendOne,
    posts,
  }) => {
    receiver.answer(answerWith(503));
    await register({ secret: SECRET, events: ["transaction.pending"] });
    const began = fixture.clock.now();
    const transactionId = await sendOne();
    await fixture.finalize();
    await fixture.pass(10 * MINUTE);
    await fixture.service.stop();
    const storage = await world.reopen();
    const restarted = fixture.another({ storage });
    await restarted.start();
    await passFor(world, restarted, storage, began + 24 * 60 * MINUTE);

    expect(posts().map(({ at }) => (at - began) / MINUTE)).toEqual([0, 1, 6, 21, 81, 441]);
    expect(new Set(posts().map(({ body }) => body.toString("hex"))).size).toBe(1);
    expect(new Set(posts().map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(await storage.deliveries(transactionId)).toMatchObject([{ status: "abandoned", attempts: 6 }]);
    await restarted.stop();
  });

  test("a receiver that recovers gets the notice at the next attempt and no more", async ({
    fixture,
    receiver,
    register,
    sendOne,
    posts,
  }) => {
    receiver.answer(answerWith(500));
    await register({ events: ["transaction.pending"] });
    const transactionId = await sendOne();
    await fixture.finalize();
    receiver.answer(answerWith(200));
    await fixture.pass(24 * 60 * MINUTE);
    expect(posts()).toHaveLength(2);
    const [delivery] = await fixture.storage.deliveries(transactionId);
    expect(delivery).toMatchObject({ status: "delivered", attempts: 2 });
    const attempts = await fixture.storage.deliveryAttempts(delivery?.id ?? "");
    expect(attempts).toMatchObject([
      { number: 1, httpStatus: 500, error: "http_status" },
      { number: 2, httpStatus: 200, error: null },
    ]);
  });

  test("after a long downtime attempts are never closer than the documented delays", async ({
    world,
    fixture,
    receiver,
    register,
    sendOne,
    posts,
  }) => {
    receiver.answer(answerWith(500));
    await register({ events: ["transaction.pending"] });
    const began = fixture.clock.now();
    await sendOne();
    await fixture.service.settled();
    await fixture.service.stop();
    fixture.clock.advance(60 * MINUTE);
    const storage = await world.reopen();
    const restarted = fixture.another({ storage });
    await restarted.start();
    await passFor(world, restarted, storage, began + 24 * 60 * MINUTE);
    expect(posts().map(({ at }) => (at - began) / MINUTE)).toEqual([0, 60, 65, 80, 140, 500]);
    await restarted.stop();
  });

  test("each attempt's log says where its time went: opening the connection, the first byte, and all of it", async ({
    fixture,
    receiver,
    customer,
    register,
    sendOne,
  }) => {
    await register({ events: ["transaction.pending"] });
    const webhookId = (await fixture.service.webhooks(customer)).webhooks[0]?.webhookId ?? "";
    const logged = async (): Promise<readonly unknown[]> =>
      (await fixture.service.deliveries(customer, webhookId)).data.flatMap(({ attempts }) => attempts);
    receiver.answer((_, response) => {
      // The virtual clock moves while the receiver thinks.
      fixture.clock.advance(700);
      response.writeHead(200).end("taken");
    });
    await sendOne();
    await fixture.service.settled();
    const opening = { dnsMs: 0, connectMs: 0, tlsMs: 0 };
    const answered = { httpStatus: 200, error: null, excerpt: "taken" };
    expect(await logged()).toMatchObject([{ ...answered, phases: { ...opening, firstByteMs: 700 } }]);

    // The kept connection opens nothing.
    await sendOne();
    await fixture.service.settled();
    const none = { dnsMs: null, connectMs: null, tlsMs: null };
    expect((await logged())[0]).toMatchObject({ ...answered, phases: { ...none, firstByteMs: 700 } });

    // No answer: nothing is made up for what never came.
    receiver.answer((_, response) => void response.socket?.destroy());
    await sendOne();
    await fixture.service.settled();
    const silent = { httpStatus: null, error: "reset", excerpt: null };
    expect((await logged())[0]).toMatchObject({ ...silent, phases: { firstByteMs: null } });
  });

  test("H5: a 302 is a failure and is not followed, a 204 is a failure", async ({
    fixture,
    receiver,
    register,
    sendOne,
    posts,
  }) => {
    receiver.answer(answerWith(302, "", { location: receiver.url }));
    await register({ events: ["transaction.pending"] });
    await sendOne();
    await fixture.service.settled();
    expect(posts()).toHaveLength(1);
    receiver.answer(answerWith(204));
    await fixture.pass(MINUTE);
    expect(posts()).toHaveLength(2);
    await fixture.pass(5 * MINUTE);
    expect(posts()).toHaveLength(3);
  });
});

describe("a process that vanishes", () => {
  test("H7: killed between sending and recording, the notice is sent again, the same; the log says crashed", async ({
    world,
    fixture,
    receiver,
    register,
    sendOne,
    posts,
  }) => {
    await register({ secret: SECRET, events: ["transaction.pending"] });
    await fixture.service.stop();
    const dueAt = fixture.clock.now();
    const transactionId = await sendOne();
    await dieInAttempt(await world.reopen(), { fixture, receiver });
    expect(await fixture.storage.deliveries(transactionId)).toMatchObject([
      { status: "pending", attempts: 0 },
    ]);

    receiver.answer(answerWith(200));
    const second = fixture.another();
    await second.start();
    await passFor(world, second, fixture.storage, dueAt + 24 * 60 * MINUTE);
    const [sent, again, ...more] = posts();
    expect(more).toEqual([]);
    expect(again?.body).toEqual(sent?.body);
    expect(again?.headers["webhook-id"]).toBe(sent?.headers["webhook-id"]);
    const [delivery] = await fixture.storage.deliveries(transactionId);
    expect(delivery).toMatchObject({ status: "delivered", attempts: 1 });
    const attempts = await fixture.storage.deliveryAttempts(delivery?.id ?? "");
    expect(attempts.toSorted((one, other) => one.startedAt - other.startedAt)).toMatchObject([
      { number: 1, error: "crashed", httpStatus: null, startedAt: dueAt, excerpt: null },
      { number: 1, error: null, httpStatus: 200, startedAt: dueAt + 15_000 },
    ]);
    await second.stop();
  });

  test("H7: of an attempt that crashed and was dropped, and crashed once more when it was sent again, each is in the log", async ({
    world,
    fixture,
    receiver,
    register,
    sendOne,
    posts,
  }) => {
    const { caller } = world;
    const webhookId = await register({ events: ["transaction.pending"] });
    await fixture.service.stop();
    const crash = async (): Promise<void> => {
      await dieInAttempt(await world.reopen(), { fixture, receiver });
      receiver.answer(answerWith(200));
    };
    const settle = async (): Promise<void> => {
      const next = fixture.another();
      await next.start();
      await passFor(world, next, fixture.storage, fixture.clock.now() + 60 * MINUTE);
      await next.stop();
    };
    const transactionId = await sendOne();
    await crash();
    const owner = fixture.another();
    await owner.updateWebhook(caller, webhookId, { enabled: false });
    await settle();
    const [dropped] = await fixture.storage.deliveries(transactionId);
    expect(dropped).toMatchObject({ status: "dropped", attempts: 0 });
    const deliveryId = dropped?.id ?? "";
    await owner.updateWebhook(caller, webhookId, { enabled: true });
    await owner.redeliver(caller, { webhookId, deliveryId });
    await crash();
    await settle();
    expect(await fixture.storage.delivery(deliveryId)).toMatchObject({ status: "delivered", attempts: 1 });
    const attempts = await fixture.storage.deliveryAttempts(deliveryId);
    expect(attempts.map(({ number, error }) => [number, error])).toEqual([
      [1, "crashed"],
      [1, "crashed"],
      [1, null],
    ]);
    expect(posts()).toHaveLength(3);
  });

  test("an attempt that a stopping process gave back did not crash", async ({
    fixture,
    receiver,
    register,
    sendOne,
  }) => {
    receiver.answer((request, response) => {
      if (request.method !== "POST") response.writeHead(200).end();
    });
    await register({ events: ["transaction.pending"] });
    const arrived = receiver.nextRequest();
    const transactionId = await sendOne();
    await arrived;
    await fixture.service.stop({ timeoutMs: 0 });
    receiver.answer(answerWith(200));
    const second = fixture.another();
    await second.start();
    await second.settled();
    const [delivery] = await fixture.storage.deliveries(transactionId);
    const attempts = await fixture.storage.deliveryAttempts(delivery?.id ?? "");
    expect(attempts).toMatchObject([{ number: 1, error: null, httpStatus: 200 }]);
    expect(attempts).toHaveLength(1);
    await second.stop();
  });

  test("a delivery that each process dies of is set aside, said at error once, and shows in the health", async ({
    world,
    fixture,
    receiver,
    register,
    sendOne,
    posts,
  }) => {
    const said: { level: string; message: string; fields: object }[] = [];
    const keep =
      (level: string) =>
      (fields: object, message: string): void =>
        void said.push({ level, message, fields });
    const logger = { debug: keep("debug"), info: keep("info"), warn: keep("warn"), error: keep("error") };
    await register({ events: ["transaction.pending"] });
    await fixture.service.stop();
    const transactionId = await sendOne();
    // Five deaths are counted, and the first one is not.
    for (let life = 0; life < 6; life++) {
      await dieInAttempt(await world.reopen(), { fixture, receiver });
      fixture.clock.advance(15_000);
    }
    const last = fixture.another({ logger });
    await last.start();
    for (let minute = 0; minute < 5; minute++) {
      await passFor(world, last, fixture.storage, fixture.clock.now() + MINUTE);
    }
    expect(posts()).toHaveLength(6);
    expect(await last.health()).toMatchObject({ status: "degraded", deadLetters: 1 });
    const [delivery] = await fixture.storage.deliveries(transactionId);
    const aside = said.filter(({ message }) => message.startsWith("a task was set aside"));
    expect(aside).toMatchObject([
      { level: "error", fields: { instance: delivery?.id, name: "attempt", workflow: "webhook-delivery@1" } },
    ]);
    await last.stop();
  });
});

/** A process dies when the receiver has its notice: it will never know. */
async function dieInAttempt(
  storage: PaymentStorage,
  {
    fixture,
    receiver,
  }: { readonly fixture: Pick<ServiceFixture, "another">; readonly receiver: HttpsReceiver },
): Promise<void> {
  const doomed = dying(storage);
  receiver.answer((request, response) => {
    if (request.method === "POST") doomed.die();
    response.writeHead(200).end();
  });
  const arrived = receiver.nextRequest();
  await fixture.another({ storage: doomed.storage }).start();
  await arrived;
  receiver.endConnections();
  await receiver.drained();
}

/** A storage as a process sees it that is killed: once dead, nothing it asks for happens, and nothing answers. */
function dying(storage: PaymentStorage): { readonly storage: PaymentStorage; die(): void } {
  let dead = false;
  const silence = new Promise<never>(() => undefined);
  return {
    die: () => void (dead = true),
    storage: new Proxy(storage, {
      get(target, property, receiver_) {
        const method: unknown = Reflect.get(target, property, receiver_);
        if (typeof method !== "function") return method;
        return (...args: unknown[]): unknown => (dead ? silence : Reflect.apply(method, target, args));
      },
    }),
  };
}
