/** Transactions over HTTP, each case through every way into the handler. */
import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signedVersion1 } from "../kit/version-1.ts";
import { sampled } from "../kit/thorough.ts";
import { httpFixture, type HttpFixture, type Told } from "./http-fixture.ts";
import { HOSTED_WAYS, WAYS } from "./ways.ts";

const MEMO = new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");

describe.each(sampled([...WAYS, ...HOSTED_WAYS], "ways to transactions"))("$name", (way) => {
  let http: HttpFixture;
  beforeAll(async () => {
    // A minute in which a caller may still cancel would be longer than a blockhash lives; 10 seconds are enough.
    http = await httpFixture(way, { service: { broadcastDelayMs: 10_000 } });
  });
  afterAll(() => http.close());

  test("a send goes from quote to completed, with the contract's codes and bodies", async () => {
    const client = await http.client();
    const { body, quote } = await client.prepareSend();
    const created = await client.post("/v1/transactions", body);
    expect(created.status).toBe(201);
    const transactionId = String(created.body["transactionId"]);
    expect(created.headers.get("location")).toBe(`${way.prefix}/v1/transactions/${transactionId}`);
    expect(Object.keys(created.body)).toEqual([
      ...["transactionId", "status", "mode", "signature", "createdAt"],
      ...["sender", "quoteId", "inputAsset", "inputMint", "inputAmount"],
      ...["outputAsset", "outputMint", "outputAmount"],
    ]);

    await http.pass(10_000);
    await http.finalize();
    const done = await client.get(`/v1/transactions/${transactionId}`);
    expect(done.status).toBe(200);
    expect(done.body).toMatchObject({ transactionId, status: "completed", mode: "wallet", type: "send" });
    const again = await client.post(`/v1/quotes/${quote.quoteId}/refresh`);
    expect(again).toMatchObject({ status: 422, code: "INVALID_QUOTE", details: { reason: "used" } });
  });

  test("N6: the largest transaction of version 1, to as many as a quote takes, fits a request", async () => {
    const client = await http.client();
    const payer = http.wallet("payer of many", { lamports: 10_000_000_000n });
    const to = Array.from({ length: 61 }, () => Keypair.generate().publicKey);
    const recipients = to.map((key) => ({ address: key.toBase58(), amount: "0.01" }));
    const asked = {
      inputAsset: "SOL",
      outputAsset: "SOL",
      amount: "0.61",
      sender: payer.address,
      recipients,
    };
    const tooMany = {
      ...asked,
      amount: "0.62",
      recipients: [...recipients, { address: Keypair.generate().publicKey.toBase58(), amount: "0.01" }],
    };
    expect(await client.post("/v1/quotes", { ...tooMany, transactionVersion: 1 })).toMatchObject({
      status: 400,
      code: "VALIDATION_ERROR",
      details: {
        fields: [{ path: "recipients", message: expect.stringContaining("at most 61") as unknown }],
      },
    });
    const quote = await client.post("/v1/quotes", { ...asked, transactionVersion: 1 });
    expect(quote).toMatchObject({ status: 201, body: { transactionVersion: 1 } });
    const fromPubkey = new PublicKey(payer.address);
    const filledTo = (bytes: number): Promise<string> =>
      signedVersion1(http, {
        signers: [payer],
        instructions: [
          ...to.map((toPubkey) => SystemProgram.transfer({ fromPubkey, toPubkey, lamports: 10_000_000 })),
          new TransactionInstruction({ programId: MEMO, keys: [], data: Buffer.alloc(bytes, 97) }),
        ],
      });
    const around = Buffer.from(await filledTo(0), "base64").length;
    const signedTransaction = await filledTo(4_096 - around);
    expect(Buffer.from(signedTransaction, "base64")).toHaveLength(4_096);
    const { quoteId } = quote.body;
    const order = { type: "payroll", quoteId, sender: payer.address, recipients, signedTransaction };
    const created = await client.post("/v1/transactions", order);
    expect(created.status).toBe(201);
    await http.pass(10_000);
    await http.finalize();
    const done = await client.get(`/v1/transactions/${String(created.body["transactionId"])}`);
    expect(done.body).toMatchObject({ status: "completed", type: "payroll" });
  });

  test("a quote is made with 201 and refreshed, without a body, with 200", async () => {
    const client = await http.client();
    const asked = { inputAsset: "USDC", outputAsset: "USDC", amount: "2.5" };
    const quote = await client.post("/v1/quotes", asked);
    expect(quote.status).toBe(201);
    http.clock.advance(1_000);
    const refreshed = await client.request(`/v1/quotes/${String(quote.body["quoteId"])}/refresh`, {
      method: "POST",
    });
    expect(refreshed.status).toBe(200);
    expect(refreshed.body).toMatchObject({
      quoteId: quote.body["quoteId"],
      outputAmount: "2.5",
      priceImpact: 0,
    });
    expect(refreshed.body["expiresAt"]).not.toBe(quote.body["expiresAt"]);
    const path = `/v1/quotes/${String(quote.body["quoteId"])}/refresh`;
    const kept = await client.post(path, undefined, { "idempotency-key": "k" });
    http.clock.advance(1_000);
    expect((await client.post(path, undefined, { "idempotency-key": "k" })).text).toBe(kept.text);
  });

  test("E1: the same Idempotency-Key and body twice is one transaction and a byte-equal answer", async () => {
    const client = await http.client();
    const { body } = await client.prepareSend();
    const first = await client.post("/v1/transactions", body, { "idempotency-key": "k1" });
    const second = await client.post("/v1/transactions", body, { "idempotency-key": "k1" });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.text).toBe(first.text);
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(second.headers.get("location")).toBe(first.headers.get("location"));
    expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    // The replay gave its hit back.
    expect(second.headers.get("ratelimit")).toBe(first.headers.get("ratelimit"));
  });

  test("E2: the same Idempotency-Key with another body is 422 and moves nothing", async () => {
    const client = await http.client();
    const first = await client.prepareSend();
    const second = await client.prepareSend();
    await client.post("/v1/transactions", first.body, { "idempotency-key": "k1" });
    const reused = await client.post("/v1/transactions", second.body, { "idempotency-key": "k1" });
    expect(reused).toMatchObject({ status: 422, code: "IDEMPOTENCY_KEY_REUSED" });
    // The second quote is still good: nothing was used up.
    expect((await client.post(`/v1/quotes/${second.quote.quoteId}/refresh`)).status).toBe(200);
  });

  test("E3: 100 parallel calls with one key are one transaction, paid once", async () => {
    const client = await http.client({ tier: "enterprise" });
    const from = http.wallet("payer of one", { lamports: 1_000_000_000n, usdc: 100_000_000n });
    const to = http.wallet("paid once").address;
    const { body } = await http.prepareSend(client.caller, { from, to, amount: "1" });
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => client.post("/v1/transactions", body, { "idempotency-key": "one" })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const fresh = answers.filter(({ headers }) => headers.get("idempotent-replayed") === null);
    expect(fresh).toHaveLength(1);
    await http.pass(10_000);
    await http.finalize();
    expect((await http.service.balances(to)).tokens).toMatchObject([{ symbol: "USDC", balance: "1" }]);
  });

  test("E4: one quote in two parallel requests is exactly one 201, the other INVALID_QUOTE used", async () => {
    const client = await http.client();
    const { body } = await client.prepareSend();
    const { body: another } = await client.prepareSend();
    const bodies = [body, { ...another, quoteId: body.quoteId }];
    const answers = await Promise.all(bodies.map((sent) => client.post("/v1/transactions", sent)));
    const [accepted, refused] = answers.toSorted(byStatus);
    expect(accepted?.status).toBe(201);
    expect(refused).toMatchObject({ status: 422, code: "INVALID_QUOTE", details: { reason: "used" } });
  });

  test.each([
    "1e3",
    "1.",
    ".5",
    "-1",
    "0",
    " 1",
    "１",
    "1.0000001",
    "18446744073709551616",
    "18446744073709.551616",
  ])("E13: the amount %j is refused with 400", async (amount) => {
    const client = await http.client();
    const refused = await client.post("/v1/quotes", { inputAsset: "USDC", outputAsset: "USDC", amount });
    expect(refused).toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
    expect(refused.details["fields"]).toMatchObject([{ path: "amount" }]);
    const { body } = await client.prepareSend();
    const recipients = [{ ...body.recipients[0], amount }];
    const unpaid = await client.post("/v1/transactions", { ...body, recipients });
    expect(unpaid).toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
    expect(unpaid.details["fields"]).toMatchObject([{ path: "recipients.0.amount" }]);
  });

  test("E18: a lost answer, posted again without a key, is the same transaction", async () => {
    const client = await http.client();
    const { body } = await client.prepareSend();
    const first = await client.post("/v1/transactions", body);
    const second = await client.post("/v1/transactions", body);
    expect(second.status).toBe(201);
    expect(second.text).toBe(first.text);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
  });

  test("W1: a mode left out is wallet", async () => {
    const client = await http.client();
    const { body } = await client.prepareSend();
    expect(body).not.toHaveProperty("mode");
    expect((await client.post("/v1/transactions", body)).body["mode"]).toBe("wallet");
  });

  test("W2: wallet mode without signedTransaction is VALIDATION_ERROR, garbage is INVALID_SIGNATURE", async () => {
    const client = await http.client();
    const { body } = await client.prepareSend();
    const unsigned = { ...body, signedTransaction: undefined };
    const missing = await client.post("/v1/transactions", unsigned);
    expect(missing).toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
    expect(missing.details["fields"]).toMatchObject([{ path: "signedTransaction" }]);
    const garbage = await client.post("/v1/transactions", { ...body, signedTransaction: "%%%" });
    expect(garbage).toMatchObject({
      status: 400,
      code: "INVALID_SIGNATURE",
      details: { reason: "not_base64" },
    });
  });

  test("W3: a transaction that pays another address is refused with content_mismatch", async () => {
    const client = await http.client();
    const { body } = await client.prepareSend();
    // A quote that binds nobody, so that only the signed bytes can tell.
    const asked = { inputAsset: "USDC", outputAsset: "USDC", amount: "1" };
    const { body: quote } = await client.post("/v1/quotes", asked);
    const recipients = [{ address: http.wallet("mallory").address, amount: "1" }];
    const refused = await client.post("/v1/transactions", { ...body, quoteId: quote["quoteId"], recipients });
    expect(refused).toMatchObject({ status: 400, code: "INVALID_SIGNATURE" });
    expect(refused.details["reason"]).toBe("content_mismatch");
    expect((await client.post("/v1/transactions", body)).status).toBe(201);
  });

  test("W10: the same signed bytes under another quote are DUPLICATE_TRANSACTION", async () => {
    const client = await http.client();
    const { body } = await client.prepareSend();
    const { body: original } = await client.post("/v1/transactions", body);
    const asked = { inputAsset: "USDC", outputAsset: "USDC", amount: "1" };
    const { body: quote } = await client.post("/v1/quotes", asked);
    const duplicate = await client.post("/v1/transactions", { ...body, quoteId: quote["quoteId"] });
    expect(duplicate).toMatchObject({ status: 409, code: "DUPLICATE_TRANSACTION" });
    expect(duplicate.details["transactionId"]).toBe(original["transactionId"]);
  });

  test("W11, W14: DELETE cancels what was not sent; a second one is CANNOT_CANCEL with its three fields", async () => {
    const client = await http.client();
    const { body } = await client.prepareSend();
    const { body: created } = await client.post("/v1/transactions", body);
    const transactionId = String(created["transactionId"]);
    const cancelled = await client.delete(`/v1/transactions/${transactionId}`);
    expect(cancelled.status).toBe(200);
    expect(cancelled.body).toEqual({
      transactionId,
      status: "cancelled",
      cancelledAt: cancelled.body["cancelledAt"],
    });
    const again = await client.delete(`/v1/transactions/${transactionId}`);
    expect(again).toMatchObject({ status: 409, code: "CANNOT_CANCEL" });
    expect(again.details).toEqual({
      transactionId,
      currentStatus: "cancelled",
      allowedStatuses: ["pending"],
      requestId: again.headers.get("x-request-id"),
      docUrl: "/v1/docs#CANNOT_CANCEL",
    });
  });

  test("W13: DELETE after the broadcast, while pending, is ALREADY_PROCESSED", async () => {
    const client = await http.client();
    const { body } = await client.prepareSend();
    const { body: created } = await client.post("/v1/transactions", body);
    await http.pass(10_000);
    const late = await client.delete(`/v1/transactions/${String(created["transactionId"])}`);
    expect(late).toMatchObject({ status: 409, code: "ALREADY_PROCESSED" });
    expect(late.details).toMatchObject({ currentStatus: "pending", reason: "broadcast" });
  });
});

function byStatus(one: Told, other: Told): number {
  return one.status - other.status;
}
