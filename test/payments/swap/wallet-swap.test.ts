/** A swap in wallet mode on the real programs: both legs move or neither, and the desk signs last. */
import { describe, expect } from "vitest";
import type { PaymentError } from "../../../src/errors/errors.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { units } from "../../kit/money.ts";
import { INVENTORY, signAsFirst, type SwapFixture, type SwapSettings } from "../../kit/swap-fixture.ts";
import { splitTransaction, joinTransaction } from "../../../src/ledger/wire-format.ts";
import { expectRefusal } from "../wallet/wallet-world.ts";
import { swapTest } from "../../kit/swap-test.ts";
import { dropping } from "../../kit/odd-endpoints.ts";

type Amounts = readonly [bigint, bigint, bigint];

const DESK: Amounts = [INVENTORY.lamports ?? 0n, INVENTORY.usdc ?? 0n, INVENTORY.usdt ?? 0n];
const ALICE: Amounts = [10_000_000_000n, 1_000_000_000n, 1_000_000_000n];
const ASSETS = ["SOL", "USDC", "USDT"] as const;
const decimalsOf = (asset: string): number => (asset === "SOL" ? 9 : 6);

/** Alice, who swaps. */
interface Stage extends SwapFixture {
  readonly customer: Caller;
  readonly alice: Wallet;
}

const test = swapTest
  .extend("openStage", ({ open }) => async (settings: SwapSettings = {}): Promise<Stage> => {
    const world = await open(settings);
    const customer = await world.caller();
    const [lamports, usdc, usdt] = ALICE;
    return { ...world, customer, alice: world.wallet("alice", { lamports, usdc, usdt }) };
  })
  .extend("world", ({ openStage }) => openStage());

/** What changed since the beginning, by asset. */
async function changed(world: Stage, address: string, before: Amounts): Promise<Amounts> {
  const [lamports, usdc, usdt] = await world.held(address);
  return [lamports - before[0], usdc - before[1], usdt - before[2]];
}

const post = (world: Stage, body: object) => world.service.createTransaction(world.customer, body as never);

describe("both legs", () => {
  test.for([
    ["SOL", "USDC", "1", "0.000010051"],
    ["USDC", "SOL", "150", "0.000010021"],
    ["USDC", "USDT", "40.000001", "0.000010051"],
    ["USDT", "USDC", "0.5", "0.000010051"],
  ] as const)(
    "W20: from %s to %s both move in one transaction, exactly as quoted",
    async ([give, get, amount, fee], { world }) => {
      const { alice } = world;
      const { quote, body } = await world.swap(world.customer, { sender: alice, give, get, amount });
      expect(quote).toMatchObject({ inputAmount: amount, feeAsset: "SOL", fee });
      expect(quote.minOutputAmount).toBe(quote.outputAmount);
      await world.finalize();

      const done = await world.service.transaction(world.customer, body.transactionId);
      const { signature } = body;
      expect(done).toMatchObject({ status: "completed", type: "swap", mode: "wallet", fee });
      expect(done.recipients).toEqual([
        { address: alice.address, amount: quote.outputAmount, status: "paid", signature },
      ]);
      const given = units(amount, decimalsOf(give));
      const got = units(quote.outputAmount, decimalsOf(get));
      const deltas = ASSETS.map((asset) => (asset === give ? given : asset === get ? -got : 0n));
      expect(await changed(world, world.desk, DESK)).toEqual(deltas);
      const hers = deltas.map((delta, index) => -delta - (index === 0 ? units(fee, 9) : 0n));
      expect(await changed(world, alice.address, ALICE)).toEqual(hers);
      expect(await world.promised(get)).toBe(0n);
    },
  );

  test("who has no account for what it gets pays for it, as quoted", async ({ world }) => {
    const bob = world.wallet("bob", { lamports: 2_000_000_000n });
    const { quote } = await world.swap(world.customer, {
      sender: bob,
      give: "SOL",
      get: "USDT",
      amount: "0.5",
    });
    expect(units(quote.fees.rent, 9)).toBeGreaterThan(0n);
    await world.finalize();
    const spent = units("0.5", 9) + units(quote.fee, 9);
    const got = units(quote.outputAmount, 6);
    expect(await world.held(bob.address)).toEqual([2_000_000_000n - spent, 0n, got]);
  });

  // modules: webhooks
  test("W19: a swap is told pending, confirmed and completed, with what was paid", async ({ world }) => {
    const { alice } = world;
    const told: string[] = [];
    world.service.subscribe({ accountId: world.customer.accountId }, ({ event, data }) =>
      told.push(`${event} ${data.type} ${data.recipients[0]?.amount ?? ""}`),
    );
    const { quote } = await world.swap(world.customer, {
      sender: alice,
      give: "SOL",
      get: "USDC",
      amount: "1",
    });
    await world.finalize();
    const words = `swap ${quote.outputAmount}`;
    expect(told).toEqual(["pending", "confirmed", "completed"].map((each) => `transaction.${each} ${words}`));
  });
});

