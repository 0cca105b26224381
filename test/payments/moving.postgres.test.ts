/** A service that moves from a file to PostgreSQL in the middle of its payments: each is paid once, and nothing is forgotten. */
// modules: private, webhooks
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, test } from "vitest";
import type { Caller } from "../../src/payments/frame/accounts/caller.ts";
import { paymentStorage } from "../../src/payments/payment-storage.ts";
import type { PaymentService } from "../../src/service/payment-service.ts";
import { moveToPostgres } from "../../storage/move.ts";
import { postgresStorage } from "../../storage/postgres.ts";
import { brokenMoney } from "../kit/check-money.ts";
import { startHttpsReceiver } from "../kit/https-receiver.ts";
import { issueLoopbackCertificate } from "../kit/loopback-certificate.ts";
import { passTime } from "../kit/pass-time.ts";
import { privateFixture } from "../kit/private-fixture.ts";
import { units } from "../kit/money.ts";
import { sqliteStorage } from "../kit/storages.ts";
import { HAS_POSTGRES, postgresUrl } from "../programs/ask-postgres.ts";
import { dropping } from "../kit/odd-endpoints.ts";

const SOL = 1_000_000_000n;
const MINUTE = 60_000;

/** What a customer reads of the account: the order of each list counts. */
async function listed(service: PaymentService, caller: Caller, webhookId: string): Promise<unknown> {
  return {
    transactions: await service.listTransactions(caller),
    events: await service.events(caller),
    webhooks: await service.webhooks(caller),
    deliveries: await service.deliveries(caller, webhookId),
  };
}

describe.skipIf(!HAS_POSTGRES)("a service that moves", () => {
  test("E5, D10: a send before its broadcast, an order without its deposit, a payout on its way and a webhook's retry go on", async () => {
    const folder = await mkdtemp(join(tmpdir(), "paystate-"));
    const from = join(folder, "payments.db");
    const to = await postgresUrl();
    const schema = `moved_service_${process.pid}`;
    const certificate = await issueLoopbackCertificate();
    const storage = await sqliteStorage(from);
    const webhooks = { ca: certificate.ca, allowAddress: (ip: string) => ip === "127.0.0.1" };
    const world = await privateFixture({ storage, webhooks, broadcastDelayMs: 20_000 });
    const receiver = await startHttpsReceiver({ certificate, now: () => world.clock.now() });
    const { chain, service } = world;
    let isAway = true;
    receiver.answer((_, response) => void response.writeHead(isAway ? 503 : 200).end());
    const caller = await world.caller();
    const events = [
      "transaction.pending",
      "transaction.deposit_received",
      "transaction.confirmed",
      "transaction.completed",
      "transaction.failed",
    ];
    const { webhookId } = (await service.registerWebhook(caller, { url: receiver.url, events })).body;
    const alice = world.wallet("alice", { lamports: SOL, usdc: units("20", 6) });
    const [bob, carol, dora] = ["bob", "carol", "dora"].map((name) => world.wallet(name, { lamports: SOL }));
    if (bob === undefined || carol === undefined || dora === undefined) throw new Error("three wallets");

    const routed = await world.order(caller, {
      sender: alice,
      to: [{ address: carol.address, amount: "5" }],
    });
    const lift = chain.faults.add(dropping);
    await world.deposit(routed.body.ephemeralAddress, { usdc: units(routed.body.depositAmount, 6) });
    await service.settled();
    const waiting = await world.order(caller, {
      sender: alice,
      to: [{ address: dora.address, amount: "3" }],
    });
    const prepared = await world.prepareSend(caller, { from: alice, to: bob.address, amount: "12.5" });
    const request = { ...prepared.body, recipients: [...prepared.body.recipients] };
    const answered = await service.createTransaction(caller, request, { idempotencyKey: "order-1" });
    await service.settled();
    // As each of them stands: signed and not landed, not paid in, not sent, not taken.
    const signed = (await storage.orderedTransaction(routed.body.transactionId))?.order?.transfers ?? [];
    expect(signed.map(({ kind, state }) => `${kind} ${state}`)).toEqual(["chunk out"]);
    expect(await storage.attemptsOf(signed[0]?.id ?? "")).toHaveLength(1);
    expect(answered.body).toMatchObject({ status: "pending" });
    expect((await service.deliveries(caller, webhookId)).data[0]).toMatchObject({ status: "pending" });
    const refused = receiver.requests.filter(({ method }) => method === "POST");
    expect(refused.length).toBeGreaterThan(0);
    const before = await listed(service, caller, webhookId);
    await service.stop();
    await storage.close();

    const { tables } = await moveToPostgres({ from, to, schema });
    expect(tables.find(({ table }) => table === "paystateTransactions")?.rows).toBe(3);

    const moved = paymentStorage(await postgresStorage(to, { schema, clock: "caller" }));
    const other = world.another({ storage: moved });
    try {
      await other.start();
      expect(await listed(other, caller, webhookId)).toEqual(before);
      lift();
      isAway = false;
      const replay = await other.createTransaction(caller, request, { idempotencyKey: "order-1" });
      expect(replay).toEqual({ ...answered, replayed: true });
      await expect(
        other.createTransaction(caller, { ...request, sender: bob.address }, { idempotencyKey: "order-1" }),
      ).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_REUSED" });

      const pass = (ms: number): Promise<void> =>
        passTime(
          { clock: world.clock, engine: other, storage: moved, workflows: other.workflows },
          world.clock.now() + ms,
        );
      chain.fund(waiting.body.ephemeralAddress, { usdc: units(waiting.body.depositAmount, 6) });
      for (const slots of [40, 40, 160, 40, 40, 40]) {
        chain.advance(slots);
        await other.settled();
        await pass(MINUTE);
      }
      for (const { body } of [answered, routed, waiting]) {
        expect(await other.transaction(caller, body.transactionId)).toMatchObject({ status: "completed" });
      }
      expect(await world.held(bob.address)).toEqual([SOL, 12_500_000n, 0n]);
      expect(await world.held(carol.address)).toEqual([SOL, 5_000_000n, 0n]);
      expect(await world.held(dora.address)).toEqual([SOL, 3_000_000n, 0n]);
      const addresses = [routed, waiting].map(({ body }) => body.ephemeralAddress);
      const mints = [world.mints.USDC, world.mints.USDT];
      expect(await brokenMoney({ storage: moved, ledger: world.ledger, mints }, addresses)).toEqual([]);
      await pass(10 * MINUTE);
      // What was refused before the move came once more, under its id; and each event of each transaction arrived.
      const taken = receiver.requests.filter(({ method }) => method === "POST").slice(refused.length);
      const ids = taken.map(({ headers }) => headers["webhook-id"]);
      expect(new Set(ids).size).toBe(ids.length);
      for (const { headers } of refused) expect(ids).toContain(headers["webhook-id"]);
      const told = (await other.events(caller, { limit: 100 })).data.map(({ eventId }) => eventId);
      expect(new Set(ids)).toEqual(new Set(told));
    } finally {
      await other.stop();
      await moved.close();
      await receiver.close();
      await world.close();
      const admin = new pg.Client({ connectionString: to });
      await admin.connect();
      await admin.query(`drop schema if exists "${schema}" cascade`);
      await admin.end();
      await rm(folder, { recursive: true });
    }
  });
});
