/** H14, D38: one receiver that never answers, with 2,000 notices waiting for it, beside receivers that do answer. */
// modules: webhooks
import { describe, expect, test } from "vitest";
import { createEngine, startOf } from "../../../src/engine/index.ts";
import { paymentTables } from "../../../src/payments/payment-storage.ts";
import { createSecretBox } from "../../../src/payments/frame/secrets/secret-box.ts";
import { webhookDeliveryWorkflow } from "../../../src/payments/webhooks/webhook-delivery-workflow.ts";
import { OVERDUE_MS } from "../../../src/payments/frame/overdue.ts";
import { deliveryBacklog, type DeliveryBacklog } from "../../../src/payments/webhooks/delivery-backlog.ts";
import { silentLogger, systemRandom } from "../../../src/core/runtime.ts";
import { DELIVERY_DEADLINE_MS, type DeliveryClient } from "../../../src/payments/webhooks/sending/attempt.ts";
import { webhookOf } from "../../contracts/storage/samples.ts";
import { adapters, type Adapter } from "../../kit/adapters.ts";
import { drawn, sampled } from "../../kit/thorough.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";

/** Of one engine. */
const PLACES = 128;

/** Each receiver has an account of its own. */
const ownerOf = (webhookId: string): string => `owner of ${webhookId}`;

const TARPIT = "https://tarpit.example/";
const QUEUED_FOR_TARPIT = 2_000;
const NOTICES_EACH = 40;
const ANSWER_MS = 50;

const QUEUED = { status: "pending", attempts: 0, version: 1, deliveredAt: null, abandonedAt: null } as const;

/** How healthy receivers are served, in virtual milliseconds, and how much of it the tarpit took up. */
interface Served {
  /** Until the last notice was received. */
  readonly lastMs: number;
  /** Until a notice was received, on average. */
  readonly meanMs: number;
  readonly mostInTarpit: number;
  /** For how long the earliest due task has waited at most, within a minute after the healthy ones had all. */
  readonly mostOverdueMs: number;
  /** As health tells it at the end. */
  readonly backlog: readonly DeliveryBacklog[];
}

