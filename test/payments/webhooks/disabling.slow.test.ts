/** A webhook that takes nothing for days is disabled by itself, and its owner brings everything back. */
// modules: webhooks
import { expect } from "vitest";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import type { PaymentServiceOptions } from "../../../src/service/payment-service-options.ts";
import type { PaymentStorage, PaymentWrite } from "../../../src/payments/payment-storage.ts";
import { answerWith, type HttpsReceiver } from "../../kit/https-receiver.ts";
import { webhookTest } from "./webhook-test.ts";
import { passFor, type WebhookWorld } from "./webhook-world.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const PENDING = { events: ["transaction.pending"] };

const ENABLED = { enabled: true, disabledReason: null };
const DISABLED = { enabled: false, disabledReason: "disabled_after_failures" };

const hooks = (
  { ca }: HttpsReceiver,
  disableAfter: NonNullable<PaymentServiceOptions["webhooks"]>["disableAfter"],
) => ({
  webhooks: {
    ca,
    allowAddress: (ip: string) => ip === "127.0.0.1",
    ...(disableAfter !== undefined && { disableAfter }),
  },
});

/** Three in a row disable a webhook, three days after the scene `began`. */
const test = webhookTest.extend("scene", async ({ open }) => {
  const world = await open({ webhooks: { disableAfter: { abandoned: 3 } } });
  const { fixture, receiver, caller, register, sendOne } = world;
  const began = fixture.clock.now();
  const sends = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index++) await sendOne();
    await fixture.finalize();
  };
  const passUntil = (at: number): Promise<void> => fixture.pass(at - fixture.clock.now());
  const standing = async (webhookId: string): Promise<object> => {
    const { enabled, disabledReason } = await fixture.service.webhook(caller, webhookId);
    return { enabled, disabledReason };
  };
  /** A webhook whose receiver answers 500 once it is registered. */
  const failing = async (): Promise<string> => {
    receiver.answer(answerWith(200));
    const webhookId = await register(PENDING);
    receiver.answer(answerWith(500));
    return webhookId;
  };
  /** Registers, has two deliveries abandoned on the first day, and a third begun so that it ends after the third. */
  const untilTheThird = async (): Promise<string> => {
    const webhookId = await failing();
    await sends(2);
    await passUntil(began + 3 * DAY);
    await sends(1);
    return webhookId;
  };
  return { ...world, began, sends, passUntil, standing, failing, untilTheThird };
});

test("H8: three abandoned in a row and nothing delivered for 3 days disable a webhook, across a restart, until its owner enables it; recover brings everything back", async ({
  scene,
}) => {
  const { fixture } = scene;
  const webhookId = await scene.untilTheThird();
  expect(await scene.standing(webhookId)).toEqual(ENABLED);
  // A delivery that waits for its retry when the webhook is disabled gets nothing more either.
  await fixture.pass(6 * HOUR);
  await scene.sends(1);
  await fixture.pass(HOUR);
  expect(await scene.standing(webhookId)).toEqual(ENABLED);
  await fixture.pass(HOUR);
  expect(await scene.standing(webhookId)).toEqual(DISABLED);
  const sent = scene.posts().length;
  await scene.sends(1);

  await fixture.service.stop();
  const storage = await scene.reopen();
  const restarted = fixture.another({ storage });
  await restarted.start();
  await passFor(scene, restarted, storage, fixture.clock.now() + DAY);
  expect(scene.posts()).toHaveLength(sent);
  expect(await restarted.webhook(scene.caller, webhookId)).toMatchObject(DISABLED);

  scene.receiver.answer(answerWith(200));
  expect(await restarted.updateWebhook(scene.caller, webhookId, { enabled: true })).toMatchObject(ENABLED);
  const since = new Date(scene.began).toISOString();
  expect((await restarted.recoverWebhook(scene.caller, webhookId, { since })).body.recovered).toBe(5);
  await restarted.settled();
  expect(scene.posts()).toHaveLength(sent + 5);
  const { data } = await restarted.deliveries(scene.caller, webhookId);
  expect(data.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => "delivered"));
  await restarted.stop();
});

test("H8: enabled again it has all its time again: what was abandoned before does not count", async ({
  scene,
}) => {
  const { fixture } = scene;
  const webhookId = await scene.untilTheThird();
  await fixture.pass(DAY);
  expect(await scene.standing(webhookId)).toEqual(DISABLED);
  await fixture.service.updateWebhook(scene.caller, webhookId, { enabled: true });
  const enabledAt = fixture.clock.now();
  await scene.sends(2);
  await scene.passUntil(enabledAt + 3 * DAY);
  expect(await scene.standing(webhookId)).toEqual(ENABLED);
  // Said again of one that is enabled, it begins nothing anew.
  await fixture.service.updateWebhook(scene.caller, webhookId, { enabled: true });
  await scene.sends(1);
  await fixture.pass(DAY);
  expect(await scene.standing(webhookId)).toEqual(DISABLED);
});

