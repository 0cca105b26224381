/** E5, E10: service and chain, each a process of its own, are killed (SIGKILL) again and again under load. */
// modules: webhooks
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { memoryStorage, sqliteStorage } from "../kit/storages.ts";
import { solanaLedger } from "paystate/solana";
import type { Address } from "../../src/core/address.ts";
import { createPaymentService } from "../../src/service/create-payment-service.ts";
import { NOTICE_EVENTS } from "../../src/payments/frame/notices/notice-body.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { brokenAtRest } from "../kit/check-invariants.ts";
import { startHttpsReceiver, type HttpsReceiver } from "../kit/https-receiver.ts";
import { TEST_MASTER_SECRET } from "../kit/service-fixture.ts";
import { byDepth } from "../kit/thorough.ts";
import { brokenDeliveries, brokenStatuses } from "../simulation/payment-invariants.ts";
import { carefulClient, type Acknowledged } from "./processes/careful-client.ts";
import { keepAlive, type KeptAlive } from "./processes/keep-alive.ts";
import type { ChainReady, ChainSettings, ServiceReady, ServiceSettings } from "./processes/settings.ts";

const PAYMENTS = byDepth({ quick: 16, ci: 40, long: 40 });
const CLIENTS = 8;
const SERVICE_KILLS = byDepth({ quick: 2, ci: 4, long: 4 });
const CHAIN_KILLS = byDepth({ quick: 1, ci: 2, long: 2 });
// Four times as fast as mainnet: finality in about three seconds, and fifteen until a signed transaction dies.
const SLOT_MS = 100;
/** Answers and deliveries that there are at least: a quote, a post and two notices of each payment. */
const LEAST_HAPPENINGS = 4 * PAYMENTS;
const ONE_USDC = 1_000_000n;
const LOOK_MS = 50;
const AN_HOUR = 60 * 60_000;

/** After which happening, counted over answers and deliveries, which process is killed. */
function killPlan(service: KeptAlive<unknown>, chain: KeptAlive<unknown>): Map<number, KeptAlive<unknown>> {
  const victims = [
    ...Array.from({ length: SERVICE_KILLS }, () => service),
    ...Array.from({ length: CHAIN_KILLS }, () => chain),
  ];
  const moments = fc.uniqueArray(fc.integer({ min: 5, max: LEAST_HAPPENINGS - 10 }), {
    minLength: victims.length,
    maxLength: victims.length,
  });
  const [drawn = []] = fc.sample(moments, 1);
  return new Map(victims.map((victim, index) => [drawn[index] ?? 0, victim]));
}

