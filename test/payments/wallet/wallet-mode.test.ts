/** What wallet mode refuses, with which code and details; nothing that is refused is kept. */
import { createTransferCheckedInstruction } from "@solana/spl-token";
import { PublicKey, SystemProgram, TransactionInstruction } from "@solana/web3.js";
import { describe, expect } from "vitest";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { keyOf, signed } from "../../solana/signed-transaction.ts";
import { expectRefusal, refusal } from "./wallet-world.ts";
import { unreadable } from "../../kit/unreadable.ts";
import { walletTest as test } from "./wallet-test.ts";

describe("what does not fit is refused and nothing is kept", () => {
  test("W1, W2: mode left out is wallet, and wallet mode needs a signed transaction", async ({ world }) => {
    const { pay, post } = world;
    const { body } = await pay();
    await expectRefusal(post({ ...body, signedTransaction: undefined }), "VALIDATION_ERROR", {
      fields: [{ path: "signedTransaction" }],
    });
    expect((await post(body)).body.mode).toBe("wallet");
  });

  test("W2: whatever is wrong with the bytes is INVALID_SIGNATURE with its reason, and the quote stays good", async ({
    world,
  }) => {
    const { pay, alice, fixture, bob, post, sent } = world;
    const { body, quote } = await pay();
    const good = Buffer.from(body.signedTransaction, "base64");
    const changed = (at: number, bit: number): string => {
      const bytes = Buffer.from(good);
      bytes[at] = (bytes[at] ?? 0) ^ bit;
      return bytes.toString("base64");
    };
    const pays = (recipient: string): TransactionInstruction =>
      SystemProgram.transfer({ fromPubkey: keyOf(alice), toPubkey: new PublicKey(recipient), lamports: 1 });
    const signedBy = (...instructions: TransactionInstruction[]): Promise<string> =>
      signed(fixture, { signers: [alice], instructions });
    const nonce = SystemProgram.nonceAdvance({
      noncePubkey: keyOf(bob),
      authorizedPubkey: keyOf(alice),
    });
    const unknown = new TransactionInstruction({ programId: keyOf(bob), keys: [], data: Buffer.alloc(1) });
    const wrong: Readonly<Record<string, string>> = {
      "not base64!": "not_base64",
      [body.signedTransaction.slice(0, -1)]: "not_base64",
      [Buffer.alloc(1_233, 1).toString("base64")]: "too_large",
      [Buffer.alloc(1_232, 1).toString("base64")]: "undecodable",
      [good.subarray(0, -1).toString("base64")]: "undecodable",
      [changed(65, 0x80)]: "unsupported_version",
      [quote.transaction ?? ""]: "missing_signature",
      [changed(1, 1)]: "bad_signature",
      [changed(good.length - 1, 1)]: "bad_signature",
      [await signed(fixture, { signers: [bob], instructions: [] })]: "sender_not_signer",
      [await signedBy(pays(bob.address))]: "content_mismatch",
      [await signedBy(unknown)]: "instruction_not_allowed",
      [await signedBy(nonce)]: "durable_nonce",
    };
    for (const [signedTransaction, reason] of Object.entries(wrong)) {
      const { code, details } = await refusal(post({ ...body, signedTransaction }));
      expect({ code, details }, reason).toEqual({ code: "INVALID_SIGNATURE", details: { reason } });
    }
    expect(sent()).toBe(0);
    // Only a success uses a quote up.
    expect((await post(body)).body.status).toBe("pending");
  });

  test("W2: of 300 flipped bits of a good request none is accepted and none is sent", async ({ world }) => {
    const { pay, post, sent } = world;
    const { body } = await pay();
    const good = Buffer.from(body.signedTransaction, "base64");
    for (let flip = 0; flip < 300; flip++) {
      const bytes = Buffer.from(good);
      // A step that shares no factor with the number of bits visits each before it visits one twice.
      const bit = (flip * 1_009) % (bytes.length * 8);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const { code } = await refusal(post({ ...body, signedTransaction: bytes.toString("base64") }));
      expect(code).toBe("INVALID_SIGNATURE");
    }
    expect(sent()).toBe(0);
  });

  test("W3: a transaction that pays another amount than declared is content_mismatch and is not broadcast", async ({
    world,
  }) => {
    const { pay, fixture, caller, bob, post, sent, usdcOf } = world;
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
    expect(sent()).toBe(0);
    expect(await usdcOf(bob.address)).toBe("0");
  });

  test("E13: amounts that are not plain decimals of the asset are VALIDATION_ERROR", async ({ world }) => {
    const { pay, bob, post } = world;
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
      "18446744073709.551616",
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

  test("every way in which a quote does not fit has its reason", async ({ world }) => {
    const { pay, caller, fixture, alice, bob, post } = world;
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
    const toHerself = [{ address: alice.address, amount: "1" }];
    expect(await reason({ type: "swap", recipients: toHerself })).toBe("same_asset");
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

  test("recipients that nobody can spend from are INVALID_RECIPIENT before any money moves", async ({
    world,
  }) => {
    const { fixture, caller, alice, post } = world;
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

  test("W15: a recipient without token account, and no instruction to make one, is TRANSACTION_WOULD_FAIL saying so", async ({
    world,
  }) => {
    const { fixture, caller, alice, bob, post, sent } = world;
    const assets = { inputAsset: "USDC", outputAsset: "USDC" };
    const { body: quote } = await fixture.service.createQuote(caller, { ...assets, amount: "1" });
    const account = (of: Wallet): PublicKey => new PublicKey(fixture.tokenAccountOf(of, "USDC"));
    const transfer = createTransferCheckedInstruction(
      account(alice),
      new PublicKey(fixture.mints.USDC),
      account(bob),
      keyOf(alice),
      1_000_000n,
      6,
    );
    const body = {
      type: "send",
      quoteId: quote.quoteId,
      sender: alice.address,
      recipients: [{ address: bob.address, amount: "1" }],
      signedTransaction: await signed(fixture, { signers: [alice], instructions: [transfer] }),
    };
    await expectRefusal(post(body), "TRANSACTION_WOULD_FAIL", { reason: "no_token_account" });
    expect(sent()).toBe(0);
  });

  test("W17: SOL below the rent minimum to an empty address is AMOUNT_TOO_SMALL with that minimum", async ({
    world,
  }) => {
    const { bob, fixture, caller, alice, post, sent } = world;
    // A single payment is never that small: 0.001 SOL is the least there is a quote for. A payroll's shares are.
    const recipients = [bob, fixture.wallet("carol")].map(({ address }, index) => ({
      address,
      amount: index === 0 ? "0.00089088" : "0.000890879",
    }));
    const lift = fixture.chain.faults.add(unreadable(bob.address));
    const { body: quote } = await fixture.service.createQuote(caller, {
      inputAsset: "SOL",
      outputAsset: "SOL",
      amount: "0.001781759",
      sender: alice.address,
      recipients,
    });
    lift();
    const body = {
      type: "payroll",
      quoteId: quote.quoteId,
      sender: alice.address,
      recipients,
      signedTransaction: fixture.sign(quote.transaction ?? "", alice),
    };
    await expectRefusal(post(body), "AMOUNT_TOO_SMALL", { minimum: "0.00089088", index: 1 });
    expect(sent()).toBe(0);
  });

  test("E15: rent that rises after the quote is charged as it is, or is an error that says what is missing; nothing is stuck", async ({
    world,
  }) => {
    const { fixture, caller, bob, pay, post, usdcOf } = world;
    const carol = fixture.wallet("carol", { lamports: 4_000_000n, usdc: 5_000_000n });
    const poor = await fixture.prepareSend(caller, { from: carol, to: bob.address, amount: "1" });
    const rich = await pay();
    // Three times as much: more than Carol has left, less than Alice has.
    fixture.chain.setRent(10_440n);
    fixture.chain.advance(2);
    const { code, details } = await refusal(post(poor.body));
    expect({ code, details }).toMatchObject({
      code: "INSUFFICIENT_BALANCE",
      details: { asset: "SOL", component: "rent" },
    });
    expect(details).not.toMatchObject({ shortfall: "0" });
    fixture.chain.advance(25);
    expect((await fixture.service.refreshQuote(caller, poor.quote.quoteId)).body.fees.rent).not.toBe(
      poor.quote.fees.rent,
    );
    const { body: created } = await post(rich.body);
    // And once more, while it is under way.
    fixture.chain.setRent(3_480n);
    await fixture.finalize();
    expect((await fixture.service.transaction(caller, created.transactionId)).status).toBe("completed");
    expect(await usdcOf(bob.address)).toBe("1");
  });

  test("W16: tokens without SOL for the fee are INSUFFICIENT_BALANCE naming the component", async ({
    world,
  }) => {
    const { fixture, caller, bob, post } = world;
    const poor = fixture.wallet("poor", { usdc: 5_000_000n });
    const { body } = await fixture.prepareSend(caller, { from: poor, to: bob.address, amount: "1" });
    const { code, details } = await refusal(post(body));
    expect(code).toBe("INSUFFICIENT_BALANCE");
    expect(details).toMatchObject({ asset: "SOL", component: "fee" });
  });

  test("W16: fewer tokens than the amount are INSUFFICIENT_BALANCE of the amount", async ({ world }) => {
    const { pay, post } = world;
    const { body } = await pay("51");
    await expectRefusal(post(body), "INSUFFICIENT_BALANCE", {
      asset: "USDC",
      required: "51",
      available: "50",
      shortfall: "1",
      component: "amount",
    });
  });

  test("W7: an expired blockhash is refused at intake, W8: a fresh confirmed one is taken", async ({
    world,
  }) => {
    const { pay, fixture, post, caller, alice } = world;
    const { body, quote } = await pay();
    fixture.chain.advance(160);
    await expectRefusal(post(body), "INVALID_SIGNATURE", { reason: "blockhash_expired" });
    const { body: refreshed } = await fixture.service.refreshQuote(caller, quote.quoteId);
    const signedTransaction = fixture.sign(refreshed.transaction ?? "", alice);
    expect((await post({ ...body, signedTransaction })).body.status).toBe("pending");
  });

  test("H20: a chain that cannot be asked is LedgerUnavailable and the quote stays unused", async ({
    world,
  }) => {
    const { pay, fixture, post, caller } = world;
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

test.for([30, 500])(
  "%i recipients, more than fit in one transaction, are VALIDATION_ERROR when the quote is asked for",
  async (count, { open }) => {
    const { fixture, caller, alice } = await open();
    const recipients = Array.from({ length: count }, (_, index) => ({
      address: fixture.wallet(`payee ${index}`).address,
      amount: "1",
    }));
    await expectRefusal(
      fixture.service.createQuote(caller, {
        inputAsset: "USDC",
        outputAsset: "USDC",
        amount: String(count),
        sender: alice.address,
        recipients,
      }),
      "VALIDATION_ERROR",
      { fields: [{ path: "recipients", message: "these recipients do not fit in one transaction" }] },
    );
  },
);