describe("what the desk signs", () => {
  const delayedTest = test.extend("world", ({ openStage }) =>
    openStage({ options: { broadcastDelayMs: 5_000 } }),
  );

  delayedTest(
    "W20: an altered message is refused with content_mismatch and never signed by the desk",
    async ({ world }) => {
      const { alice } = world;
      const quote = await world.quote(world.customer, {
        sender: alice,
        give: "SOL",
        get: "USDC",
        amount: "1",
      });
      const { message, signatures } = splitTransaction(Buffer.from(quote.transaction ?? "", "base64")) ?? {
        message: new Uint8Array(),
        signatures: [],
      };
      const unsigned = signatures.map(() => null);
      for (let at = 0; at < message.length; at += 7) {
        const altered = Uint8Array.from(message);
        altered[at] = (altered[at] ?? 0) ^ 1;
        const bytes = Buffer.from(joinTransaction(altered, unsigned)).toString("base64");
        const work = post(world, world.signed(quote, alice, bytes));
        await expectRefusal(work, "INVALID_SIGNATURE", { reason: "content_mismatch" });
      }
      expect(world.deskSigned()).toBe(0);
    },
  );

  delayedTest("W2, W20: bytes that nobody, or somebody else, has signed are refused", async ({ world }) => {
    const { alice } = world;
    const mallory = world.wallet("mallory", { lamports: 1_000_000_000n });
    const quote = await world.quote(world.customer, { sender: alice, give: "SOL", get: "USDC", amount: "1" });
    const body = world.signed(quote, alice);
    const unsigned = quote.transaction ?? "";
    const oneByte = (text: string): string =>
      text.slice(0, 4) + (text[4] === "A" ? "B" : "A") + text.slice(5);
    for (const [signedTransaction, reason] of [
      [unsigned, "missing_signature"],
      [signAsFirst(unsigned, mallory), "bad_signature"],
      [oneByte(body.signedTransaction), "bad_signature"],
      [`!${body.signedTransaction.slice(1)}`, "not_base64"],
      ["A".repeat(2_000), "too_large"],
      ["", "undecodable"],
      ["AAAA", "undecodable"],
      [body.signedTransaction.slice(0, 400), "content_mismatch"],
      [Buffer.from([0x81, 1, ...new Uint8Array(1_500)]).toString("base64"), "content_mismatch"],
    ] as const) {
      await expectRefusal(post(world, { ...body, signedTransaction }), "INVALID_SIGNATURE", { reason });
    }
    expect(world.deskSigned()).toBe(0);
    await post(world, body);
  });

  delayedTest("W20: refreshing makes a new message, and the one before is refused", async ({ world }) => {
    const { alice } = world;
    const quote = await world.quote(world.customer, { sender: alice, give: "SOL", get: "USDC", amount: "1" });
    const { body: refreshed } = await world.service.refreshQuote(world.customer, quote.quoteId);
    expect(refreshed.transaction).not.toBe(quote.transaction);
    expect(refreshed.minOutputAmount).toBe(refreshed.outputAmount);
    const stale = world.signed(quote, alice);
    await expectRefusal(post(world, stale), "INVALID_SIGNATURE", { reason: "content_mismatch" });
    await post(world, world.signed({ ...quote, ...refreshed }, alice));
    expect(await world.promised("USDC")).toBe(units(refreshed.outputAmount, 6));
  });

  delayedTest(
    "a quote that is over is no use, and gives back what was set aside for it",
    async ({ world }) => {
      const { alice } = world;
      const quote = await world.quote(world.customer, {
        sender: alice,
        give: "SOL",
        get: "USDC",
        amount: "1",
      });
      await world.pass(30_000);
      await expectRefusal(post(world, world.signed(quote, alice)), "INVALID_QUOTE", { reason: "expired" });
      // Nobody sweeps: whoever quotes next releases it.
      const next = await world.quote(world.customer, {
        sender: alice,
        give: "SOL",
        get: "USDC",
        amount: "1",
      });
      expect(await world.promised("USDC")).toBe(units(next.outputAmount, 6));
      expect(next.outputAmount).toBe(quote.outputAmount);
    },
  );

  delayedTest(
    "W11: cancelled before its broadcast, a swap is never signed by the desk",
    async ({ world }) => {
      const { alice } = world;
      const { body } = await world.swap(world.customer, {
        sender: alice,
        give: "SOL",
        get: "USDC",
        amount: "1",
      });
      await world.service.cancelTransaction(world.customer, body.transactionId);
      expect(await world.promised("USDC")).toBe(0n);
      await world.pass(10_000);
      world.chain.advance(200);
      await world.pass(10_000);
      expect(world.deskSigned()).toBe(0);
      expect(await changed(world, world.desk, DESK)).toEqual([0n, 0n, 0n]);
      expect(await world.service.transaction(world.customer, body.transactionId)).toMatchObject({
        status: "cancelled",
        fee: "0",
      });
    },
  );

  delayedTest(
    "W20: when the user's leg fails the desk is untouched, and what was set aside is free again",
    async ({ world }) => {
      const { alice } = world;
      const { body } = await world.swap(world.customer, {
        sender: alice,
        give: "USDC",
        get: "SOL",
        amount: "150",
      });
      const { USDC } = world.mints;
      const gone = {
        mint: USDC,
        decimals: 6,
        from: alice.address,
        to: world.sponsor.address,
        amount: ALICE[1],
      };
      await world.move(alice, { does: "transfer", ...gone, accountPayer: alice.address });
      await world.pass(5_000);
      expect(world.deskSigned()).toBe(1);
      expect(await world.promised("SOL")).toBeGreaterThan(0n);
      for (let round = 0; round < 6; round++) {
        world.chain.advance(60);
        await world.pass(1_000);
      }
      const failed = await world.service.transaction(world.customer, body.transactionId);
      expect(failed).toMatchObject({ status: "failed", recipients: [{ status: "unpaid" }] });
      expect(await changed(world, world.desk, DESK)).toEqual([0n, 0n, 0n]);
      expect(await world.promised("SOL")).toBe(0n);
    },
  );

  delayedTest(
    "W9: a swap that no node ever takes is proved dead, and what was set aside is free again",
    async ({ world }) => {
      const { alice } = world;
      world.chain.faults.add(dropping);
      const { body } = await world.swap(world.customer, {
        sender: alice,
        give: "SOL",
        get: "USDC",
        amount: "1",
      });
      await world.pass(5_000);
      expect(world.deskSigned()).toBe(1);
      for (let round = 0; round < 6; round++) {
        expect(await world.promised("USDC")).toBeGreaterThan(0n);
        world.chain.advance(60);
        await world.pass(1_000);
        const { status } = await world.service.transaction(world.customer, body.transactionId);
        if (status === "failed") break;
      }
      const failed = await world.service.transaction(world.customer, body.transactionId);
      expect(failed).toMatchObject({ status: "failed", reason: "expired", fee: "0" });
      expect(await world.promised("USDC")).toBe(0n);
    },
  );
});

