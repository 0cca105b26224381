/** Wallet mode: what is refused, what is sent, what can be cancelled, and what the chain may do in between. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLocalChain } from "paystate/local";
import { PaymentError } from "../../src/errors.ts";
import type { ErrorCode } from "../../src/errors.ts";
import type { Caller } from "../../src/payments/caller.ts";
import type { Wallet } from "../kit/chain-fixture.ts";
import { serviceFixture } from "../kit/service-fixture.ts";
import type { PreparedSend, ServiceFixture } from "../kit/service-fixture.ts";

const FUNDS = { lamports: 1_000_000_000n, usdc: 50_000_000n };

let fixture: ServiceFixture;
let caller: Caller;
let alice: Wallet;
let bob: Wallet;

async function begin(options: Parameters<typeof serviceFixture>[0] = {}): Promise<void> {
  fixture = await serviceFixture(options);
  caller = await fixture.caller();
  alice = fixture.wallet("alice", FUNDS);
  bob = fixture.wallet("bob");
}

afterEach(() => fixture.close());

async function refusal(work: Promise<unknown>): Promise<PaymentError> {
  const thrown: unknown = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(thrown instanceof PaymentError)) throw new Error(`expected a PaymentError, got ${String(thrown)}`);
  return thrown;
}

async function expectRefusal(work: Promise<unknown>, code: ErrorCode, details: object): Promise<void> {
  const { code: thrown, details: given } = await refusal(work);
  expect({ code: thrown, details: given }).toMatchObject({ code, details });
}

const pay = (amount = "1"): Promise<PreparedSend> =>
  fixture.prepareSend(caller, { from: alice, to: bob.address, amount });
const post = (body: object, options = {}): ReturnType<ServiceFixture["service"]["createTransaction"]> =>
  fixture.service.createTransaction(caller, body as never, options);
const usdcOf = async (address: string): Promise<string> => {
  const { tokens } = await fixture.service.balances(address);
  return tokens.find(({ symbol }) => symbol === "USDC")?.balance ?? "0";
};

describe("a request is answered once", () => {
  beforeEach(() => begin());

  test("E1: the same Idempotency-Key and body twice is one transaction and a byte-equal answer", async () => {
    const { body } = await pay();
    const first = await post(body, { idempotencyKey: "k1" });
    const second = await post(body, { idempotencyKey: "k1" });
    expect(second.text).toBe(first.text);
    expect([first.replayed, second.replayed]).toEqual([false, true]);
  });

  test("E2: the same key with another body is IDEMPOTENCY_KEY_REUSED and nothing moves", async () => {
    const { body } = await pay();
    await post(body, { idempotencyKey: "k1" });
    const other = await pay("2");
    await expectRefusal(post(other.body, { idempotencyKey: "k1" }), "IDEMPOTENCY_KEY_REUSED", {});
    await fixture.finalize();
    expect(await usdcOf(bob.address)).toBe("1");
  });

  test("E4: one quote in two parallel transactions is used by exactly one", async () => {
    const { body, quote } = await pay();
    // Another transaction for the same quote: the same payment signed over a later blockhash.
    fixture.chain.advance(1);
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

  test("E18: a request whose answer was lost gets the same transaction without a key", async () => {
    const { body } = await pay();
    const { body: first } = await post(body);
    await fixture.finalize();
    const { body: again } = await post(body);
    expect(again).toEqual(first);
    expect(await usdcOf(bob.address)).toBe("1");
  });

  test("E16: the same bytes posted 100 times, before and after a restart, are paid once", async () => {
    const { body } = await pay();
    const ids = new Set<string>();
    for (let times = 0; times < 50; times++) ids.add((await post(body)).body.transactionId);
    await fixture.service.stop();
    const restarted = fixture.another();
    await restarted.start();
    for (let times = 0; times < 50; times++) {
      ids.add((await restarted.createTransaction(caller, body as never)).body.transactionId);
    }
    await restarted.settled();
    fixture.chain.advance(2);
    await restarted.settled();
    fixture.chain.advance(40);
    await restarted.settled();
    expect(ids.size).toBe(1);
    expect(await usdcOf(bob.address)).toBe("1");
    await restarted.stop();
  });

  test("W10: the same signed bytes under another quote are DUPLICATE_TRANSACTION, its id told to the owner only", async () => {
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

  test("W21: bytes already on the chain are refused under a fresh quote", async () => {
    const { body, quote } = await pay();
    await fixture.ledger.broadcast(Buffer.from(body.signedTransaction, "base64"));
    fixture.chain.advance(2);
    await expectRefusal(post({ ...body, quoteId: quote.quoteId }), "DUPLICATE_TRANSACTION", {});
  });
});

describe("what does not fit is refused and nothing is kept", () => {
  beforeEach(() => begin());

  test("W1, W2: mode left out is wallet, and wallet mode needs a signed transaction", async () => {
    const { body } = await pay();
    await expectRefusal(post({ ...body, signedTransaction: undefined }), "VALIDATION_ERROR", {
      fields: [{ path: "signedTransaction" }],
    });
    expect((await post(body)).body.mode).toBe("wallet");
  });

  test("W2: garbage, oversized, unsigned and altered transactions are INVALID_SIGNATURE with the right reason", async () => {
    const { body, quote } = await pay();
    const reasonOf = async (signedTransaction: string): Promise<unknown> =>
      (await refusal(post({ ...body, signedTransaction }))).details;
    expect(await reasonOf("not base64!")).toMatchObject({ reason: "not_base64" });
    expect(await reasonOf(Buffer.alloc(1_233, 1).toString("base64"))).toMatchObject({ reason: "too_large" });
    expect(await reasonOf(quote.transaction ?? "")).toMatchObject({ reason: "missing_signature" });
    const altered = Buffer.from(body.signedTransaction, "base64");
    altered[10] = (altered[10] ?? 0) ^ 1;
    expect(await reasonOf(altered.toString("base64"))).toMatchObject({ reason: "bad_signature" });
    // The quote is still unused: only a success uses it up.
    expect((await post(body)).body.status).toBe("pending");
  });

  test("W3: a transaction that pays another amount than declared is content_mismatch and is not broadcast", async () => {
    const { body } = await pay("1");
    const { body: two } = await fixture.service.createQuote(caller, {
      inputAsset: "USDC",
      outputAsset: "USDC",
      amount: "2",
    });
    const recipients = [{ address: bob.address, amount: "2" }];
    await expectRefusal(post({ ...body, quoteId: two.quoteId, recipients }), "INVALID_SIGNATURE", {
      reason: "content_mismatch",
    });
    await fixture.finalize();
    expect(await usdcOf(bob.address)).toBe("0");
  });

  test("E13: amounts that are not plain decimals of the asset are VALIDATION_ERROR", async () => {
    const { body } = await pay();
    const amounts = [
      "1e3",
      "1.",
      ".5",
      "-1",
      "0",
      "0.0",
      " 1",
      "１",
      "1.0000001",
      "18446744073709551616",
      "",
    ];
    for (const amount of amounts) {
      const recipients = [{ address: bob.address, amount }];
      await expectRefusal(post({ ...body, recipients }), "VALIDATION_ERROR", {
        fields: [{ path: "recipients.0.amount" }],
      });
    }
    expect((await post({ ...body, recipients: [{ address: bob.address, amount: "1.0" }] })).body.status).toBe(
      "pending",
    );
  });

  test("every way in which a quote does not fit has its reason", async () => {
    const { body, quote } = await pay();
    const reason = async (change: object, by: Caller = caller): Promise<unknown> => {
      const { code, details } = await refusal(
        fixture.service.createTransaction(by, { ...body, ...change } as never),
      );
      return code === "INVALID_QUOTE" ? (details as { reason: string }).reason : code;
    };
    const carol = fixture.wallet("carol");
    expect(await reason({ quoteId: "quote_unknown" })).toBe("not_found");
    expect(await reason({}, await fixture.caller())).toBe("not_found");
    expect(await reason({ mode: "private" })).toBe("mode_mismatch");
    expect(await reason({ type: "swap" })).toBe("same_asset");
    expect(await reason({ sender: bob.address })).toBe("sender_mismatch");
    expect(await reason({ recipients: [{ address: carol.address, amount: "1" }] })).toBe(
      "recipients_mismatch",
    );
    const { body: open } = await fixture.service.createQuote(caller, {
      inputAsset: "USDC",
      outputAsset: "USDC",
      amount: "3",
    });
    expect(await reason({ quoteId: open.quoteId })).toBe("amount_mismatch");
    fixture.clock.advance(30_000);
    expect(await reason({})).toBe("expired");
    // A refresh keeps the id and makes it usable again.
    await fixture.service.refreshQuote(caller, quote.quoteId);
    expect((await post(body)).body.status).toBe("pending");
  });

  test("recipients that nobody can spend from are INVALID_RECIPIENT before any money moves", async () => {
    const reasonFor = async (address: string): Promise<unknown> => {
      const { body: quote } = await fixture.service.createQuote(caller, {
        inputAsset: "SOL",
        outputAsset: "SOL",
        amount: "0.1",
      });
      const payment = { sender: alice.address, mint: null, decimals: 9 };
      const transfers = [{ recipient: address as never, amount: 100_000_000n }];
      const { bytes } = await fixture.ledger.buildPayment({ ...payment, transfers }, new Uint8Array(32));
      const { details } = await refusal(
        post({
          type: "send",
          quoteId: quote.quoteId,
          sender: alice.address,
          recipients: [{ address, amount: "0.1" }],
          signedTransaction: fixture.sign(Buffer.from(bytes).toString("base64"), alice),
        }),
      );
      return (details as { reason?: string }).reason;
    };
    expect(await reasonFor(fixture.mints.USDC)).toBe("mint");
    expect(await reasonFor("11111111111111111111111111111111")).toBe("program");
    expect(await reasonFor(fixture.tokenAccountOf(alice, "USDC"))).toBe("token_account");
  });

  test("W16: tokens without SOL for the fee are INSUFFICIENT_BALANCE naming the component", async () => {
    const poor = fixture.wallet("poor", { usdc: 5_000_000n });
    const { body } = await fixture.prepareSend(caller, { from: poor, to: bob.address, amount: "1" });
    const { code, details } = await refusal(post(body));
    expect(code).toBe("INSUFFICIENT_BALANCE");
    expect(details).toMatchObject({ asset: "SOL", component: "fee" });
  });

  test("W16: fewer tokens than the amount are INSUFFICIENT_BALANCE of the amount", async () => {
    const { body } = await pay("51");
    await expectRefusal(post(body), "INSUFFICIENT_BALANCE", {
      asset: "USDC",
      required: "51",
      available: "50",
      shortfall: "1",
      component: "amount",
    });
  });

  test("W7: an expired blockhash is refused at intake, W8: a fresh confirmed one is taken", async () => {
    const { body, quote } = await pay();
    fixture.chain.advance(160);
    await expectRefusal(post(body), "INVALID_SIGNATURE", { reason: "blockhash_expired" });
    const { body: refreshed } = await fixture.service.refreshQuote(caller, quote.quoteId);
    const signedTransaction = fixture.sign(refreshed.transaction ?? "", alice);
    expect((await post({ ...body, signedTransaction })).body.status).toBe("pending");
  });

  test("H20: a chain that cannot be asked is LedgerUnavailable and the quote stays unused", async () => {
    const { body } = await pay();
    const lift = fixture.chain.faults.add(() => ({ kind: "refuse", status: 503 }));
    const outage = post(body).catch((error: unknown) => error);
    // The ledger tries a few times; its pauses pass on the virtual clock.
    let ended = false;
    void outage.finally(() => {
      ended = true;
    });
    while (!ended) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      fixture.clock.advance(100);
    }
    expect(await outage).toMatchObject({ name: "LedgerUnavailable" });
    lift();
    const { quote } = await pay();
    await fixture.service.refreshQuote(caller, quote.quoteId);
  });
});

describe("cancelling races the broadcast, and one wins", () => {
  test("W11: cancelled before the broadcast is never sent, not even after a restart", async () => {
    await begin({ broadcastDelayMs: 5_000 });
    const { body } = await pay();
    const { body: created } = await post(body);
    const cancelled = await fixture.service.cancelTransaction(caller, created.transactionId);
    expect(cancelled).toEqual({
      transactionId: created.transactionId,
      status: "cancelled",
      cancelledAt: new Date(fixture.clock.now()).toISOString(),
    });
    await fixture.pass(20_000);
    await fixture.service.stop();
    const restarted = fixture.another();
    await restarted.start();
    await fixture.finalize();
    expect(await fixture.ledger.statuses([created.signature])).toEqual([null]);
    expect(await restarted.transaction(caller, created.transactionId)).toMatchObject({
      status: "cancelled",
      fee: "0",
    });
    await restarted.stop();
  });

  test("W12: of a cancellation and a broadcast at the same moment exactly one wins", async () => {
    await begin({ broadcastDelayMs: 1_000 });
    const outcomes = new Set<string>();
    for (let round = 0; round < 6; round++) {
      const { body } = await pay();
      const { body: created } = await post(body);
      await fixture.service.settled();
      fixture.clock.advance(1_000);
      // Even rounds ask at once, odd rounds give the timer a turn of the event loop first.
      if (round % 2 === 1) await fixture.service.settled();
      const cancelled = await fixture.service.cancelTransaction(caller, created.transactionId).then(
        () => true,
        () => false,
      );
      await fixture.finalize();
      const { status } = await fixture.service.transaction(caller, created.transactionId);
      const [landed] = await fixture.ledger.statuses([created.signature]);
      expect(landed === null).toBe(cancelled);
      expect(status).toBe(cancelled ? "cancelled" : "completed");
      outcomes.add(status);
    }
    expect(outcomes).toContain("completed");
  });

  test("W13: after the broadcast and still pending, cancelling is ALREADY_PROCESSED", async () => {
    await begin();
    const created = await fixture.send(caller, { from: alice, to: bob.address, amount: "1" });
    await fixture.service.settled();
    await expectRefusal(
      fixture.service.cancelTransaction(caller, created.transactionId),
      "ALREADY_PROCESSED",
      {
        transactionId: created.transactionId,
        currentStatus: "pending",
        reason: "broadcast",
        signature: created.signature,
      },
    );
  });

  test("W14: in every later status cancelling is CANNOT_CANCEL with its three fields", async () => {
    await begin({ broadcastDelayMs: 1_000 });
    const expectCannotCancel = async (transactionId: string, currentStatus: string): Promise<void> => {
      const { code, details } = await refusal(fixture.service.cancelTransaction(caller, transactionId));
      expect({ code, details }).toEqual({
        code: "CANNOT_CANCEL",
        details: { transactionId, currentStatus, allowedStatuses: ["pending"] },
      });
    };
    const first = await fixture.send(caller, { from: alice, to: bob.address, amount: "1" });
    await fixture.pass(1_000);
    fixture.chain.advance(2);
    await fixture.service.settled();
    await expectCannotCancel(first.transactionId, "confirmed");
    await fixture.finalize();
    await expectCannotCancel(first.transactionId, "completed");
    const second = await fixture.send(caller, { from: alice, to: bob.address, amount: "1" });
    await fixture.service.cancelTransaction(caller, second.transactionId);
    await expectCannotCancel(second.transactionId, "cancelled");
  });

  test("H16: another account's transaction is UNAUTHORIZED to cancel and not found to read", async () => {
    await begin({ broadcastDelayMs: 1_000 });
    const created = await fixture.send(caller, { from: alice, to: bob.address, amount: "1" });
    const stranger = await fixture.caller();
    const { transactionId } = created;
    await expectRefusal(fixture.service.cancelTransaction(stranger, transactionId), "UNAUTHORIZED", {
      transactionId,
    });
    await expectRefusal(fixture.service.transaction(stranger, transactionId), "TRANSACTION_NOT_FOUND", {});
    await expectRefusal(fixture.service.cancelTransaction(caller, "tx_unknown"), "TRANSACTION_NOT_FOUND", {});
  });

  test("H12: the eleventh cancellation in a minute is refused, and taken again when the window has moved", async () => {
    await begin();
    for (let times = 0; times < 10; times++) {
      await expectRefusal(
        fixture.service.cancelTransaction(caller, "tx_unknown"),
        "TRANSACTION_NOT_FOUND",
        {},
      );
    }
    await expectRefusal(fixture.service.cancelTransaction(caller, "tx_unknown"), "RATE_LIMIT_EXCEEDED", {
      scope: "cancel",
      limit: 10,
      windowSeconds: 60,
      retryAfter: 60,
      tier: "free",
    });
    fixture.clock.advance(60_000);
    await expectRefusal(fixture.service.cancelTransaction(caller, "tx_unknown"), "TRANSACTION_NOT_FOUND", {});
  });

  test("W22: cancelled here and broadcast by its caller all the same is shown as landedAfterCancel", async () => {
    await begin({ broadcastDelayMs: 5_000 });
    const { body } = await pay();
    const { body: created } = await post(body);
    await fixture.service.cancelTransaction(caller, created.transactionId);
    await fixture.ledger.broadcast(Buffer.from(body.signedTransaction, "base64"));
    await fixture.finalize();
    expect(await fixture.service.transaction(caller, created.transactionId)).toMatchObject({
      status: "cancelled",
      landedAfterCancel: true,
    });
  });
});

describe("the chain has the last word", () => {
  beforeEach(() => begin());

  test("E6: bytes, signature, message hash and last valid height are stored before anything is sent", async () => {
    const sent: string[] = [];
    const { body } = await pay();
    const lift = fixture.chain.faults.add(({ method }) => {
      if (method === "sendTransaction") sent.push(method);
      return undefined;
    });
    const stop = fixture.service.subscribe({}, () => undefined);
    const { body: created } = await post(body);
    const [attempt] = await fixture.storage.attempts([created.signature]);
    expect(sent).toEqual([]);
    expect(Buffer.from(attempt?.bytes ?? []).toString("base64")).toBe(body.signedTransaction);
    expect(attempt).toMatchObject({ transactionId: created.transactionId });
    expect(attempt?.messageHash).toMatch(/^[0-9a-f]{64}$/);
    expect(attempt?.lastValidBlockHeight).toBeGreaterThan(fixture.chain.blockHeight());
    await fixture.service.settled();
    expect(sent.length).toBeGreaterThan(0);
    lift();
    stop();
  });

  test("E8: bytes that had already landed count as sent", async () => {
    const { body } = await pay();
    const { body: created } = await post(body);
    await fixture.service.settled();
    await fixture.ledger.broadcast(Buffer.from(body.signedTransaction, "base64"));
    await fixture.finalize();
    expect((await fixture.service.transaction(caller, created.transactionId)).status).toBe("completed");
    expect(await usdcOf(bob.address)).toBe("1");
  });

  test("W9: dropped by every node, the same bytes are sent again until they land", async () => {
    const sent: unknown[] = [];
    const lift = fixture.chain.faults.add(({ method, params }) => {
      if (method !== "sendTransaction") return undefined;
      sent.push((params as unknown[])[0]);
      return { kind: "drop" };
    });
    const { body } = await pay();
    const { body: created } = await post(body);
    for (let polls = 0; polls < 5; polls++) await fixture.service.settled();
    expect(sent.length).toBeGreaterThan(3);
    expect(new Set(sent)).toEqual(new Set([body.signedTransaction]));
    lift();
    await fixture.service.settled();
    await fixture.finalize();
    expect((await fixture.service.transaction(caller, created.transactionId)).status).toBe("completed");
  });

  test("W9: never landed and proved dead, it is failed with reason expired and told so", async () => {
    const told: string[] = [];
    fixture.service.subscribe({}, ({ event, data }) => told.push(`${event} ${String(data.reason)}`));
    fixture.chain.faults.add(({ method }) => (method === "sendTransaction" ? { kind: "drop" } : undefined));
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

  test("first seen when already final, confirmed and completed are told in one commit and in order", async () => {
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

  test("SOL is sent like any asset", async () => {
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

test("E14: a database of another chain refuses to start", async () => {
  await begin();
  await fixture.service.stop();
  const other = await createLocalChain({ clock: fixture.clock, slotMs: 0, seed: "another chain" });
  const ledger = fixture.ledgerOf([{ url: "http://other", fetch: other.fetch }]);
  const misplaced = fixture.another({ ledger });
  await expect(misplaced.start()).rejects.toThrow(/belongs to the chain with genesis hash/);
  await other.close();
});

test("two equal payments within one block are two payments", async () => {
  await begin();
  const [one, two] = [await pay(), await pay()];
  await post(one.body);
  await post(two.body);
  await fixture.finalize();
  expect(await usdcOf(bob.address)).toBe("2");
});

test("more recipients than fit in one transaction are VALIDATION_ERROR when the quote is asked for", async () => {
  await begin();
  const recipients = Array.from({ length: 30 }, (_, index) => ({
    address: fixture.wallet(`payee ${index}`).address,
    amount: "1",
  }));
  await expectRefusal(
    fixture.service.createQuote(caller, {
      inputAsset: "USDC",
      outputAsset: "USDC",
      amount: "30",
      sender: alice.address,
      recipients,
    }),
    "VALIDATION_ERROR",
    { fields: [{ path: "recipients", message: "these recipients do not fit in one transaction" }] },
  );
});
