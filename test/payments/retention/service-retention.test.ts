/** What a payment service lets go, as its callers and its host see it. */
import { describe, expect } from "vitest";
import { createPaymentService } from "../../../src/index.ts";
import type { ArchivedRow } from "../../../src/operator.ts";
import { privateTest } from "../../kit/private-test.ts";
import type { ServiceFixture } from "../../kit/service-fixture.ts";
import { serviceTest } from "../../kit/service-test.ts";
import { expectRefusal } from "../wallet/wallet-world.ts";
import { webhookTest } from "../webhooks/webhook-test.ts";
import { passed } from "./passing.ts";
import { dropping } from "../../kit/odd-endpoints.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const passOf = (world: Pick<ServiceFixture, "service" | "clock">): Promise<void> =>
  passed(world.clock, async () => (await world.service.health()).retention?.lastPassAt);

// modules: webhooks
describe("with webhooks, on a database file", () => {
  webhookTest(
    "notices go with their deliveries, then transactions with all that is theirs; each is archived before, and what is left is told truly",
    async ({ open }) => {
      const archived: ArchivedRow[] = [];
      const { fixture, caller, register, sendOne } = await open({
        keep: { transactions: "30d", notices: "7d", quotes: "1h" },
        archive: (rows) => void archived.push(...rows),
      });
      const { service, storage, clock } = fixture;
      const webhookId = await register();
      const send = async (): Promise<string> => {
        const id = await sendOne();
        await fixture.finalize();
        clock.advance(60_000);
        await service.settled();
        return id;
      };
      const first = await send();
      const [taken] = (await service.events(caller, { order: "asc" })).data;
      const [delivery] = (await service.deliveries(caller, webhookId)).data;
      const { quoteId } = (await storage.transaction(first))?.transaction ?? { quoteId: "" };
      await service.createQuote(caller, { inputAsset: "USDC", outputAsset: "USDC", amount: "1" });
      clock.advance(8 * DAY);
      await passOf(fixture);
      const second = await send();

      await passOf(fixture);
      // The last one that the webhook took before is not the last any more.
      const { data, hasMore } = await service.events(caller, { order: "asc", limit: 3 });
      expect([new Set(data.map(({ transactionId }) => transactionId)), hasMore]).toEqual([
        new Set([second]),
        false,
      ]);
      await expectRefusal(
        service.events(caller, { startingAfter: taken?.eventId ?? "" }),
        "VALIDATION_ERROR",
        {
          fields: [{ path: "startingAfter", message: "is no event of this list" }],
        },
      );
      await expectRefusal(
        service.deliveries(caller, webhookId, { startingAfter: delivery?.deliveryId ?? "" }),
        "VALIDATION_ERROR",
        { fields: [{ path: "startingAfter", message: "is no delivery of this list" }] },
      );
      const deliveryId = delivery?.deliveryId ?? "";
      await expectRefusal(service.redeliver(caller, { webhookId, deliveryId }), "DELIVERY_NOT_FOUND", {
        deliveryId,
      });
      expect(await storage.load(deliveryId)).toBeNull();
      expect((await service.transaction(caller, first)).status).toBe("completed");
      expect(await service.transactionEvents(caller, first)).toEqual({ data: [], hasMore: false });
      const recovered = await service.recoverWebhook(caller, webhookId, {
        since: new Date(clock.now() - 9 * DAY).toISOString(),
      });
      expect(recovered.body.recovered).toBe(0);

      clock.advance(23 * DAY);
      await passOf(fixture);
      await expectRefusal(service.transaction(caller, first), "TRANSACTION_NOT_FOUND", {
        transactionId: first,
      });
      await expectRefusal(service.quote(caller, quoteId), "QUOTE_NOT_FOUND", { quoteId });
      const listed = await service.listTransactions(caller, { limit: 1 });
      expect([listed.data.map(({ transactionId }) => transactionId), listed.hasMore]).toEqual([
        [second],
        false,
      ]);
      expect([await storage.load(first), await storage.history(first, { after: 0, limit: 9 })]).toEqual([
        null,
        [],
      ]);

      const tables = archived
        .filter(({ row }) => Object.values(row).includes(first))
        .map(({ table }) => table);
      for (const table of [
        "transactions",
        "recipients",
        "attempts",
        "quotes",
        "notices",
        "deliveries",
        "instances",
        "history",
      ]) {
        expect(tables).toContain(table);
      }
      expect(archived.some(({ table }) => table === "deliveryAttempts")).toBe(true);
      expect(JSON.parse(JSON.stringify(archived))).toEqual(archived);
      const bodies = archived.flatMap(({ table, row }) => (table === "notices" ? [String(row["body"])] : []));
      expect(bodies.map((body) => (JSON.parse(body) as { transactionId: string }).transactionId)).toContain(
        first,
      );
      const { retention } = await service.health();
      expect(retention).toMatchObject({ keptForGood: ["private"], error: null });
      expect(retention?.bytes).toBeGreaterThan(0);
    },
  );

  webhookTest(
    "the last notice that a webhook has taken stays: by it the webhook is known to receive",
    async ({ open }) => {
      const { fixture, caller, register, sendOne } = await open({ keep: { notices: "7d" } });
      const webhookId = await register();
      await sendOne();
      await fixture.finalize();
      await fixture.service.settled();
      fixture.clock.advance(8 * DAY);
      await passOf(fixture);
      const left = (await fixture.service.deliveries(caller, webhookId)).data;
      expect(left.length).toBeGreaterThan(0);
      expect(await fixture.storage.lastDeliveredAt(webhookId)).not.toBeNull();
      await fixture.service.deleteWebhook(caller, webhookId);
      await passOf(fixture);
      expect((await fixture.service.events(caller)).data).toEqual([]);
    },
  );

  webhookTest("while the archive throws nothing goes, and health tells why", async ({ open }) => {
    const { fixture, caller, sendOne } = await open({
      keep: { transactions: "7d" },
      archive() {
        throw new Error("bucket not found");
      },
    });
    const id = await sendOne();
    await fixture.finalize();
    fixture.clock.advance(8 * DAY);
    await passOf(fixture);
    expect((await fixture.service.transaction(caller, id)).status).toBe("completed");
    expect((await fixture.service.events(caller)).data).toHaveLength(3);
    expect((await fixture.service.health()).retention?.error).toBe("transactions: bucket not found");
  });

  webhookTest(
    "M26: while the archive does not end within its deadline nothing goes, and health tells it",
    async ({ open }) => {
      const { fixture, caller, sendOne } = await open({
        keep: { transactions: "7d" },
        archive: () => new Promise<void>(() => {}),
        archiveDeadlineMs: 5_000,
      });
      const id = await sendOne();
      await fixture.finalize();
      fixture.clock.advance(8 * DAY);
      await passOf(fixture);
      expect((await fixture.service.transaction(caller, id)).status).toBe("completed");
      expect((await fixture.service.health()).retention?.error).toBe(
        "transactions: the archive took longer than 5000 ms",
      );
    },
  );
});

