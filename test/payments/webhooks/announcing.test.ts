/** Two processes that announce notices of one transaction at once. */
import { expect, test } from "vitest";
import { SOL_MINT } from "../../../src/address.ts";
import { memoryStorage } from "../../../storage/memory.ts";
import { assetsWith, MAINNET_STABLECOINS } from "../../../src/payments/assets/assets.ts";
import { paymentStorage } from "../../../src/payments/reads.ts";
import type { PaymentWrite } from "../../../src/payments/payment-storage.ts";
import { createSealing } from "../../../src/payments/secrets/sealing.ts";
import { announceEffect } from "../../../src/payments/webhooks/announce.ts";
import { deliveryIdOf, firstRun } from "../../../src/payments/webhooks/delivery-runs.ts";
import { createDelivery } from "../../../src/payments/webhooks/sending/attempt.ts";
import { webhookDeliveryWorkflow } from "../../../src/payments/webhooks/webhook-delivery-workflow.ts";
import { systemRandom } from "../../../src/runtime.ts";
import { fullRows } from "../../contracts/storage/rows.ts";
import { webhookOf } from "../../contracts/storage/samples.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";

test("a notice waits for the one before it, also where another process announces that one meanwhile", async () => {
  const clock = virtualClock();
  const storage = paymentStorage(memoryStorage());
  const sealing = createSealing([TEST_MASTER_SECRET], systemRandom);
  const delivery = createDelivery({ clock });
  const deliveries = webhookDeliveryWorkflow({ storage, clock, delivery, sealing, disableAfter: "never" });
  const { id: transactionId, accountId } = fullRows.transactions;
  const createdAt = clock.now();
  const { USDC } = MAINNET_STABLECOINS;
  const events = ["transaction.pending", "transaction.confirmed"];
  const webhook = webhookOf("wh_1", { accountId, url: "https://hooks.example/", events, createdAt });
  const noticeOf = (id: string, event: string) => ({
    ...fullRows.notices,
    id,
    event,
    transactionId,
    body: null,
    createdAt,
  });
  const first = noticeOf("evt_1", "transaction.pending");
  const second = noticeOf("evt_2", "transaction.confirmed");
  const inserts: PaymentWrite[] = [
    { table: "transactions", insert: { ...fullRows.transactions, mint: USDC, feeMint: SOL_MINT } },
    { table: "webhooks", insert: webhook },
    { table: "notices", insert: first },
    { table: "notices", insert: second },
  ];
  await storage.commit([{ writes: inserts }]);

  const { write } = firstRun(deliveries, { notice: first, webhook, follows: null });
  let reading: Promise<unknown> | null = null;
  const racing = {
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
  };
  const announce = announceEffect({
    storage: racing,
    clock,
    assets: assetsWith(MAINNET_STABLECOINS),
    deliveries,
  });
  const outcome = await announce(
    { notice: "transaction.confirmed" },
    {
      key: "announce",
      instance: transactionId,
      signal: new AbortController().signal,
      dueAt: createdAt,
      crashes: 0,
      failures: 0,
    },
  );
  expect(outcome?.starts).toMatchObject([
    { id: deliveryIdOf(second, webhook), input: { follows: deliveryIdOf(first, webhook) } },
  ]);
});
