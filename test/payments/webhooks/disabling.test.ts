/** A webhook that takes nothing for days is disabled by itself, and its owner brings everything back. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import type { PaymentServiceOptions } from "../../../src/service/payment-service-options.ts";
import type { PaymentStorage, PaymentWrite } from "../../../src/payments/payment-storage.ts";
import { answerWith } from "../../kit/https-receiver.ts";
import { passFor, webhookWorld, type WebhookWorld } from "./webhook-world.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const PENDING = { events: ["transaction.pending"] };

let world: WebhookWorld;
let fixture: WebhookWorld["fixture"];
let began: number;

const hooks = (disableAfter: NonNullable<PaymentServiceOptions["webhooks"]>["disableAfter"]) => ({
  webhooks: {
    ca: world.receiver.ca,
    allowAddress: (ip: string) => ip === "127.0.0.1",
    ...(disableAfter !== undefined && { disableAfter }),
  },
});

beforeEach(async () => {
  world = await webhookWorld({ webhooks: { disableAfter: { abandoned: 3 } } });
  ({ fixture } = world);
  began = fixture.clock.now();
  world.receiver.answer(answerWith(500));
});
afterEach(() => world.close());

const sends = async (count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let index = 0; index < count; index++) ids.push(await world.sendOne());
  await fixture.finalize();
  return ids;
};
const passUntil = (at: number): Promise<void> => fixture.pass(at - fixture.clock.now());
const standing = async (webhookId: string): Promise<object> => {
  const { enabled, disabledReason } = await fixture.service.webhook(world.caller, webhookId);
  return { enabled, disabledReason };
};
const ENABLED = { enabled: true, disabledReason: null };
const DISABLED = { enabled: false, disabledReason: "disabled_after_failures" };

/** Registers, has two deliveries abandoned on the first day, and a third begun so that it ends after the third. */
async function untilTheThird(): Promise<string> {
  world.receiver.answer(answerWith(200));
  const webhookId = await world.register(PENDING);
  world.receiver.answer(answerWith(500));
  await sends(2);
  await passUntil(began + 3 * DAY);
  await sends(1);
  return webhookId;
}

test("H8: three abandoned in a row and nothing delivered for 3 days disable a webhook, across a restart, until its owner enables it; recover brings everything back", async () => {
  const webhookId = await untilTheThird();
  expect(await standing(webhookId)).toEqual(ENABLED);
  // A delivery that waits for its retry when the webhook is disabled gets nothing more either.
  await fixture.pass(6 * HOUR);
  await sends(1);
  await fixture.pass(HOUR);
  expect(await standing(webhookId)).toEqual(ENABLED);
  await fixture.pass(HOUR);
  expect(await standing(webhookId)).toEqual(DISABLED);
  const sent = world.posts().length;
  await sends(1);

  await fixture.service.stop();
  const storage = await world.reopen();
  const restarted = fixture.another({ storage });
  await restarted.start();
  await passFor(world, restarted, storage, fixture.clock.now() + DAY);
  expect(world.posts()).toHaveLength(sent);
  expect(await restarted.webhook(world.caller, webhookId)).toMatchObject(DISABLED);

  world.receiver.answer(answerWith(200));
  expect(await restarted.updateWebhook(world.caller, webhookId, { enabled: true })).toMatchObject(ENABLED);
  const since = new Date(began).toISOString();
  expect((await restarted.recoverWebhook(world.caller, webhookId, { since })).body.recovered).toBe(5);
  await restarted.settled();
  expect(world.posts()).toHaveLength(sent + 5);
  const { data } = await restarted.deliveries(world.caller, webhookId);
  expect(data.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => "delivered"));
  await restarted.stop();
});

test("H8: enabled again it has all its time again: what was abandoned before does not count", async () => {
  const webhookId = await untilTheThird();
  await fixture.pass(DAY);
  expect(await standing(webhookId)).toEqual(DISABLED);
  await fixture.service.updateWebhook(world.caller, webhookId, { enabled: true });
  const enabledAt = fixture.clock.now();
  await sends(2);
  await passUntil(enabledAt + 3 * DAY);
  expect(await standing(webhookId)).toEqual(ENABLED);
  // Said again of one that is enabled, it begins nothing anew.
  await fixture.service.updateWebhook(world.caller, webhookId, { enabled: true });
  await sends(1);
  await fixture.pass(DAY);
  expect(await standing(webhookId)).toEqual(DISABLED);
});

