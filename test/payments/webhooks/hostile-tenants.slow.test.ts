/** H25: receivers of hostile tenants on real sockets, in every manner that means harm, beside an honest tenant's. */
// modules: webhooks
import { afterEach, expect, test } from "vitest";
import { createEngine, startOf, type Engine } from "../../../src/engine/index.ts";
import { type PaymentTables, paymentTables } from "../../../src/payments/payment-storage.ts";
import { createSecretBox } from "../../../src/payments/frame/secrets/secret-box.ts";
import {
  createDeliveryClient,
  DELIVERY_DEADLINE_MS,
  type DeliveryClient,
} from "../../../src/payments/webhooks/sending/attempt.ts";
import { webhookDeliveryWorkflow } from "../../../src/payments/webhooks/webhook-delivery-workflow.ts";
import { silentLogger, systemRandom } from "../../../src/core/runtime.ts";
import { webhookOf } from "../../contracts/storage/samples.ts";
import {
  HOSTILE_MANNERS,
  KEEPING_MANNERS,
  startHostileReceivers,
  type HostileManner,
} from "../../kit/hostile-receivers.ts";
import { startHttpsReceiver } from "../../kit/https-receiver.ts";
import { issueLoopbackCertificate } from "../../kit/loopback-certificate.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import { memoryStorage } from "../../kit/storages.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";

const ACCOUNTS = 8;
const WEBHOOKS_EACH = 16;
const NOTICES_EACH = 2;
const HONEST_NOTICES = 5;
/** Eight accounts that keep what they get have eight places each. */
const KEPT_PLACES = 64;

const QUEUED = { status: "pending", attempts: 0, version: 1, deliveredAt: null, abandonedAt: null } as const;
const ABOUT = { transactionId: "tx_1", event: "transaction.pending", status: "pending" } as const;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Counts the attempts that keep their place, and tells when there are so many. */
class CountedDelivery implements DeliveryClient {
  readonly #delivery: DeliveryClient;
  #kept = 0;
  #most = 0;
  readonly full: Promise<void>;
  #tellFull: () => void = () => {};

  constructor(delivery: DeliveryClient) {
    this.#delivery = delivery;
    this.full = new Promise((resolve) => (this.#tellFull = resolve));
  }

  /** The most at once. */
  get most(): number {
    return this.#most;
  }

  async attempt(...[request]: Parameters<DeliveryClient["attempt"]>): ReturnType<DeliveryClient["attempt"]> {
    const manner = new URL(request.url).pathname.split("/")[1] as HostileManner;
    if (!KEEPING_MANNERS.has(manner)) return this.#delivery.attempt(request);
    this.#kept += 1;
    this.#most = Math.max(this.#most, this.#kept);
    if (this.#kept === KEPT_PLACES) this.#tellFull();
    return this.#delivery.attempt(request).finally(() => (this.#kept -= 1));
  }

  reach(url: string): Promise<boolean> {
    return this.#delivery.reach(url);
  }

  endIdle(): Promise<void> {
    return this.#delivery.endIdle();
  }
}

/** Everything on the virtual clock, which stands still, but the sockets. */
async function hostileWorld() {
  const certificate = await issueLoopbackCertificate();
  const hostile = await startHostileReceivers(certificate);
  closing.push(() => hostile.close());
  const honest = await startHttpsReceiver({ certificate });
  closing.push(() => honest.close());
  const clock = virtualClock();
  const storage = await memoryStorage();
  const allowAddress = (ip: string): boolean => ip === "127.0.0.1";
  const delivery = new CountedDelivery(createDeliveryClient({ clock, ca: certificate.ca, allowAddress }));
  const sealing = createSecretBox([TEST_MASTER_SECRET], systemRandom);
  const workflow = webhookDeliveryWorkflow({ storage, clock, delivery, sealing, disableAfter: "never" });
  const engine: Engine<PaymentTables> = createEngine({
    storage,
    tables: paymentTables,
    clock,
    workflows: [workflow],
    logger: silentLogger,
  });
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
  await engine.commit({ writes: [{ table: "notices", insert: { id: "evt_1", ...ABOUT, ...rest } }] });
  closing.push(async () => {
    const stopped = engine.stop({ timeoutMs: 0 });
    clock.advance(DELIVERY_DEADLINE_MS);
    await stopped;
    await delivery.endIdle();
  });

  const queue = async (webhookId: string, accountId: string, count: number): Promise<void> => {
    const about = { webhookId, accountId, noticeId: "evt_1" };
    const ids = Array.from({ length: count }, (_, index) => `dlv_${webhookId}_${index}`);
    await engine.commit({
      starts: ids.map((id) =>
        startOf(workflow, id, { deliveryId: id, ...about, follows: null, pausesMs: [60_000] }),
      ),
      writes: ids.map((id) => ({
        table: "deliveries" as const,
        insert: { id, ...about, transactionId: ABOUT.transactionId, ...QUEUED, createdAt },
      })),
    });
  };
  const register = (id: string, accountId: string, url: string): Promise<unknown> =>
    engine.commit({
      writes: [{ table: "webhooks", insert: webhookOf(id, { accountId, url, events: [], createdAt }) }],
    });
  return { hostile, honest, clock, storage, delivery, engine, queue, register };
}

test("H22, H24, H25: an honest tenant's notices are delivered while those of a hundred hostile receivers of eight accounts are all pending", async () => {
  const { hostile, honest, clock, storage, delivery, engine, queue, register } = await hostileWorld();
  const began = clock.now();
  const ids = Array.from({ length: ACCOUNTS * WEBHOOKS_EACH }, (_, index) => `hostile-${index}`);
  for (const [index, id] of ids.entries()) {
    const manner = HOSTILE_MANNERS[index % HOSTILE_MANNERS.length] ?? "silent";
    const accountId = `acct_${Math.floor(index / WEBHOOKS_EACH)}`;
    await register(id, accountId, hostile.urlOf(manner, index));
    await queue(id, accountId, NOTICES_EACH);
  }
  engine.run();
  await delivery.full;

  const delivered = new Set<string>();
  const allDelivered = new Promise<void>((resolve) => {
    engine.subscribe(({ commit: { step } }) => {
      if (step?.status === "done") delivered.add(step.id);
      if (delivered.size === HONEST_NOTICES) resolve();
    });
  });
  await register("honest", "acct_honest", honest.url);
  await queue("honest", "acct_honest", HONEST_NOTICES);
  await allDelivered;

  expect([...delivered].every((id) => id.startsWith("dlv_honest_"))).toBe(true);
  expect(honest.requests).toHaveLength(HONEST_NOTICES);
  expect(clock.now(), "no deadline has passed").toBe(began);
  expect(delivery.most).toBeLessThanOrEqual(KEPT_PLACES);
  for (const id of ids) {
    const deliveries = await storage.deliveriesTo(id, { below: null, limit: NOTICES_EACH });
    expect(
      deliveries.map(({ status }) => status),
      id,
    ).toEqual(["pending", "pending"]);
  }
});
