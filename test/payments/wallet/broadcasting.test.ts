/** From the commit to the chain: what is stored before it is sent, how often it is sent, and what the chain makes of it. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { createLocalChain, type LocalFetch } from "paystate/local";
import { sqliteStorage } from "../../kit/storages.ts";
import type { AttemptRecord } from "../../../src/payments/frame/tables/attempts.ts";
import type { Address } from "../../../src/core/address.ts";
import type { DeclaredPayment, Ledger } from "../../../src/ledger/ledger.ts";
import type { PreparedSend, ServiceFixture } from "../../kit/service-fixture.ts";
import { BY } from "../../kit/by.ts";
import { signatureOf } from "./wallet-world.ts";
import { walletTest as test } from "./wallet-test.ts";
import { dropping } from "../../kit/odd-endpoints.ts";

describe("what is stored before the first byte leaves", () => {
  test("E6: bytes, signature, message hash and last valid height are committed when a node is first asked to send", async ({
    open,
  }) => {
    const folder = mkdtempSync(join(tmpdir(), "paystate-first-send-"));
    const path = join(folder, "payments.db");
    // What another connection reads is committed; the service's own could see what is still under way.
    const [storage, onlooker] = [await sqliteStorage(path), await sqliteStorage(path)];
    const { fixture, pay, caller } = await open({ storage });
    await fixture.service.stop();
    const seen: { bytes: string; stored: AttemptRecord | null; status: unknown; broadcastAt: unknown }[] = [];
    const looking: LocalFetch = async (input, init) => {
      const { method, params } = JSON.parse(init?.body as string) as { method: string; params: string[] };
      if (method === "sendTransaction") {
        const bytes = params[0] ?? "";
        const signature = signatureOf(bytes);
        const stored = await onlooker.attemptLike(signature, "");
        const view = await onlooker.transaction(stored?.transactionId ?? "");
        const { status, broadcastAt } = view?.transaction ?? {};
        seen.push({ bytes, stored, status, broadcastAt });
      }
      return fixture.chain.fetch(input, init);
    };
    const ledger = fixture.ledgerOf([{ url: "http://watched", fetch: looking }]);
    const service = fixture.another({ ledger });
    await service.start();
    const { body } = await pay();
    const { body: created } = await service.createTransaction(caller, body as never);
    await service.settled();

    const [first] = seen;
    const bytes = Buffer.from(body.signedTransaction, "base64");
    expect(first?.bytes).toBe(body.signedTransaction);
    expect(first?.stored).toMatchObject({
      id: signatureOf(body.signedTransaction),
      transactionId: created.transactionId,
      // One signature, so the message begins after its count and its 64 bytes.
      messageHash: createHash("sha256").update(bytes.subarray(65)).digest("hex"),
    });
    expect(Buffer.from(first?.stored?.bytes ?? [])).toEqual(bytes);
    expect(first?.stored?.lastValidBlockHeight).toBe(
      ((await fixture.ledger.verifyPayment(body.signedTransaction, declared(fixture, body))) as Verified)
        .verified.lastValidBlockHeight,
    );
    // The point of no return was committed as well.
    expect(first).toMatchObject({ status: "pending", broadcastAt: fixture.clock.now() });
    await service.stop();
    await ledger.close();
    await storage.close();
    await onlooker.close();
    rmSync(folder, { recursive: true });
  });

  const declared = (
    { mints }: ServiceFixture,
    { sender, recipients }: PreparedSend["body"],
  ): DeclaredPayment => ({
    sender: sender as Address,
    mint: mints.USDC,
    decimals: 6,
    transfers: recipients.map(({ address }) => ({ recipient: address as Address, amount: 1_000_000n })),
  });
  type Verified = Extract<Awaited<ReturnType<Ledger["verifyPayment"]>>, { verified: unknown }>;
});

/** What agave answers when its preflight finds a transaction in its status cache. */
const ALREADY_PROCESSED = {
  kind: "error",
  code: -32_002,
  message: "Transaction simulation failed: This transaction has already been processed",
  data: { err: "AlreadyProcessed", logs: [] },
} as const;

test('E8: a node that answers "already processed" to the first send counts as sent', async ({ open }) => {
  const warnings: string[] = [];
  const keep = (_fields: object, message: string): void => void warnings.push(message);
  const logger = { debug: keep, info: keep, warn: keep, error: keep };
  const { pay, post, fixture, sent, caller, usdcOf, bob } = await open({ broadcastDelayMs: 1_000, logger });
  const { body } = await pay();
  const { body: created } = await post(body);
  // Its caller is faster than we are: the bytes have landed when we send them for the first time.
  await fixture.ledger.broadcast(Buffer.from(body.signedTransaction, "base64"));
  fixture.chain.advance(1);
  const before = sent();
  // What the service says at start is no word on the send.
  warnings.length = 0;
  const lift = fixture.chain.faults.add(({ method }) =>
    method === "sendTransaction" ? ALREADY_PROCESSED : undefined,
  );
  await fixture.pass(1_000);
  expect(sent()).toBe(before + 1);
  expect(warnings).toEqual([]);
  lift();
  fixture.chain.advance(40);
  await fixture.service.settled();
  expect((await fixture.service.transaction(caller, created.transactionId)).status).toBe("completed");
  expect(await usdcOf(bob.address)).toBe("1");
});

