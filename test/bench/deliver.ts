/** Durable webhook deliveries over TLS, beside bare undici that posts the same bodies on kept connections. */
// modules: webhooks
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Pool } from "undici";
import { createEngine, startOf, type Engine } from "../../src/engine/index.ts";
import { createSecretBox } from "../../src/payments/frame/secrets/secret-box.ts";
import { type PaymentTables, paymentTables } from "../../src/payments/payment-storage.ts";
import { createDeliveryClient } from "../../src/payments/webhooks/sending/attempt.ts";
import {
  webhookDeliveryWorkflow,
  type WebhookDeliveryWorkflow,
} from "../../src/payments/webhooks/webhook-delivery-workflow.ts";
import { sealedSecret } from "../../src/payments/webhooks/webhook-secret.ts";
import { silentLogger, systemClock as clock, systemRandom } from "../../src/core/runtime.ts";
import { webhookOf } from "../contracts/storage/samples.ts";
import { issueLoopbackCertificate } from "../kit/loopback-certificate.ts";
import { TEST_MASTER_SECRET } from "../kit/service-fixture.ts";
import { sqliteStorage } from "../kit/storages.ts";
import { programOf, startChild, type Child } from "./child.ts";
import { inTurns, ownCpuMs, percentile, report, warm, type Cost } from "./figures.ts";
import type { Arrivals, ReceiverReady } from "./receiver-process.ts";

const BOUNDS = { rounds: 4, seconds: 60 };
const ROUND_MS = 6_000;
const AT_ONCE = 64;
/** Begun and not ended yet: enough that all places are taken. */
const OUTSTANDING = 256;
const WEBHOOKS = 16;
const PER_SECOND = 200;
const NOTICES = 2_000;
const NANOSECONDS = 1_000_000;
const QUEUED = { status: "pending", attempts: 0, version: 1, deliveredAt: null, abandonedAt: null } as const;
const BODY = JSON.stringify({ event: "transaction.completed", filler: "x".repeat(400) });

/** A receiver that answers 200, and the authority to trust, in PEM. */
interface Receiver {
  readonly child: Child<ReceiverReady>;
  readonly ca: string;
}

/** An engine that delivers to it. */
interface Delivering {
  readonly engine: Engine<PaymentTables>;
  readonly deliveries: WebhookDeliveryWorkflow;
  stop(): Promise<void>;
}

/** Does it again and again, so many at a time, until the round is over and all have ended. */
async function costWithin(atOnce: number, deliver: (index: number) => Promise<void>): Promise<Cost> {
  const [cpu, began] = [ownCpuMs(), performance.now()];
  let count = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() - began < ROUND_MS) await deliver(count++);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return {
    perSecond: (count / (performance.now() - began)) * 1_000,
    cpuMs: (ownCpuMs() - cpu) / count,
  };
}

async function postBare({ ca, child }: Receiver): Promise<Cost> {
  const origin = `https://127.0.0.1:${child.ready.port}`;
  const pool = new Pool(origin, { connections: AT_ONCE, pipelining: 1, connect: { ca } });
  const headers = { "content-type": "application/json", "webhook-id": "evt_bench" };
  const cost = await costWithin(AT_ONCE, async () => {
    const { body } = await pool.request({ method: "POST", path: "/hook", headers, body: BODY });
    await body.dump();
  });
  await pool.close();
  return cost;
}

const ownedOf = (webhook: number) => ({ id: `wh_${webhook}`, accountId: `acct_${webhook}` });