async function deliverAll({ make }: Adapter, receivers: number, queuedForTarpit: number): Promise<Served> {
  const clock = virtualClock();
  const database = await make();
  const storage = await database.open();
  const inTarpit = { now: 0, most: 0 };
  const receivedAt: number[] = [];
  let begun = 0;
  const delivery: DeliveryClient = {
    endIdle: async () => undefined,
    reach: async () => true,
    async attempt({ url }) {
      const isTarpit = url === TARPIT;
      begun += 1;
      if (isTarpit) inTarpit.most = Math.max(inTarpit.most, (inTarpit.now += 1));
      await clock.sleep(isTarpit ? DELIVERY_DEADLINE_MS : ANSWER_MS);
      if (isTarpit) inTarpit.now -= 1;
      else receivedAt.push(clock.now());
      const answer = isTarpit
        ? ({ ok: false, httpStatus: null, error: "timeout" } as const)
        : ({ ok: true, httpStatus: 200, error: null } as const);
      return { ...answer, durationMs: 0, excerpt: null, opening: null };
    },
  };
  const sealing = createSecretBox([TEST_MASTER_SECRET], systemRandom);
  const workflow = webhookDeliveryWorkflow({ storage, clock, delivery, sealing, disableAfter: "never" });
  const engine = createEngine({
    storage,
    tables: paymentTables,
    clock,
    workflows: [workflow],
    logger: silentLogger,
  });
  const createdAt = clock.now();
  const notice = {
    id: "evt_1",
    transactionId: "tx_1",
    event: "transaction.pending",
    status: "pending" as const,
  };
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
  await engine.commit({ writes: [{ table: "notices", insert: { ...notice, ...rest } }] });

  const queue = async (webhookId: string, url: string, count: number): Promise<void> => {
    const webhook = webhookOf(webhookId, { accountId: ownerOf(webhookId), url, events: [], createdAt });
    await engine.commit({ writes: [{ table: "webhooks", insert: webhook }] });
    const ids = Array.from({ length: count }, (_, index) => `${webhookId}:${index}`);
    const common = { accountId: ownerOf(webhookId), webhookId, noticeId: "evt_1", transactionId: "tx_1" };
    await engine.commit({
      starts: ids.map((id) =>
        startOf(workflow, id, {
          deliveryId: id,
          webhookId,
          noticeId: "evt_1",
          accountId: ownerOf(webhookId),
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
  // The tarpit's are the older ones: whoever served by age alone would never come to the others.
  await queue("wh_tarpit", TARPIT, queuedForTarpit);
  for (let index = 0; index < receivers; index++) {
    await queue(`wh_${index}`, `https://healthy-${index}.example/`, NOTICES_EACH);
  }

  const began = clock.now();
  engine.run();
  /** Turns the event loop until nobody begins anything any more at this moment of the clock. */
  const quiet = async (): Promise<void> => {
    for (let still = 0, seen = begun; still < 40; still = seen === begun ? still + 1 : 0, seen = begun) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  while (receivedAt.length < receivers * NOTICES_EACH) {
    await quiet();
    clock.advance(ANSWER_MS);
  }
  let mostOverdueMs = 0;
  for (let passed = 0; passed < 60_000; passed += 1_000) {
    await quiet();
    const due = (await storage.nextDue(workflow.claims)) ?? Infinity;
    mostOverdueMs = Math.max(mostOverdueMs, clock.now() - due);
    clock.advance(1_000);
  }
  const backlog = await deliveryBacklog(storage, clock.now());
  const stopped = engine.stop({ timeoutMs: 0 });
  clock.advance(DELIVERY_DEADLINE_MS);
  await stopped;
  await storage.close();
  await database.destroy();
  const waits = receivedAt.map((at) => at - began);
  return {
    lastMs: Math.max(...waits),
    meanMs: waits.reduce((sum, ms) => sum + ms, 0) / waits.length,
    mostInTarpit: inTarpit.most,
    mostOverdueMs,
    backlog,
  };
}

describe.each(drawn(adapters, "tarpit"))("on $name", (adapter) => {
  // Fewer than fill the places, as many as fill them exactly, and more.
  test.each(sampled([16, 32, 64], "receivers beside the tarpit"))(
    "H14, D38: beside the tarpit %i healthy receivers wait at most 1.25 times as long as without it, and its backlog is no delay of the service",
    { timeout: 120_000 },
    async (receivers) => {
      const without = await deliverAll(adapter, receivers, 0);
      const beside = await deliverAll(adapter, receivers, QUEUED_FOR_TARPIT);
      expect(without.mostInTarpit).toBe(0);
      expect(beside.mostInTarpit).toBe(4);
      expect(beside.mostOverdueMs).toBeLessThan(OVERDUE_MS / 10);
      // Its backlog stands beside the health of the service, under its account.
      expect(without.backlog).toEqual([]);
      const waited = expect.any(Number) as number;
      expect(beside.backlog).toEqual([{ accountId: ownerOf("wh_tarpit"), waiting: 1_000, oldestMs: waited }]);
      expect(beside.backlog[0]?.oldestMs).toBeGreaterThan(60_000);
      // At most so many at once, 50 ms each: with less than this something else than deliveries was measured.
      expect(without.lastMs).toBeGreaterThanOrEqual((receivers * NOTICES_EACH * ANSWER_MS) / PLACES);
      expect(beside.meanMs).toBeLessThanOrEqual(1.25 * without.meanMs);
      // Where places are short the oldest notices go first, and the four that the tarpit holds are missing at the end.
      expect(beside.lastMs / without.lastMs).toBeLessThanOrEqual(receivers < 16 ? 1 : 2);
    },
  );
});
