/** A request for a payment is answered once, however often and however much at once it is made. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { sqliteStorage } from "../../kit/storages.ts";
import { expectRefusal, refusal } from "./wallet-world.ts";
import { walletTest as test } from "./wallet-test.ts";

describe("a request is answered once", () => {
  test("E1: the same Idempotency-Key and body twice is one transaction and a byte-equal answer", async ({
    world,
  }) => {
    const { pay, post } = world;
    const { body } = await pay();
    const first = await post(body, { idempotencyKey: "k1" });
    const second = await post(body, { idempotencyKey: "k1" });
    expect(second.text).toBe(first.text);
    expect([first.replayed, second.replayed]).toEqual([false, true]);
  });

  test("E2: the same key with another body is IDEMPOTENCY_KEY_REUSED and nothing moves", async ({
    world,
  }) => {
    const { pay, post, fixture, usdcOf, bob } = world;
    const { body } = await pay();
    await post(body, { idempotencyKey: "k1" });
    const other = await pay("2");
    await expectRefusal(post(other.body, { idempotencyKey: "k1" }), "IDEMPOTENCY_KEY_REUSED", {});
    await fixture.finalize();
    expect(await usdcOf(bob.address)).toBe("1");
  });

  test("E4: one quote in two parallel transactions is used by exactly one", async ({ world }) => {
    const { pay, fixture, caller, alice, post, usdcOf, bob } = world;
    const { body, quote } = await pay();
    // Another transaction for the same quote: the same payment signed over a later blockhash.
    fixture.chain.advance(3);
    const { body: refreshed } = await fixture.service.refreshQuote(caller, quote.quoteId);
    const resigned = fixture.sign(refreshed.transaction ?? "", alice);
    const results = await Promise.allSettled([post(body), post({ ...body, signedTransaction: resigned })]);
    const won = results.filter(({ status }) => status === "fulfilled");
    const lost = results.flatMap((result) =>
      result.status === "rejected" ? [result.reason as unknown] : [],
    );
    expect(won).toHaveLength(1);
    expect(lost).toEqual([expect.objectContaining({ code: "INVALID_QUOTE" })]);
    expect(lost).toMatchObject([{ details: { reason: "used" } }]);
    await fixture.finalize();
    expect(await usdcOf(bob.address)).toBe("1");
  });

  test("E18: a request whose answer was lost gets the same transaction without a key", async ({ world }) => {
    const { pay, post, fixture, usdcOf, bob } = world;
    const { body } = await pay();
    const { body: first } = await post(body);
    await fixture.finalize();
    const { body: again } = await post(body);
    expect(again).toEqual(first);
    expect(await usdcOf(bob.address)).toBe("1");
  });

  test("W10: the same signed bytes under another quote are DUPLICATE_TRANSACTION, its id told to the owner only", async ({
    world,
  }) => {
    const { pay, post, fixture } = world;
    const { body } = await pay();
    const { body: first } = await post(body);
    const another = await pay();
    await expectRefusal(post({ ...body, quoteId: another.quote.quoteId }), "DUPLICATE_TRANSACTION", {
      transactionId: first.transactionId,
    });
    const stranger = await fixture.caller();
    const { body: strangersQuote } = await fixture.service.createQuote(stranger, {
      inputAsset: "USDC",
      outputAsset: "USDC",
      amount: "1",
    });
    const refused = await refusal(
      fixture.service.createTransaction(stranger, { ...body, quoteId: strangersQuote.quoteId } as never),
    );
    expect(refused.code).toBe("DUPLICATE_TRANSACTION");
    expect(refused.details).toEqual({});
  });

  test("W21: bytes already on the chain are refused under a fresh quote", async ({ world }) => {
    const { pay, fixture, post } = world;
    const { body, quote } = await pay();
    await fixture.ledger.broadcast(Buffer.from(body.signedTransaction, "base64"));
    fixture.chain.advance(2);
    await expectRefusal(post({ ...body, quoteId: quote.quoteId }), "DUPLICATE_TRANSACTION", {});
  });
});

describe("on a database file", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "paystate-answers-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const database = (): ReturnType<typeof sqliteStorage> => sqliteStorage(join(folder, "payments.db"));

  test("E3: 100 parallel calls with one key are one transaction, paid once", async ({ open }) => {
    const storage = await database();
    const { pay, post, fixture, usdcOf, bob } = await open({ storage });
    const { body } = await pay();
    const answers = await Promise.all(Array.from({ length: 100 }, () => post(body, { idempotencyKey: "k" })));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    await fixture.finalize();
    expect(await usdcOf(bob.address)).toBe("1");
    await fixture.service.stop();
    await storage.close();
  });

  test("E16: the same bytes sent 100 times, to us and to the chain, across five restarts are paid once", async ({
    open,
  }) => {
    const first = await database();
    const { pay, fixture, caller, bob } = await open({ storage: first });
    const { body } = await pay();
    await fixture.service.stop();
    await first.close();
    const ids = new Set<string>();
    for (let life = 0; life < 5; life++) {
      const storage = await database();
      const service = fixture.another({ storage });
      await service.start();
      for (let times = 0; times < 20; times++) {
        const { body: answer } = await service.createTransaction(caller, body as never);
        ids.add(answer.transactionId);
        await fixture.ledger.broadcast(Buffer.from(body.signedTransaction, "base64"));
      }
      await service.settled();
      fixture.chain.advance(20);
      await service.settled();
      await service.stop();
      await storage.close();
    }
    expect(ids.size).toBe(1);
    const { holdings } = await fixture.ledger.balances(bob.address);
    expect(holdings).toMatchObject([{ mint: fixture.mints.USDC, amount: 1_000_000n }]);
  });
});