/** Sixteen accounts with a signed webhook each. */
async function startDelivering({ ca, child }: Receiver): Promise<Delivering> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const storage = await sqliteStorage(join(folder, "deliver.db"));
  const sealing = createSecretBox([TEST_MASTER_SECRET], systemRandom);
  const delivery = createDeliveryClient({ clock, ca, allowAddress: (ip) => ip === "127.0.0.1" });
  const deliveries = webhookDeliveryWorkflow({ storage, clock, delivery, sealing, disableAfter: "never" });
  const options = { storage, tables: paymentTables, logger: silentLogger };
  const engine = createEngine({ ...options, workflows: [deliveries] });
  engine.run();
  const writes = Array.from({ length: WEBHOOKS }, (_, index) => {
    const owned = ownedOf(index);
    const url = `https://127.0.0.1:${child.ready.port}/hook/${index}`;
    const sealed = sealedSecret(sealing, owned, `the secret of ${owned.id}`);
    const changes = { url, accountId: owned.accountId, createdAt: clock.now(), sealedSecret: sealed };
    return { table: "webhooks" as const, insert: webhookOf(owned.id, changes) };
  });
  await engine.commit({ writes });
  return {
    engine,
    deliveries,
    async stop() {
      await engine.stop({ timeoutMs: 0 });
      await delivery.endIdle();
      await storage.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Ids of the service are ordered by time, too. */
const idOf = (kind: string, index: number): string => `${kind}_${String(index).padStart(22, "0")}`;

/** What the announcement of a notice commits for one webhook, with the notice. */
async function startDelivery({ engine, deliveries }: Delivering, index: number): Promise<void> {
  const [deliveryId, noticeId, transactionId] = [idOf("dlv", index), idOf("evt", index), idOf("tx", index)];
  const { id: webhookId, accountId } = ownedOf(index % WEBHOOKS);
  const about = { webhookId, accountId, noticeId };
  const createdAt = clock.now();
  const unknown = {
    reason: null,
    signature: null,
    blockTime: null,
    fee: null,
    received: null,
    remaining: null,
  };
  const event = { event: "transaction.completed", status: "completed" as const, ...unknown };
  const input = { deliveryId, ...about, follows: null, pausesMs: [] };
  const notice = { id: noticeId, transactionId, ...event, body: BODY, createdAt };
  await engine.commit({
    starts: [startOf(deliveries, deliveryId, input)],
    writes: [
      { table: "notices", insert: notice },
      { table: "deliveries", insert: { id: deliveryId, ...about, transactionId, ...QUEUED, createdAt } },
    ],
  });
}

/** From the commit that starts a delivery to that of its end. */
async function deliverDurably(receiver: Receiver): Promise<Cost> {
  const delivering = await startDelivering(receiver);
  const waiting = new Map<string, () => void>();
  delivering.engine.subscribe(({ commit: { step } }) => {
    if (step?.status === "done") waiting.get(step.id)?.();
  });
  try {
    return await costWithin(OUTSTANDING, async (index) => {
      const id = idOf("dlv", index);
      const ended = new Promise<void>((resolve) => void waiting.set(id, resolve));
      await startDelivery(delivering, index);
      await ended;
      waiting.delete(id);
    });
  } finally {
    await delivering.stop();
  }
}

/** On the clock that processes share. */
const now = (): number => Number(process.hrtime.bigint()) / NANOSECONDS;

/** Commits are asked for at their times, whether or not those before have ended: a slow service is not spared. */
async function reportFirstBytes(receiver: Receiver): Promise<void> {
  const delivering = await startDelivering(receiver);
  const committedAt = new Map<string, number>();
  const commit = async (index: number): Promise<void> => {
    await startDelivery(delivering, index);
    committedAt.set(idOf("evt", index), now());
  };
  try {
    // Opens a connection to each receiver.
    await Promise.all(Array.from({ length: WEBHOOKS }, (_, index) => commit(index)));
    await wait(1_000);
    await receiver.child.ask<Arrivals>("arrivals");
    const began = now();
    const commits: Promise<void>[] = [];
    for (let index = 0; index < NOTICES; index += 1) {
      await wait(Math.max(0, began + (index * 1_000) / PER_SECOND - now()));
      commits.push(commit(WEBHOOKS + index));
    }
    await Promise.all(commits);
    await wait(2_000);
    const waits = (await receiver.child.ask<Arrivals>("arrivals"))
      // One may have left before the answer of its commit was looked at.
      .map(([noticeId, at]) => Math.max(0, at - (committedAt.get(noticeId) ?? NaN)));
    const percentiles = { "p50 ms": percentile(waits, 0.5), "p99 ms": percentile(waits, 0.99) };
    report({ name: "deliver, commit to first byte", ...percentiles, notices: waits.length });
  } finally {
    await delivering.stop();
  }
}

/** Rates and CPU of both, in turns, then first bytes at 200 a second. The receiver has no part in the CPU. */
export async function benchDeliver(): Promise<void> {
  const { ca, ...own } = await issueLoopbackCertificate();
  const child = await startChild<ReceiverReady>(programOf("receiver-process"), own);
  const receiver: Receiver = { child, ca };
  try {
    const [bare, durable] = (
      await inTurns([() => postBare(receiver), () => deliverDurably(receiver)], BOUNDS)
    ).map(warm);
    if (bare === undefined || durable === undefined) return;
    report({ name: "deliver, bare undici", perSecond: bare.perSecond, "CPU ms each": bare.cpuMs });
    report({
      name: "deliver, durable",
      perSecond: durable.perSecond,
      "of bare": durable.perSecond / bare.perSecond,
      "CPU ms each": durable.cpuMs,
      "times bare": durable.cpuMs / bare.cpuMs,
    });
    await reportFirstBytes(receiver);
  } finally {
    await child.end();
  }
}
