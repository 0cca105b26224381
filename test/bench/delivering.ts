/** An engine that delivers to real receivers, in a folder of its own: webhooks, and notices as transactions announce them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setup } from "xstate";
import type { AnnounceParams } from "../../machines/wallet-transfer.ts";
import { createEngine, startOf, workflow, type Engine } from "../../src/engine/index.ts";
import { assetsWith, MAINNET_STABLECOINS } from "../../src/payments/assets/assets.ts";
import { derivedId, newId } from "../../src/payments/ids.ts";
import { noticeWrites, type ShownTransaction } from "../../src/payments/notice-writes.ts";
import { type PaymentTables, paymentTables } from "../../src/payments/tables.ts";
import type { RecipientRecord, TransactionRecord } from "../../src/payments/tables/orders.ts";
import { createSecretBox } from "../../src/payments/secrets/secret-box.ts";
import { announceEffect } from "../../src/payments/webhooks/announce.ts";
import { createDeliveryClient } from "../../src/payments/webhooks/sending/attempt.ts";
import {
  webhookDeliveryWorkflow,
  type WebhookDeliveryWorkflow,
} from "../../src/payments/webhooks/webhook-delivery-workflow.ts";
import { sealedSecret } from "../../src/payments/webhooks/webhook-secret.ts";
import { silentLogger, systemClock, systemRandom } from "../../src/runtime.ts";
import { fullRows } from "../contracts/storage/rows.ts";
import { webhookOf } from "../contracts/storage/samples.ts";
import { TEST_MASTER_SECRET } from "../kit/service-fixture.ts";
import { sqliteStorage } from "../kit/storages.ts";

const COMPLETED = {
  status: "completed",
  reason: null,
  signature: "5".repeat(88),
  blockTime: 1_801_396_800,
  fee: 5_000n,
} as const satisfies ShownTransaction;

/** All that a transaction does to its webhooks: it announces that it is completed. */
const completedTransaction = setup({
  actions: { announce: (_, _params: AnnounceParams) => {} },
}).createMachine({
  id: "completed-transaction",
  entry: { type: "announce", params: { notice: "transaction.completed" } },
});

/** A webhook to deliver to. */
export interface BenchedWebhook {
  readonly id: string;
  readonly accountId: string;
  readonly url: string;
}

/** An engine at work. */
export interface Delivering {
  readonly engine: Engine<PaymentTables>;
  readonly deliveries: WebhookDeliveryWorkflow;
  /** Stores webhooks, each with a secret. */
  register(webhooks: readonly BenchedWebhook[]): Promise<void>;
  /** Commits a transaction of this account as completed, with its notice. Resolves once that is durable, with the notice's id. */
  complete(accountId: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startDelivering(ca: string): Promise<Delivering> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const storage = await sqliteStorage(join(folder, "deliver.db"));
  const sealing = createSecretBox([TEST_MASTER_SECRET], systemRandom);
  const clock = systemClock;
  const delivery = createDeliveryClient({ clock, ca, allowAddress: (ip) => ip === "127.0.0.1" });
  const deliveries = webhookDeliveryWorkflow({ storage, clock, delivery, sealing, disableAfter: "never" });
  const assets = assetsWith(MAINNET_STABLECOINS);
  const transactions = workflow(completedTransaction)<PaymentTables>({
    version: 1,
    effects: { announce: announceEffect({ storage, clock, assets, deliveries }) },
    project: ({ id, effects }, at) => noticeWrites(id, COMPLETED, { effects, at }),
  });
  const workflows = [transactions, deliveries];
  const engine = createEngine({ storage, tables: paymentTables, workflows, logger: silentLogger });
  engine.run();
  return {
    engine,
    deliveries,
    async register(webhooks) {
      await engine.commit({
        writes: webhooks.map(({ url, ...owned }) => {
          const changes = { url, accountId: owned.accountId, createdAt: clock.now() };
          const sealed = { sealedSecret: sealedSecret(sealing, owned, `the secret of ${owned.id}`) };
          return { table: "webhooks" as const, insert: webhookOf(owned.id, { ...changes, ...sealed }) };
        }),
      });
    },
    async complete(accountId) {
      const id = newId("tx", clock.now(), systemRandom);
      const { transaction, recipient } = rowsOf(id, accountId);
      const committed = await engine.commit({
        starts: [startOf(transactions, id, undefined)],
        writes: [
          { table: "transactions", insert: transaction },
          { table: "recipients", insert: recipient },
        ],
      });
      if (!committed.ok) throw new Error(`not committed: ${JSON.stringify(committed)}`);
      return derivedId("evt", id, "transaction.completed");
    },
    async stop() {
      await engine.stop({ timeoutMs: 0 });
      await delivery.endIdle();
      await storage.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function rowsOf(
  id: string,
  accountId: string,
): { readonly transaction: TransactionRecord; readonly recipient: RecipientRecord } {
  const createdAt = systemClock.now();
  const mint = MAINNET_STABLECOINS.USDC;
  const transaction = { ...fullRows.transactions, id, accountId, createdAt, ...COMPLETED, mint };
  const recipient = { ...fullRows.recipients, id: `${id}:0`, transactionId: id, accountId, createdAt };
  return { transaction: { ...transaction, feeMint: mint, depositAddress: null }, recipient };
}