serviceTest(
  "by default only idempotency answers go, after 30 days; their key may be used again",
  async ({ world }) => {
    const { service, clock, storage } = world;
    const caller = await world.caller();
    const asked = { inputAsset: "USDC", outputAsset: "USDC", amount: "1" };
    const options = { idempotencyKey: "k" };
    const first = await service.createQuote(caller, asked, options);
    clock.advance(29 * DAY);
    await passOf(world);
    expect((await service.createQuote(caller, asked, options)).text).toBe(first.text);
    clock.advance(DAY);
    await passOf(world);
    const again = await service.createQuote(caller, asked, options);
    expect([again.replayed, again.body.quoteId === first.body.quoteId]).toEqual([false, false]);
    expect(await storage.quote(first.body.quoteId)).not.toBeNull();
    expect((await service.health()).retention?.keptForGood).toEqual([
      "transactions",
      "private",
      "notices",
      "quotes",
    ]);
  },
);

serviceTest(
  "the same signed bytes are refused after their transaction is gone, and are never sent again",
  async ({ open }) => {
    const world = await open({ keep: { transactions: "7d" } });
    const { service, clock, chain } = world;
    const caller = await world.caller();
    const alice = world.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
    const { body } = await world.prepareSend(caller, {
      from: alice,
      to: world.wallet("bob").address,
      amount: "1",
    });
    const request = { ...body, recipients: [...body.recipients] };
    const { body: sent } = await service.createTransaction(caller, request, { idempotencyKey: "k" });
    await world.finalize();
    clock.advance(8 * DAY);
    await passOf(world);
    const { transactionId } = sent;
    await expectRefusal(service.transaction(caller, transactionId), "TRANSACTION_NOT_FOUND", {
      transactionId,
    });
    const sends: unknown[] = [];
    chain.faults.add(({ method }) => {
      if (method === "sendTransaction") sends.push(method);
      return undefined;
    });
    // Under its key the answer of then; without, the quote is gone; under another quote the bytes have expired.
    const replayed = await service.createTransaction(caller, request, { idempotencyKey: "k" });
    expect([replayed.replayed, replayed.body]).toEqual([true, sent]);
    const { quoteId } = request;
    await expectRefusal(service.createTransaction(caller, request), "INVALID_QUOTE", {
      quoteId,
      reason: "not_found",
    });
    const { quote } = await world.prepareSend(caller, {
      from: alice,
      to: world.wallet("bob").address,
      amount: "1",
    });
    await expect(
      service.createTransaction(caller, { ...request, quoteId: quote.quoteId }),
    ).rejects.toMatchObject({
      code: expect.stringMatching(/INVALID_SIGNATURE|DUPLICATE_TRANSACTION/) as string,
    });
    await service.settled();
    expect(sends).toEqual([]);
  },
);