test("one delivery in between begins the row and the three days anew", async () => {
  world.receiver.answer(answerWith(200));
  const webhookId = await world.register(PENDING);
  world.receiver.answer(answerWith(500));
  await sends(2);
  await passUntil(began + 2 * DAY);
  world.receiver.answer(answerWith(200));
  await sends(1);
  const deliveredAt = fixture.clock.now();
  world.receiver.answer(answerWith(500));
  // Three in a row, but not three days.
  await sends(3);
  await passUntil(began + 4 * DAY);
  expect(await standing(webhookId)).toEqual(ENABLED);
  await passUntil(deliveredAt + 3 * DAY);
  await sends(1);
  await fixture.pass(DAY);
  expect(await standing(webhookId)).toEqual(DISABLED);
});

/** Lets something happen between the look that decides and the commit that abandons and disables, once. */
function interrupted(
  storage: PaymentStorage,
  before: (disabling: PaymentWrite) => Promise<unknown>,
): PaymentStorage {
  let isDone = false;
  return {
    ...storage,
    async commit(items) {
      const disables = (write: PaymentWrite): boolean =>
        write.table === "webhooks" && "set" in write && typeof write.set.disabledAt === "number";
      const disabling = items.flatMap(({ writes = [] }) => writes).find(disables);
      if (disabling !== undefined && !isDone) {
        isDone = true;
        await before(disabling);
      }
      return storage.commit(items);
    },
  };
}

test.each<[string, object, (other: PaymentService, webhookId: string, disabling: PaymentWrite) => unknown]>([
  [
    "its owner turns it off and on: it keeps its time",
    { ...ENABLED, version: 3 },
    async (other, webhookId) => {
      await other.updateWebhook(world.caller, webhookId, { enabled: false });
      return other.updateWebhook(world.caller, webhookId, { enabled: true });
    },
  ],
  [
    "another process disables it: it is disabled once",
    { ...DISABLED, version: 2 },
    (_other, _webhookId, disabling) => fixture.storage.commit([{ writes: [disabling] }]),
  ],
])("H8: at the very moment %s, and no attempt is made once more", async (_, expected, meanwhile) => {
  await fixture.service.stop();
  const other = fixture.another();
  let webhookId = "";
  let interruptions = 0;
  const storage = interrupted(await world.reopen(), async (disabling) => {
    interruptions += 1;
    await meanwhile(other, webhookId, disabling);
  });
  const working = fixture.another({ storage });
  await working.start();
  const run = (until: number): Promise<void> => passFor(world, working, fixture.storage, until);
  world.receiver.answer(answerWith(200));
  webhookId = await world.register(PENDING);
  world.receiver.answer(answerWith(500));
  for (let index = 0; index < 2; index++) await world.sendOne();
  await run(began + 3 * DAY);
  await world.sendOne();
  await run(began + 4 * DAY);
  expect(interruptions).toBe(1);
  const version = (await fixture.storage.webhook(webhookId))?.version;
  expect({ ...(await standing(webhookId)), version }).toEqual(expected);
  expect(world.posts()).toHaveLength(3 * 6);
  const { data } = await other.deliveries(world.caller, webhookId);
  expect(data.map(({ status }) => status)).toEqual(["abandoned", "abandoned", "abandoned"]);
  await working.stop();
});

test.each([
  ["never", "never"],
  ["by default only at 100", undefined],
] as const)("H8: a webhook is disabled %s: fewer leave it as it is", async (_, disableAfter) => {
  await fixture.service.stop();
  const storage = await world.reopen();
  const lenient = fixture.another({ storage, ...hooks(disableAfter) });
  await lenient.start();
  world.receiver.answer(answerWith(200));
  const webhookId = await world.register(PENDING);
  world.receiver.answer(answerWith(500));
  for (let index = 0; index < 3; index++) await world.sendOne();
  await passFor(world, lenient, storage, began + 4 * DAY);
  await world.sendOne();
  await passFor(world, lenient, storage, began + 5 * DAY);
  expect((await lenient.deliveries(world.caller, webhookId)).data).toHaveLength(4);
  expect(await standing(webhookId)).toEqual(ENABLED);
  await lenient.stop();
});

test.each([
  [{ abandoned: 0 }, /webhooks\.disableAfter\.abandoned: /],
  [{ undelivered: 1 }, /webhooks\.disableAfter: .*undelivered/],
  ["off", /webhooks\.disableAfter: expected "never"/],
])("%j as disableAfter is refused by name", (disableAfter, message) => {
  const wrong = hooks(disableAfter as "never");
  expect(() => fixture.another(wrong)).toThrow(message);
});
