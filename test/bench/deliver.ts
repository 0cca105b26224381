/** Durable webhook deliveries per second, receiver included, beside bare requests posting the same bodies. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStorage } from "../kit/storages.ts";
import { createEngine, startOf } from "../../src/engine/index.ts";
import { paymentTables } from "../../src/payments/tables.ts";
import { createSealing } from "../../src/payments/secrets/sealing.ts";
import { webhookDeliveryWorkflow } from "../../src/payments/webhooks/webhook-delivery-workflow.ts";
import { systemClock, systemRandom } from "../../src/runtime.ts";
import { createDelivery } from "../../src/payments/webhooks/sending/attempt.ts";
import { webhookOf } from "../contracts/storage/samples.ts";
import { startHttpsReceiver } from "../kit/https-receiver.ts";
import { TEST_MASTER_SECRET } from "../kit/service-fixture.ts";
import { inParallel, timed, type Report } from "./figures.ts";

const DELIVERIES = 1_500;
const AT_ONCE = 64;
const WEBHOOKS = 16;
const BODY = JSON.stringify({ event: "transaction.completed", filler: "x".repeat(400) });

/** Both keep their connections, as ours always do; the receiver runs in the same process. */
export async function benchDeliver(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const receiver = await startHttpsReceiver();
  const delivery = createDelivery({
    clock: systemClock,
    ca: receiver.ca,
    allowAddress: (ip) => ip === "127.0.0.1",
  });
  const storage = await sqliteStorage(join(folder, "deliver.db"));
  const sealing = createSealing([TEST_MASTER_SECRET], systemRandom);
  const deliveries = webhookDeliveryWorkflow({
    storage,
    clock: systemClock,
    delivery,
    sealing,
    disableAfter: "never",
  });
  const engine = createEngine({ storage, tables: paymentTables, workflows: [deliveries] });
  try {
    const bare = await timed(() =>
      inParallel(DELIVERIES, AT_ONCE, async () => {
        await delivery.attempt({ url: receiver.url, body: BODY, headers: {} });
      }),
    );
    report({ name: "deliver bare attempts", perSecond: DELIVERIES / bare.seconds });

    const now = systemClock.now();
    await engine.commit({
      writes: [
        {
          table: "notices",
          insert: {
            id: "evt_bench",
            transactionId: "tx_bench",
            event: "transaction.completed",
            status: "completed",
            reason: null,
            signature: null,
            blockTime: null,
            fee: null,
            body: BODY,
            createdAt: now,
          },
        },
        ...Array.from({ length: WEBHOOKS }, (_, index) => ({
          table: "webhooks" as const,
          insert: webhookOf(`wh_${index}`, {
            accountId: `acct_${index}`,
            url: receiver.url,
            createdAt: now,
          }),
        })),
      ],
    });
    const left = { count: DELIVERIES };
    const ended = new Promise<void>((resolve) => {
      engine.subscribe(({ commit: { step } }) => {
        if (step?.status !== "done") return;
        left.count -= 1;
        if (left.count === 0) resolve();
      });
    });
    engine.run();
    const durable = await timed(async () => {
      await inParallel(DELIVERIES, AT_ONCE, async (index) => {
        const id = `dlv_${index}`;
        const webhookId = `wh_${index % WEBHOOKS}`;
        await engine.commit({
          starts: [
            startOf(deliveries, id, {
              deliveryId: id,
              webhookId,
              noticeId: "evt_bench",
              accountId: webhookId,
              follows: null,
              pausesMs: [],
            }),
          ],
          writes: [
            {
              table: "deliveries",
              insert: {
                id,
                accountId: webhookId,
                webhookId,
                noticeId: "evt_bench",
                transactionId: "tx_bench",
                status: "pending",
                attempts: 0,
                runs: 1,
                deliveredAt: null,
                abandonedAt: null,
                createdAt: now,
              },
            },
          ],
        });
      });
      await ended;
    });
    const perSecond = DELIVERIES / durable.seconds;
    report({ name: "deliver durable", perSecond, "of bare": perSecond / (DELIVERIES / bare.seconds) });
  } finally {
    await engine.stop();
    await storage.close();
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
