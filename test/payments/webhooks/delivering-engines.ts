/** Engines that deliver over one database to receivers made of code: each answers, fails, or keeps its place until the deadline. */
// modules: webhooks
import { createEngine, startOf, type Engine } from "../../../src/engine/index.ts";
import { type PaymentTables, paymentTables } from "../../../src/payments/payment-storage.ts";
import type { WebhookRecord } from "../../../src/payments/webhooks/tables.ts";
import { createSecretBox } from "../../../src/payments/frame/secrets/secret-box.ts";
import { DELIVERY_DEADLINE_MS, type DeliveryClient } from "../../../src/payments/webhooks/sending/attempt.ts";
import { webhookDeliveryWorkflow } from "../../../src/payments/webhooks/webhook-delivery-workflow.ts";
import { silentLogger, systemRandom } from "../../../src/core/runtime.ts";
import { webhookOf } from "../../contracts/storage/samples.ts";
import type { Adapter } from "../../kit/adapters.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import { type VirtualClock, virtualClock } from "../../kit/virtual-clock.ts";

/** What a receiver does with an attempt. */
export type Manner = "answers" | "resets" | "times_out";

/** An answer takes this long. */
export const ANSWER_MS = 50;

const TAKES_MS: Readonly<Record<Manner, number>> = {
  answers: ANSWER_MS,
  resets: 5,
  times_out: DELIVERY_DEADLINE_MS,
};

const QUEUED = { status: "pending", attempts: 0, version: 1, deliveredAt: null, abandonedAt: null } as const;
const NOTICE = { id: "evt_1", transactionId: "tx_1", event: "transaction.pending" } as const;

/** Turns of the event loop in which nothing begins: then nothing will until the clock is turned. */
const STILL_TURNS = 60;

/** Engines at work on one database. */
export interface DeliveringEngines {
  readonly clock: VirtualClock;
  /** When each attempt for a webhook began. */
  begunAt(webhookId: string): readonly number[];
  /** The attempts in flight now, in all engines: of these webhooks. */
  inFlight(of: (webhookId: string) => boolean): number;
  /** Stores a webhook of this account, told apart by its id. */
  register(webhookId: string, accountId: string): Promise<void>;
  /** Writes these fields of a webhook. */
  change(webhookId: string, set: Partial<WebhookRecord>): Promise<void>;
  /** From now on it does this. Default: it answers. */
  behave(webhookId: string, manner: Manner): void;
  /** Queues so many notices for a webhook. */
  queue(webhookId: string, count: number): Promise<void>;
  /** Turns the event loop until nothing begins any more at this moment of the clock. */
  quiet(): Promise<void>;
  /** Turns the clock by so much, in steps. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** Begins so many engines, each with a handle of its own on the database. */
export async function deliveringEngines(adapter: Adapter, count: number): Promise<DeliveringEngines> {
  const database = await adapter.make();
  const clock = virtualClock();
  const begun = new Map<string, number[]>();
  const flying = new Map<string, number>();
  const manners = new Map<string, Manner>();
  const accounts = new Map<string, string>();
  let begins = 0;
  let queued = 0;
  const delivery: DeliveryClient = {
    endIdle: async () => undefined,
    reach: async () => true,
    async attempt({ url }) {
      const webhookId = new URL(url).hostname;
      const manner = manners.get(webhookId) ?? "answers";
      begins += 1;
      begun.set(webhookId, [...(begun.get(webhookId) ?? []), clock.now()]);
      flying.set(webhookId, (flying.get(webhookId) ?? 0) + 1);
      await clock.sleep(TAKES_MS[manner]);
      flying.set(webhookId, (flying.get(webhookId) ?? 0) - 1);
      const rest = { durationMs: TAKES_MS[manner], excerpt: null, opening: null };
      if (manner === "answers") return { ok: true, httpStatus: 200, error: null, ...rest };
      return { ok: false, httpStatus: null, error: manner === "resets" ? "reset" : "timeout", ...rest };
    },
  };
  const sealing = createSecretBox([TEST_MASTER_SECRET], systemRandom);
  const storages = await Promise.all(Array.from({ length: count }, () => database.open()));
  const engines = storages.map((storage) => {
    const workflow = webhookDeliveryWorkflow({ storage, clock, delivery, sealing, disableAfter: "never" });
    const engine: Engine<PaymentTables> = createEngine({
      storage,
      tables: paymentTables,
      clock,
      workflows: [workflow],
      logger: silentLogger,
    });
    return { engine, workflow };
  });
  const [first] = engines;
  if (first === undefined) throw new Error("no engine");
  const { engine, workflow } = first;
  const createdAt = clock.now();
  const rest = {
    reason: null,
    signature: null,
    blockTime: null,
    fee: null,
    body: "{}",
    received: null,
    remaining: null,
    createdAt,
  };
  const insert = { ...NOTICE, status: "pending" as const, ...rest };
  await engine.commit({ writes: [{ table: "notices", insert }] });
  for (const each of engines) each.engine.run();

  const quiet = async (): Promise<void> => {
    for (
      let still = 0, seen = begins;
      still < STILL_TURNS;
      still = seen === begins ? still + 1 : 0, seen = begins
    ) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const pass = async (ms: number): Promise<void> => {
    const end = clock.now() + ms;
    while (clock.now() < end) {
      await quiet();
      clock.set(Math.min(end, clock.now() + ANSWER_MS));
    }
    await quiet();
  };
  return {
    clock,
    quiet,
    pass,
    begunAt: (webhookId) => begun.get(webhookId) ?? [],
    inFlight: (of) => [...flying].reduce((sum, [id, now]) => sum + (of(id) ? now : 0), 0),
    async register(webhookId, accountId) {
      accounts.set(webhookId, accountId);
      const url = `https://${webhookId}/`;
      const webhook = webhookOf(webhookId, { accountId, url, events: [], createdAt });
      await engine.commit({ writes: [{ table: "webhooks", insert: webhook }] });
    },
    async change(webhookId, set) {
      await engine.commit({ writes: [{ table: "webhooks", id: webhookId, set }] });
    },
    behave: (webhookId, manner) => void manners.set(webhookId, manner),
    async queue(webhookId, notices) {
      const accountId = accounts.get(webhookId) ?? "";
      const about = { webhookId, accountId, noticeId: NOTICE.id };
      const ids = Array.from({ length: notices }, () => `d${(queued += 1)}`);
      await engine.commit({
        starts: ids.map((id) =>
          startOf(workflow, id, { deliveryId: id, ...about, follows: null, pausesMs: [60_000] }),
        ),
        writes: ids.map((id) => ({
          table: "deliveries" as const,
          insert: { id, ...about, transactionId: NOTICE.transactionId, ...QUEUED, createdAt },
        })),
      });
    },
    async close() {
      const stopped = engines.map((each) => each.engine.stop({ timeoutMs: 0 }));
      clock.advance(DELIVERY_DEADLINE_MS);
      await Promise.all(stopped);
      for (const storage of storages) await storage.close();
      await database.destroy();
    },
  };
}
