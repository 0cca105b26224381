/** Durable webhook deliveries over TLS, beside bare undici that posts the same bodies on kept connections. */
import { Pool } from "undici";
import { startOf } from "../../src/engine/index.ts";
import { createDeliveryClient } from "../../src/payments/webhooks/sending/attempt.ts";
import { systemClock } from "../../src/runtime.ts";
import { startDelivering, type Delivering } from "./delivering.ts";
import { median, type Report } from "./figures.ts";
import { reportFirstBytes } from "./first-byte.ts";
import { startReceiver, type ReceiverProcess } from "./start-receiver.ts";

// Rounds alternate, so that a machine that gets slower meanwhile slows all alike. In all each way has a minute.
const ROUNDS = 5;
const ROUND_MS = 12_000;
const AT_ONCE = 64;
/** Begun and not ended yet: enough that all places are taken. */
const OUTSTANDING = 256;
const WEBHOOKS = 16;
const QUEUED = { status: "pending", attempts: 0, runs: 1, deliveredAt: null, abandonedAt: null } as const;
const BODY = JSON.stringify({ event: "transaction.completed", filler: "x".repeat(400) });

/** Deliveries per second of wall time, and milliseconds of this process' CPU for each. */
interface Measured {
  readonly perSecond: number;
  readonly cpuMs: number;
}

/** Each way keeps its connections; the receiver is a process of its own and has no part in the CPU. */
export async function benchDeliver(report: Report): Promise<void> {
  const receiver = await startReceiver();
  try {
    const ways = {
      "deliver bare undici": () => postBare(receiver),
      "deliver attempts": () => attempt(receiver),
      "deliver durable": () => deliverDurably(receiver),
    };
    const names = Object.keys(ways) as (keyof typeof ways)[];
    const rounds: Record<string, Measured>[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const measured: Record<string, Measured> = {};
      for (const name of names) measured[name] = await ways[name]();
      rounds.push(measured);
    }
    const of = (name: string, what: keyof Measured): number =>
      median(rounds.map((measured) => measured[name]?.[what] ?? 0));
    for (const name of names) {
      const [perSecond, cpuMs] = [of(name, "perSecond"), of(name, "cpuMs")];
      const bare = of("deliver bare undici", "perSecond");
      report({ name, perSecond, "CPU ms each": cpuMs, "of bare": perSecond / bare });
    }
    await reportFirstBytes(receiver, report);
  } finally {
    await receiver.end();
  }
}

/** Does it again and again, so many at a time, until the round is over and all have ended. */
async function measure(atOnce: number, deliver: (index: number) => Promise<void>): Promise<Measured> {
  const [cpu, began] = [process.cpuUsage(), performance.now()];
  let count = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() - began < ROUND_MS) await deliver(count++);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  const { user, system } = process.cpuUsage(cpu);
  return {
    perSecond: (count / (performance.now() - began)) * 1_000,
    cpuMs: (user + system) / 1_000 / count,
  };
}

async function postBare({ ca, urlOf }: ReceiverProcess): Promise<Measured> {
  const pool = new Pool(new URL(urlOf(0)).origin, { connections: AT_ONCE, pipelining: 1, connect: { ca } });
  const headers = { "content-type": "application/json", "webhook-id": "evt_bench" };
  const result = await measure(AT_ONCE, async () => {
    const { body } = await pool.request({ method: "POST", path: "/hook", headers, body: BODY });
    await body.dump();
  });
  await pool.close();
  return result;
}

async function attempt({ ca, urlOf }: ReceiverProcess): Promise<Measured> {
  const delivery = createDeliveryClient({ clock: systemClock, ca, allowAddress: (ip) => ip === "127.0.0.1" });
  const result = await measure(AT_ONCE, async (index) => {
    const url = urlOf(index % WEBHOOKS);
    await delivery.attempt({ url, body: BODY, headers: { "webhook-id": "evt_bench" } });
  });
  await delivery.endIdle();
  return result;
}

/** Sixteen accounts with a signed webhook each; from the commit that starts a delivery to that of its end. */
async function deliverDurably({ ca, urlOf }: ReceiverProcess): Promise<Measured> {
  const delivering = await startDelivering(ca);
  const { engine, register } = delivering;
  try {
    await register(
      Array.from({ length: WEBHOOKS }, (_, index) => ({ ...ownedOf(index), url: urlOf(index) })),
    );
    const waiting = new Map<string, () => void>();
    engine.subscribe(({ commit: { step } }) => {
      if (step?.status === "done") waiting.get(step.id)?.();
    });
    return await measure(OUTSTANDING, async (index) => {
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

function ownedOf(webhook: number): { readonly id: string; readonly accountId: string } {
  return { id: `wh_${webhook}`, accountId: `acct_${webhook}` };
}

/** What the announcement of a notice commits for one webhook, with the notice. */
async function startDelivery({ engine, deliveries }: Delivering, index: number): Promise<void> {
  const [deliveryId, noticeId, transactionId] = [idOf("dlv", index), idOf("evt", index), idOf("tx", index)];
  const { id: webhookId, accountId } = ownedOf(index % WEBHOOKS);
  const about = { webhookId, accountId, noticeId };
  const createdAt = systemClock.now();
  const unknown = { reason: null, signature: null, blockTime: null, fee: null };
  const event = { event: "transaction.completed", status: "completed" as const, ...unknown };
  const input = { deliveryId, ...about, follows: null, pausesMs: [] };
  await engine.commit({
    starts: [startOf(deliveries, deliveryId, input)],
    writes: [
      {
        table: "notices",
        insert: { id: noticeId, transactionId, ...event, body: BODY, webhooks: null, createdAt },
      },
      { table: "deliveries", insert: { id: deliveryId, ...about, transactionId, ...QUEUED, createdAt } },
    ],
  });
}

/** Ids of the service are ordered by time, too. */
function idOf(kind: string, index: number): string {
  return `${kind}_${String(index).padStart(22, "0")}`;
}