describe("what is refused before anything is kept", () => {
  test("E4: of two posts of one quote at once exactly one is taken", async ({ world }) => {
    const { alice } = world;
    const quote = await world.quote(world.customer, { sender: alice, give: "SOL", get: "USDC", amount: "1" });
    const body = world.signed(quote, alice);
    const other = { ...body, recipients: [{ ...body.recipients[0], amount: `${quote.outputAmount}0` }] };
    const results = await Promise.allSettled([post(world, body), post(world, other)]);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const [lost] = results.flatMap((each) => (each.status === "rejected" ? [each.reason as Error] : []));
    expect(["INVALID_QUOTE", "DUPLICATE_TRANSACTION"]).toContain((lost as PaymentError | undefined)?.code);
    await world.finalize();
    expect((await changed(world, world.desk, DESK))[0]).toBe(units("1", 9));
  });

  test("E1, E18: the same post again, with a key or without, is answered with the same swap", async ({
    world,
  }) => {
    const { alice } = world;
    const quote = await world.quote(world.customer, { sender: alice, give: "SOL", get: "USDC", amount: "1" });
    const body = world.signed(quote, alice);
    const keyed = { idempotencyKey: "once" };
    const first = await world.service.createTransaction(world.customer, body, keyed);
    const second = await world.service.createTransaction(world.customer, body, keyed);
    expect([second.text, second.replayed]).toEqual([first.text, true]);
    await world.finalize();
    expect((await world.service.createTransaction(world.customer, body)).body).toEqual(first.body);
    expect((await changed(world, world.desk, DESK))[0]).toBe(units("1", 9));
  });

  test("a quote is made once per key, and sets aside once", async ({ world }) => {
    const { alice } = world;
    const request = { inputAsset: "SOL", outputAsset: "USDC", amount: "1", sender: alice.address };
    const keyed = { idempotencyKey: "one-quote" };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => world.service.createQuote(world.customer, request, keyed)),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await world.promised("USDC")).toBe(units(answers[0]?.body.outputAmount ?? "0", 6));
  });

  test("a swap pays its sender, exactly what was quoted, under a quote made for this sender", async ({
    world,
  }) => {
    const { alice } = world;
    const bob = world.wallet("bob", { lamports: 1_000_000_000n });
    const quote = await world.quote(world.customer, { sender: alice, give: "SOL", get: "USDC", amount: "1" });
    const body = world.signed(quote, alice);
    const paying = (address: string, amount = quote.outputAmount) =>
      post(world, { ...body, recipients: [{ address, amount }] });
    await expectRefusal(paying(bob.address), "INVALID_RECIPIENT", { index: 0, reason: "not_sender" });
    await expectRefusal(paying(alice.address, "1"), "INVALID_QUOTE", { reason: "amount_mismatch" });
    const bobs = {
      ...body,
      sender: bob.address,
      recipients: [{ ...body.recipients[0], address: bob.address }],
    };
    await expectRefusal(post(world, bobs), "INVALID_QUOTE", { reason: "sender_mismatch" });
    await expectRefusal(post(world, { ...body, type: "send" }), "INVALID_QUOTE", {
      reason: "asset_mismatch",
    });
  });

  test("without a sender a quote is an indication: no transaction, nothing set aside, nothing to post", async ({
    world,
  }) => {
    const { alice } = world;
    const { body: quote } = await world.service.createQuote(world.customer, {
      inputAsset: "SOL",
      outputAsset: "USDC",
      amount: "1",
    });
    expect(quote.transaction).toBeUndefined();
    expect(await world.promised("USDC")).toBe(0n);
    const recipients = [{ address: alice.address, amount: quote.outputAmount }];
    const body = {
      type: "swap",
      quoteId: quote.quoteId,
      sender: alice.address,
      recipients,
      signedTransaction: "AQ==",
    };
    await expectRefusal(post(world, body), "INVALID_QUOTE", { reason: "sender_mismatch" });
  });

  test("a swap's quote takes no recipients, and no amount below 0.001", async ({ world }) => {
    const { alice } = world;
    const request = { inputAsset: "SOL", outputAsset: "USDC", amount: "1", sender: alice.address };
    const recipients = [{ address: alice.address, amount: "1" }];
    const quoting = (more: object) => world.service.createQuote(world.customer, { ...request, ...more });
    await expectRefusal(quoting({ recipients }), "VALIDATION_ERROR", { fields: [{ path: "recipients" }] });
    await expectRefusal(quoting({ amount: "0.0009" }), "AMOUNT_TOO_SMALL", { minimum: "0.001" });
  });

  test("W16: who has too little is told what of, and how much is missing", async ({ world }) => {
    const cases = [
      ["amount", "USDC", { lamports: 1_000_000_000n, usdc: 1n }, "USDC", "SOL", "1"],
      ["fee", "SOL", { lamports: 1_000_000_000n, usdc: 1n }, "SOL", "USDC", "0.999995"],
      ["rent", "SOL", { lamports: 1_000_000n, usdc: 5_000_000n }, "USDC", "USDT", "1"],
      ["rent", "SOL", { lamports: 1_000_020_000n }, "SOL", "USDC", "1"],
      // It could pay, but an account that is not empty must not hold so little.
      ["rent", "SOL", { lamports: 1_000_015_000n, usdc: 1n }, "SOL", "USDC", "1"],
    ] as const;
    for (const [index, [component, asset, funds, give, get, amount]] of cases.entries()) {
      const poor = world.wallet(`poor ${index}`, funds);
      const quote = await world.quote(world.customer, { sender: poor, give, get, amount });
      const refused = post(world, world.signed(quote, poor));
      await expectRefusal(refused, "INSUFFICIENT_BALANCE", { component, asset });
    }
    expect(world.deskSigned()).toBe(0);
  });

  test("a frozen account, the user's or the desk's, is found before anything is kept", async ({ world }) => {
    const { alice } = world;
    const quote = await world.quote(world.customer, {
      sender: alice,
      give: "USDC",
      get: "USDT",
      amount: "1",
    });
    await world.freeze(alice, "USDT");
    await expectRefusal(post(world, world.signed(quote, alice)), "TRANSACTION_WOULD_FAIL", {
      reason: "frozen",
    });
    const next = await world.quote(world.customer, { sender: alice, give: "SOL", get: "USDC", amount: "1" });
    await world.freeze(world.deskWallet, "USDC");
    await expectRefusal(post(world, world.signed(next, alice)), "INSUFFICIENT_LIQUIDITY", { available: "0" });
  });

  test("W7: a blockhash that has expired under a living quote is refused", async ({ world }) => {
    const { alice } = world;
    const quote = await world.quote(world.customer, { sender: alice, give: "SOL", get: "USDC", amount: "1" });
    world.chain.advance(200);
    const refused = post(world, world.signed(quote, alice));
    await expectRefusal(refused, "INVALID_SIGNATURE", { reason: "blockhash_expired" });
  });
});

test("without a provider there is nothing to swap with", async ({ openStage }) => {
  const world = await openStage();
  const off = world.another({ swap: undefined });
  const request = { inputAsset: "SOL", outputAsset: "USDC", amount: "1" };
  await expectRefusal(off.createQuote(world.customer, request), "ROUTING_UNAVAILABLE", { reason: "off" });
});
