/** How much one receiver that never answers, with 2,000 notices waiting for it, slows the others: H14. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStorage } from "../kit/storages.ts";
import { createEngine, startOf } from "../../src/engine/index.ts";
import { paymentTables } from "../../src/payments/tables.ts";
import { createSecretBox } from "../../src/payments/secrets/secret-box.ts";
import { webhookDeliveryWorkflow } from "../../src/payments/webhooks/webhook-delivery-workflow.ts";
import { systemClock, systemRandom } from "../../src/runtime.ts";
import { createDeliveryClient } from "../../src/payments/webhooks/sending/attempt.ts";
import { webhookOf } from "../contracts/storage/samples.ts";
import { startHttpsReceiver, type HttpsReceiver } from "../kit/https-receiver.ts";
import { issueLoopbackCertificate } from "../kit/loopback-certificate.ts";
import { TEST_MASTER_SECRET } from "../kit/service-fixture.ts";
import { timed, type Report } from "./figures.ts";

const QUEUED = { status: "pending", attempts: 0, runs: 1, deliveredAt: null, abandonedAt: null } as const;
const QUEUED_FOR_TARPIT = 2_000;
const HEALTHY = 8;
const NOTICES_EACH = 100;
// Rounds alternate, so that a machine that gets slower meanwhile slows both alike.
const ROUNDS = 3;

/** Deliveries per second to healthy receivers alone and beside a tarpit, and the factor between the two. */
export async function benchTarpit(report: Report): Promise<void> {
  const certificate = await issueLoopbackCertificate();
  const receiver = await startHttpsReceiver({ certificate });
  // Takes every request and never answers; each attempt ends at its deadline of ten seconds.
  const tarpit = await startHttpsReceiver({ certificate, script: () => {} });
  try {
    const alone: number[] = [];
    const beside: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      alone.push(await deliverySeconds(receiver, tarpit, 0));
      beside.push(await deliverySeconds(receiver, tarpit, QUEUED_FOR_TARPIT));
    }
    const notices = HEALTHY * NOTICES_EACH;
    const [without, along] = [Math.min(...alone), Math.min(...beside)];
    report({ name: "tarpit absent", perSecond: notices / without });
    report({ name: "tarpit present", perSecond: notices / along, "times as long": along / without });
  } finally {
    await receiver.close();
    await tarpit.close();
  }
}

async function deliverySeconds(
  receiver: HttpsReceiver,
  tarpit: HttpsReceiver,
  queuedForTarpit: number,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const storage = await sqliteStorage(join(folder, "tarpit.db"));
  const allowAddress = (ip: string): boolean => ip === "127.0.0.1";
  const delivery = createDeliveryClient({ clock: systemClock, ca: receiver.ca, allowAddress });
  const sealing = createSecretBox([TEST_MASTER_SECRET], systemRandom);
  const workflow = webhookDeliveryWorkflow({
    storage,
    clock: systemClock,
    delivery,
    sealing,
    disableAfter: "never",
  });
  const engine = createEngine({ storage, tables: paymentTables, workflows: [workflow] });
  const createdAt = systemClock.now();
  const unknown = { reason: null, signature: null, blockTime: null, fee: null };
  const about = { transactionId: "tx_1", event: "transaction.pending", status: "pending" as const };
  const notice = {
    id: "evt_1",
    ...about,
    ...unknown,
    body: JSON.stringify(about),
    webhooks: null,
    createdAt,
  };
  await engine.commit({ writes: [{ table: "notices", insert: notice }] });

  const queue = async (webhookId: string, url: string, count: number): Promise<void> => {
    const webhook = webhookOf(webhookId, { accountId: webhookId, url, events: [], createdAt });
    await engine.commit({ writes: [{ table: "webhooks", insert: webhook }] });
    const ids = Array.from({ length: count }, (_, index) => `${webhookId}:${index}`);
    const common = { accountId: webhookId, webhookId, noticeId: "evt_1", transactionId: "tx_1" };
    await engine.commit({
      starts: ids.map((id) =>
        startOf(workflow, id, {
          deliveryId: id,
          webhookId,
          noticeId: "evt_1",
          accountId: webhookId,
          follows: null,
          pausesMs: [],
        }),
      ),
      writes: ids.map((id) => ({
        table: "deliveries" as const,
        insert: { id, ...common, ...QUEUED, createdAt },
      })),
    });
  };
  await queue("wh_tarpit", tarpit.url, queuedForTarpit);
  for (let index = 0; index < HEALTHY; index++) await queue(`wh_${index}`, receiver.url, NOTICES_EACH);

  const left = { count: HEALTHY * NOTICES_EACH };
  const delivered = new Promise<void>((resolve) => {
    engine.subscribe(({ commit: { step } }) => {
      if (step?.status !== "done" || step.id.startsWith("wh_tarpit")) return;
      left.count -= 1;
      if (left.count === 0) resolve();
    });
  });
  const { seconds } = await timed(async () => {
    engine.run();
    await delivered;
  });
  await engine.stop({ timeoutMs: 0 });
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
  return seconds;
}