describe("the chain has the last word", () => {
  test("W9: dropped by every node, the same bytes are sent again until they land", async ({ world }) => {
    const { fixture, pay, post, caller } = world;
    const tried: unknown[] = [];
    const lift = fixture.chain.faults.add(({ method, params }) => {
      if (method !== "sendTransaction") return undefined;
      tried.push(params[0]);
      return { kind: "drop" };
    });
    const { body } = await pay();
    const { body: created } = await post(body);
    for (let polls = 0; polls < 5; polls++) await fixture.service.settled();
    expect(tried.length).toBeGreaterThan(3);
    expect(new Set(tried)).toEqual(new Set([body.signedTransaction]));
    lift();
    await fixture.service.settled();
    await fixture.finalize();
    expect((await fixture.service.transaction(caller, created.transactionId)).status).toBe("completed");
  });

  // modules: webhooks
  test("W9: never landed and proved dead, it is failed with reason expired and told so", async ({
    world,
  }) => {
    const { fixture, pay, post, caller } = world;
    const told: string[] = [];
    fixture.service.subscribe({}, ({ event, data }) => told.push(`${event} ${String(data.reason)}`));
    fixture.chain.faults.add(dropping);
    const { body } = await pay();
    const { body: created } = await post(body);
    await fixture.service.settled();
    fixture.chain.advance(150);
    await fixture.service.settled();
    // The last valid height is passed at processed, but not yet at finalized: nothing is proved.
    expect((await fixture.service.transaction(caller, created.transactionId)).status).toBe("pending");
    fixture.chain.advance(60);
    await fixture.service.settled();
    expect(await fixture.service.transaction(caller, created.transactionId)).toMatchObject({
      status: "failed",
      reason: "expired",
      fee: "0",
    });
    expect(told).toEqual(["transaction.pending null", "transaction.failed expired"]);
  });

  // modules: webhooks
  test("first seen when already final, confirmed and completed are told in one commit and in order", async ({
    world,
  }) => {
    const { fixture, caller, alice, bob } = world;
    const told: string[] = [];
    fixture.service.subscribe({}, ({ event, timestamp }) => told.push(`${event} ${timestamp}`));
    const created = await fixture.send(caller, { from: alice, to: bob.address, amount: "1" });
    await fixture.service.settled();
    fixture.chain.advance(60);
    fixture.clock.advance(1_000);
    await fixture.service.settled();
    expect((await fixture.service.transaction(caller, created.transactionId)).status).toBe("completed");
    const now = fixture.clock.now();
    expect(told).toEqual([
      `transaction.pending ${now - 1_000}`,
      `transaction.confirmed ${now}`,
      `transaction.completed ${now}`,
    ]);
  });

  test("SOL is sent like any asset", async ({ world }) => {
    const { fixture, caller, alice, bob, post } = world;
    const { body } = await fixture.prepareSend(caller, {
      from: alice,
      to: bob.address,
      amount: "0.25",
      asset: "SOL",
    });
    await post(body);
    await fixture.finalize();
    expect((await fixture.service.balances(bob.address)).sol).toBe("0.25");
  });
});

test("E14: a database of another chain refuses to start, and to settle by what that chain shows", async ({
  open,
}) => {
  const { fixture, pay, post } = await open();
  const { body } = await pay();
  const { transactionId } = (await post(body)).body;
  const signature = signatureOf(body.signedTransaction);
  await fixture.service.stop();
  const other = await createLocalChain({ clock: fixture.clock, slotMs: 0, seed: "another chain" });
  const ledger = fixture.ledgerOf([{ url: "http://other", fetch: other.fetch }]);
  const misplaced = fixture.another({ ledger });
  const refused = /belongs to the chain with genesis hash/;
  await expect(misplaced.start()).rejects.toThrow(refused);
  await expect(misplaced.operator.settleTransaction({ transactionId, signature }, BY)).rejects.toThrow(
    refused,
  );
  await other.close();
});

test("two equal payments within one block are two payments", async ({ open }) => {
  const { pay, post, fixture, usdcOf, bob } = await open();
  const [one, two] = [await pay(), await pay()];
  await post(one.body);
  await post(two.body);
  await fixture.finalize();
  expect(await usdcOf(bob.address)).toBe("2");
});

// modules: webhooks
test("E10: ten minutes of nodes that take every call and answer none delay the end, and nothing is paid twice", async ({
  open,
}) => {
  const { fixture, pay, post, caller, usdcOf, bob } = await open();
  const told: string[] = [];
  fixture.service.subscribe({}, ({ event }) => told.push(event));
  const { body } = await pay();
  const { body: created } = await post(body);
  await fixture.service.settled();
  const lift = fixture.chain.faults.add(() => ({ kind: "hang" }));
  // Slots, time and the event loop go on together, as they do outside of tests.
  const live = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 400) {
      fixture.chain.advance(1);
      fixture.clock.advance(400);
      for (let turn = 0; turn < 12; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await live(10 * 60_000);
  expect(told).toEqual(["transaction.pending"]);
  lift();
  await live(2 * 60_000);
  expect((await fixture.service.transaction(caller, created.transactionId)).status).toBe("completed");
  expect(told).toEqual(["transaction.pending", "transaction.confirmed", "transaction.completed"]);
  expect(await usdcOf(bob.address)).toBe("1");
});
