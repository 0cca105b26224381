/** Notices that a task announces, behind their step: beside another process, and by clocks that differ. */
// modules: with-step, webhooks
import { expect, test } from "vitest";
import { SOL_MINT } from "../../../src/core/address.ts";
import { memoryStorage } from "../../kit/storages.ts";
import { assetsWith, MAINNET_STABLECOINS } from "../../../src/payments/frame/assets/assets.ts";
import type { PaymentStorage, PaymentWrite } from "../../../src/payments/payment-storage.ts";
import { createSecretBox } from "../../../src/payments/frame/secrets/secret-box.ts";
import { announceEffect } from "../../../src/payments/webhooks/announce-effect.ts";
import { deliveryIdOf, firstRun } from "../../../src/payments/webhooks/delivery-runs.ts";
import { createDeliveryClient } from "../../../src/payments/webhooks/sending/attempt.ts";
import { webhookDeliveryWorkflow } from "../../../src/payments/webhooks/webhook-delivery-workflow.ts";
import { systemRandom } from "../../../src/core/runtime.ts";
import { fullRows } from "../../contracts/storage/rows.ts";
import { webhookOf } from "../../contracts/storage/samples.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";

const { USDC } = MAINNET_STABLECOINS;
const SKEW_MS = 60_000;

/** Two notices of one transaction whose steps have not announced them, and a webhook registered so much later. */
async function unannounced(laterMs: number) {
  const clock = virtualClock();
  const storage = await memoryStorage();
  const sealing = createSecretBox([TEST_MASTER_SECRET], systemRandom);
  const delivery = createDeliveryClient({ clock });
  const deliveries = webhookDeliveryWorkflow({ storage, clock, delivery, sealing, disableAfter: "never" });
  const { id: instance, accountId } = fullRows.transactions;
  const now = clock.now();
  const events = ["transaction.pending", "transaction.confirmed", "transaction.completed"];
  const createdAt = now + laterMs;
  const webhook = webhookOf("wh_1", { accountId, url: "https://hooks.example/", events, createdAt });
  const noticeOf = (id: string, event: string) => {
    return { ...fullRows.notices, id, event, transactionId: instance, body: null, createdAt: now };
  };
  const first = noticeOf("evt_1", "transaction.pending");
  const second = noticeOf("evt_2", "transaction.confirmed");
  const inserts: PaymentWrite[] = [
    {
      table: "transactions",
      insert: { ...fullRows.transactions, inputMint: USDC, outputMint: USDC, feeMint: SOL_MINT },
    },
    { table: "webhooks", insert: webhook },
    { table: "notices", insert: first },
    { table: "notices", insert: second },
  ];
  await storage.commit([{ writes: inserts }]);
  const run = { key: "announce", instance, dueAt: now, crashes: 0, failures: 0 };
  const { signal } = new AbortController();
  const effect = { clock, assets: assetsWith(MAINNET_STABLECOINS), deliveries };
  const third = noticeOf("evt_3", "transaction.completed");
  return {
    storage,
    deliveries,
    first,
    second,
    third,
    webhook,
    /** What the commit of the step holds that has the third notice. */
    step: () =>
      announceEffect({ ...effect, storage }).withStep?.({
        instance,
        asked: [{ notice: "transaction.completed" }],
        writes: [{ table: "notices", insert: third }],
        companions: [],
      }),
    announce: (reading: PaymentStorage) =>
      announceEffect({ ...effect, storage: reading }).run(
        { notice: "transaction.confirmed" },
        { ...run, signal },
      ),
  };
}

test("a notice waits for the one before it, also where another process announces that one meanwhile", async () => {
  const { storage, deliveries, first, second, webhook, announce } = await unannounced(0);
  const { write } = firstRun(deliveries, { notice: first, webhook, follows: null });
  let reading: Promise<unknown> | null = null;
  const outcome = await announce({
    ...storage,
    deliveries(id: string) {
      const deliveriesOfNow = storage.deliveries(id);
      reading = deliveriesOfNow;
      return deliveriesOfNow;
    },
    async notices(id: string) {
      // The other process commits in the middle of our reads: behind all that are begun together with this one.
      await Promise.resolve();
      await reading;
      await storage.commit([{ writes: [{ table: "notices", id: first.id, set: { body: "{}" } }, write] }]);
      return storage.notices(id);
    },
  });
  expect(outcome?.starts).toMatchObject([
    { id: deliveryIdOf(second, webhook), input: { follows: deliveryIdOf(first, webhook) } },
  ]);
});