test(
  "E5, E10: what was acknowledged is completed or failed as the chain has it, paid once, and told in order",
  { timeout: 240_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "paystate-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const receiver = await startHttpsReceiver();
    onTestFinished(() => receiver.close());
    const database = join(folder, "payments.db");
    let port = 0;
    const chain = keepAlive<ChainReady>("chain", (): ChainSettings => ({
      journal: join(folder, "chain.jsonl"),
      port,
      slotMs: SLOT_MS,
    }));
    onTestFinished(() => chain.end());
    const { rpcUrl, mints, ...ready } = await chain.ready();
    port = Number(new URL(rpcUrl).port);
    const settings: ServiceSettings = { database, rpcUrl, mints, receiverAuthority: receiver.ca };
    const service = keepAlive<ServiceReady>("service", () => settings);
    onTestFinished(() => service.end());
    const { apiKey } = await service.ready();

    let happenings = 0;
    const plan = killPlan(service, chain);
    const kills: Promise<void>[] = [];
    const onHappening = (): void => {
      happenings += 1;
      const victim = plan.get(happenings);
      if (victim !== undefined) kills.push(victim.kill());
    };
    receiver.answer((_request, response) => {
      onHappening();
      response.writeHead(200).end();
    });
    const client = carefulClient({
      service: () => service.ready(),
      chain: { rpcUrl, mints, ...ready },
      apiKey,
      onAnswer: onHappening,
    });
    const webhook = { url: receiver.url, events: [...NOTICE_EVENTS] };
    expect(await client.post("/webhooks", webhook, "webhook")).toMatchObject({ status: 201 });

    const acknowledged: Acknowledged[] = [];
    const names = Array.from({ length: PAYMENTS }, (_, index) => `payment-${index}`);
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        for (let name = names.pop(); name !== undefined; name = names.pop()) {
          acknowledged.push(await client.pay(name));
        }
      }),
    );
    const storage = await sqliteStorage(database);
    const ledger = solanaLedger({ endpoints: [rpcUrl] });
    const { workflows } = createPaymentService({
      storage: await memoryStorage(),
      ledger,
      masterSecrets: [TEST_MASTER_SECRET],
    });
    try {
      await untilRest(
        storage,
        acknowledged,
        workflows.map(({ key }) => key),
      );
      await Promise.all(kills);
      expect(kills).toHaveLength(SERVICE_KILLS + CHAIN_KILLS);
      await Promise.all([chain.ready(), service.ready()]);
      await service.end();

      expect(await storage.tasks({ order: "dead", limit: 10 })).toEqual([]);
      const instances = idsIn(database, "paystateInstances");
      expect(await brokenAtRest({ storage, workflows, instances })).toEqual([]);
      const ids = acknowledged.map(({ transactionId }) => transactionId);
      expect(idsIn(database, "paystateTransactions").toSorted()).toEqual(ids.toSorted());
      expect(await brokenStatuses(storage, workflows, ids)).toEqual([]);
      expect(await brokenDeliveries(storage, ids)).toEqual([]);

      const statuses = await ledger.statuses(acknowledged.map(({ signature }) => signature));
      for (const [index, { transactionId, recipient }] of acknowledged.entries()) {
        const landed = statuses[index];
        const view = await storage.transaction(transactionId);
        const { holdings } = await ledger.balances(recipient as Address);
        expect({
          landed: landed === null || landed === undefined ? null : [landed.commitment, landed.error],
          status: view?.transaction.status,
          paid: holdings[0]?.amount ?? 0n,
          told: arrivals(receiver, transactionId),
          deliveries: (await storage.deliveries(transactionId)).map(({ status }) => status),
        }).toEqual(
          landed === null || landed === undefined
            ? {
                landed: null,
                status: "failed",
                paid: 0n,
                told: ["transaction.pending", "transaction.failed"],
                deliveries: ["delivered", "delivered"],
              }
            : {
                landed: ["finalized", null],
                status: "completed",
                paid: ONE_USDC,
                told: ["transaction.pending", "transaction.confirmed", "transaction.completed"],
                deliveries: ["delivered", "delivered", "delivered"],
              },
        );
      }
      expect(statuses.some((status) => status !== null)).toBe(true);
      expectConstantBytes(receiver);
    } finally {
      await ledger.close();
      await storage.close();
    }
  },
);

/** Waits until every acknowledged payment is final and nobody has anything left to do. */
async function untilRest(
  storage: PaymentStorage,
  acknowledged: readonly Acknowledged[],
  workflowKeys: readonly string[],
): Promise<void> {
  const isFinal = async ({ transactionId }: Acknowledged): Promise<boolean> => {
    const status = (await storage.transaction(transactionId))?.transaction.status;
    return status === "completed" || status === "failed";
  };
  for (;;) {
    const final = await Promise.all(acknowledged.map(isFinal));
    const due = (await storage.nextDue(workflowKeys)) ?? Infinity;
    // Bytes that were judged dead are looked for during a day more.
    if (!final.includes(false) && due > Date.now() + AN_HOUR) return;
    await pause(LOOK_MS);
  }
}

/** The ids of everything in a table, also of what nobody was told of. */
function idsIn(database: string, table: "paystateInstances" | "paystateTransactions"): string[] {
  const file = new Database(database, { readonly: true });
  try {
    return file
      .prepare<[], { id: string }>(`select id from ${table}`)
      .all()
      .map(({ id }) => id);
  } finally {
    file.close();
  }
}

const deliveriesAt = (at: HttpsReceiver): readonly { id: string; body: string }[] =>
  at.requests
    .filter(({ method }) => method === "POST")
    .map(({ headers, body }) => ({ id: String(headers["webhook-id"]), body: body.toString("utf8") }));

/** The events of a transaction as they first arrived. */
function arrivals(receiver: HttpsReceiver, transactionId: string): readonly string[] {
  const events = deliveriesAt(receiver)
    .map(({ body }) => JSON.parse(body) as { event: string; transactionId: string })
    .filter((notice) => notice.transactionId === transactionId)
    .map(({ event }) => event);
  return [...new Set(events)];
}

/** I11: whatever came twice came with the same id and the same bytes. */
function expectConstantBytes(receiver: HttpsReceiver): void {
  const bodies = new Map<string, string>();
  for (const { id, body } of deliveriesAt(receiver)) {
    expect(bodies.get(id) ?? body).toBe(body);
    bodies.set(id, body);
  }
}