serviceTest(
  "signed bytes whose transaction is gone are refused by the database, whatever a node says of their blockhash",
  async ({ open }) => {
    const world = await open({ keep: { transactions: "7d" } });
    const { service, clock, chain } = world;
    const caller = await world.caller();
    const alice = world.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
    const order = { from: alice, to: world.wallet("bob").address, amount: "1" };
    const { body } = await world.prepareSend(caller, order);
    const request = { ...body, recipients: [...body.recipients] };
    const { body: sent } = await service.createTransaction(caller, request);
    await world.finalize();
    clock.advance(8 * DAY);
    await passOf(world);
    const { transactionId } = sent;
    await expectRefusal(service.transaction(caller, transactionId), "TRANSACTION_NOT_FOUND", {
      transactionId,
    });
    const lies: Readonly<Record<string, (value: object) => unknown>> = {
      isBlockhashValid: () => true,
      simulateTransaction: (value) => ({ ...value, err: null, logs: [] }),
    };
    chain.faults.add(({ method }) => {
      const lie = lies[method];
      if (lie === undefined) return undefined;
      return {
        kind: "lie",
        answer(honest) {
          const told = honest as { readonly value: object };
          return { ...told, value: lie(told.value) };
        },
      };
    });
    const { quote } = await world.prepareSend(caller, order);
    await expectRefusal(
      service.createTransaction(caller, { ...request, quoteId: quote.quoteId }),
      "DUPLICATE_TRANSACTION",
      {},
    );
    expect((await service.listTransactions(caller)).data).toEqual([]);
  },
);

serviceTest(
  "what was given up as expired stays: an operator may still settle it by its signature",
  async ({ open }) => {
    const world = await open({ keep: { transactions: "7d", notices: "7d" } });
    const { service, clock, chain } = world;
    const caller = await world.caller();
    const alice = world.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
    chain.faults.add(dropping);
    const { transactionId } = await world.send(caller, {
      from: alice,
      to: world.wallet("bob").address,
      amount: "1",
    });
    await service.settled();
    chain.advance(400);
    await world.pass(120_000);
    expect(await service.transaction(caller, transactionId)).toMatchObject({
      status: "failed",
      reason: "expired",
    });
    await world.pass(2 * DAY);
    clock.advance(20 * DAY);
    await passOf(world);
    expect((await service.transaction(caller, transactionId)).status).toBe("failed");
  },
);

// modules: private, webhooks
privateTest(
  "of a private order all stays that the chain is compared with: reconcile explains it as before",
  async ({ open }) => {
    const world = await open({ keep: { transactions: "7d", notices: "7d", quotes: "1h" } });
    const { service, storage, clock } = world;
    const caller = await world.caller();
    const [sender, payee] = [world.wallet("sender"), world.wallet("payee", { usdc: 0n })];
    const { body } = await world.order(caller, { sender, to: [{ address: payee.address, amount: "5" }] });
    await world.deposit(body.ephemeralAddress, { usdc: 10_000_000n });
    await world.settle();
    const { transactionId: id } = body;
    expect((await service.transaction(caller, id)).status).toBe("completed");
    const facts = async () => ({
      view: await storage.transaction(id),
      tally: await service.reconcile(),
    });
    const before = await facts();
    expect(before.tally.isExplained).toBe(true);
    clock.advance(8 * DAY);
    // A look at the addresses of the order is due by then, and its notices stay while it is in hand: the next pass takes them.
    await service.settled();
    await passOf(world);
    await passOf(world);
    const { view, tally } = await facts();
    expect({ view, tally }).toEqual(before);
    expect((await service.events(caller)).data).toEqual([]);
    expect(await storage.quote(view?.transaction.quoteId ?? "")).not.toBeNull();
  },
);

serviceTest("bad keeping is refused, all of it at once", ({ world }) => {
  const { storage, ledger } = world;
  const keep = {
    transactions: "6d",
    notices: 5,
    quotes: "59m",
    idempotencyAnswers: "forever",
    history: "1d",
  };
  const create = () =>
    createPaymentService({
      storage,
      ledger,
      masterSecrets: [{ version: 1, secret: new Uint8Array(32) }],
      ...({ keep, archive: 3 } as object),
    });
  for (const problem of [
    'keep.transactions: expected milliseconds, or such as "90d", "12h" or "30m": from 7d to 36500d',
    "keep.notices: expected milliseconds",
    "keep.quotes: expected milliseconds",
    "keep.idempotencyAnswers: expected milliseconds",
    "archive: expected a function",
  ]) {
    expect(create).toThrow(problem);
  }
});