test.each([
  ["misses nothing of a process whose clock is a minute behind", SKEW_MS, 2],
  ["hears nothing from before it was registered, clocks a minute apart", SKEW_MS + 1, 0],
] as const)("D10: a webhook %s", async (_, laterMs, told) => {
  const { storage, announce } = await unannounced(laterMs);
  expect((await announce(storage))?.starts).toHaveLength(told);
});

test("H7: a step begins what a step before it has left, in the order of their notices", async () => {
  const { storage, deliveries, first, second, third, webhook, step } = await unannounced(0);
  const begun = firstRun(deliveries, { notice: first, webhook, follows: null });
  const told: PaymentWrite = { table: "notices", id: first.id, set: { body: "{}" } };
  await storage.commit([{ writes: [told, begun.write] }]);
  expect(await step()).toMatchObject({
    isWhole: true,
    starts: [
      { id: deliveryIdOf(second, webhook), input: { follows: deliveryIdOf(first, webhook) } },
      { id: deliveryIdOf(third, webhook), input: { follows: deliveryIdOf(second, webhook) } },
    ],
  });
});

test("H7: a notice that is announced begins no delivery again, and none for a webhook that came later", async () => {
  const { storage, first, second, third, webhook, step } = await unannounced(0);
  const told = [first, second].map(({ id }): PaymentWrite => ({ table: "notices", id, set: { body: "{}" } }));
  await storage.commit([{ writes: told }]);
  expect((await step())?.starts).toMatchObject([
    { id: deliveryIdOf(third, webhook), input: { follows: null } },
  ]);
});

test("Q8: a notice beside the status waits for none, and a later one of the status not for it", async () => {
  const { storage, first, second, third, webhook, step } = await unannounced(0);
  const beside = "transaction.deposit_received";
  await storage.commit([
    {
      writes: [
        { table: "notices", id: second.id, set: { event: beside } },
        { table: "webhooks", id: webhook.id, set: { events: [...webhook.events, beside] } },
      ],
    },
  ]);
  expect((await step())?.starts).toMatchObject([
    { id: deliveryIdOf(first, webhook), input: { follows: null } },
    { id: deliveryIdOf(third, webhook), input: { follows: deliveryIdOf(first, webhook) } },
    { id: deliveryIdOf(second, webhook), input: { follows: null } },
  ]);
});

test.each([
  ["waits for one that was not attempted yet", {}, true],
  ["does not wait for one whose first attempt has failed", { attempts: 1 }, false],
  ["does not wait for one that has ended", { status: "dropped" as const }, false],
])("H7: a delivery %s", async (_, set, isWaiting) => {
  const { storage, deliveries, first, second, third, webhook, step } = await unannounced(0);
  const told = { body: "{}" };
  const begun = [first, second].map((notice) => firstRun(deliveries, { notice, webhook, follows: null }));
  await storage.commit([
    {
      writes: [
        { table: "notices", id: first.id, set: told },
        { table: "notices", id: second.id, set: told },
        ...begun.map(({ write }) => write),
        { table: "deliveries", id: deliveryIdOf(second, webhook), set },
      ],
    },
  ]);
  const follows = isWaiting ? deliveryIdOf(second, webhook) : null;
  expect(await step()).toMatchObject({ starts: [{ id: deliveryIdOf(third, webhook), input: { follows } }] });
});

test("H31: a step that announces what steps before it have left tells it to none that came later", async () => {
  const { third, webhook, step } = await unannounced(SKEW_MS + 1);
  expect((await step())?.starts).toMatchObject([
    { id: deliveryIdOf(third, webhook), input: { follows: null } },
  ]);
});

test.each([
  ["for the first time", 0],
  ["once more", 1],
] as const)(
  "H7: a step waits for a notice before it that is sent %s as its webhook has asked",
  async (_, times) => {
    const { storage, deliveries, first, second, webhook, step } = await unannounced(0);
    const { write } = firstRun(deliveries, { notice: first, webhook, follows: null });
    const id = deliveryIdOf(first, webhook);
    const asked = Array.from({ length: times }, (): PaymentWrite => {
      return { table: "deliveries", id, set: { status: "pending" } };
    });
    const nobody: PaymentWrite = { table: "notices", id: first.id, set: { body: "{}" } };
    await storage.commit([{ writes: [nobody, write, ...asked] }]);
    const [begun] = (await step())?.starts ?? [];
    expect(begun).toMatchObject({
      id: deliveryIdOf(second, webhook),
      input: { follows: id },
    });
  },
);