test("one delivery in between begins the row and the three days anew", async ({ scene }) => {
  const { fixture } = scene;
  const webhookId = await scene.failing();
  await scene.sends(2);
  await scene.passUntil(scene.began + 2 * DAY);
  scene.receiver.answer(answerWith(200));
  await scene.sends(1);
  const deliveredAt = fixture.clock.now();
  scene.receiver.answer(answerWith(500));
  // Three in a row, but not three days.
  await scene.sends(3);
  await scene.passUntil(scene.began + 4 * DAY);
  expect(await scene.standing(webhookId)).toEqual(ENABLED);
  await scene.passUntil(deliveredAt + 3 * DAY);
  await scene.sends(1);
  await fixture.pass(DAY);
  expect(await scene.standing(webhookId)).toEqual(DISABLED);
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

interface Moment {
  readonly scene: WebhookWorld;
  readonly other: PaymentService;
  readonly webhookId: string;
  readonly disabling: PaymentWrite;
}

test.for<[string, object, (moment: Moment) => unknown]>([
  [
    "its owner turns it off and on: it keeps its time",
    { ...ENABLED, version: 3 },
    async ({ scene, other, webhookId }) => {
      await other.updateWebhook(scene.caller, webhookId, { enabled: false });
      return other.updateWebhook(scene.caller, webhookId, { enabled: true });
    },
  ],
  [
    "another process disables it: it is disabled once",
    { ...DISABLED, version: 2 },
    ({ scene, disabling }) => scene.fixture.storage.commit([{ writes: [disabling] }]),
  ],
])(
  "H8: at the very moment %s, and no attempt is made once more",
  async ([, expected, meanwhile], { scene }) => {
    const { fixture } = scene;
    await fixture.service.stop();
    const other = fixture.another();
    let webhookId = "";
    let interruptions = 0;
    const storage = interrupted(await scene.reopen(), async (disabling) => {
      interruptions += 1;
      await meanwhile({ scene, other, webhookId, disabling });
    });
    const working = fixture.another({ storage });
    await working.start();
    const run = (until: number): Promise<void> => passFor(scene, working, fixture.storage, until);
    webhookId = await scene.failing();
    for (let index = 0; index < 2; index++) await scene.sendOne();
    await run(scene.began + 3 * DAY);
    await scene.sendOne();
    await run(scene.began + 4 * DAY);
    expect(interruptions).toBe(1);
    const version = (await fixture.storage.webhook(webhookId))?.version;
    expect({ ...(await scene.standing(webhookId)), version }).toEqual(expected);
    expect(scene.posts()).toHaveLength(3 * 6);
    const { data } = await other.deliveries(scene.caller, webhookId);
    expect(data.map(({ status }) => status)).toEqual(["abandoned", "abandoned", "abandoned"]);
    await working.stop();
  },
);

test.for([
  ["never", "never"],
  ["by default only at 100", undefined],
] as const)("H8: a webhook is disabled %s: fewer leave it as it is", async ([, disableAfter], { scene }) => {
  const { fixture } = scene;
  await fixture.service.stop();
  const storage = await scene.reopen();
  const lenient = fixture.another({ storage, ...hooks(scene.receiver, disableAfter) });
  await lenient.start();
  const webhookId = await scene.failing();
  for (let index = 0; index < 3; index++) await scene.sendOne();
  await passFor(scene, lenient, storage, scene.began + 4 * DAY);
  await scene.sendOne();
  await passFor(scene, lenient, storage, scene.began + 5 * DAY);
  expect((await lenient.deliveries(scene.caller, webhookId)).data).toHaveLength(4);
  expect(await scene.standing(webhookId)).toEqual(ENABLED);
  await lenient.stop();
});

test.for<[unknown, RegExp]>([
  [{ abandoned: 0 }, /webhooks\.disableAfter\.abandoned: /],
  [{ undelivered: 1 }, /webhooks\.disableAfter: .*undelivered/],
  ["off", /webhooks\.disableAfter: expected "never"/],
])("%j as disableAfter is refused by name", ([disableAfter, message], { scene }) => {
  const wrong = hooks(scene.receiver, disableAfter as "never");
  expect(() => scene.fixture.another(wrong)).toThrow(message);
});
