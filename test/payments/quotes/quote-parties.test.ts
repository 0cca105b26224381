/** What POST /v1/quotes tells of sender and recipients before anybody signs: refusals, and what may still change. */
// modules: private
import { Keypair, PublicKey } from "@solana/web3.js";
import { describe, expect } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { formatAmount } from "../../../src/core/amount.ts";
import { nodeAsked } from "../../../src/core/diagnostics.ts";
import { associatedTokenAddress } from "../../../src/local/funding.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { CreatedOrderBody } from "../../../src/payments/private/accept-order.ts";
import type { QuoteRequest, TransactionRequest } from "../../../src/payments/frame/requests.ts";
import type { ScreenAddress } from "../../../src/payments/frame/recipients/recipients.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { units } from "../../kit/money.ts";
import { unreadable } from "../../kit/unreadable.ts";
import { swapTest } from "../../kit/swap-test.ts";
import type { SwapFixture } from "../../kit/swap-fixture.ts";
import { expectRefusal, refusal } from "../wallet/wallet-world.ts";

const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const MINUTE = 60_000;

interface Stage extends SwapFixture {
  readonly customer: Caller;
  readonly alice: Wallet;
  readonly bob: Wallet;
  readonly carol: Wallet;
  /** The vault of a program: no private key signs for it. */
  readonly vault: Address;
  readonly screened: Screened;
}

/** Refuses whom it is told to, and remembers whom it was asked about. */
class Screened {
  readonly refused = new Set<string>();
  readonly asked: string[] = [];
  isDown = false;
  waitsFor: Promise<void> | undefined;
  readonly screen: ScreenAddress = async (address, { role, transactionId }) => {
    if (this.isDown) throw new Error("the list is out of reach");
    await this.waitsFor;
    this.asked.push(`${role} ${address} ${transactionId === null ? "before" : "after"}`);
    return this.refused.has(address) ? "refused" : "ok";
  };
}

const test = swapTest.extend("world", async ({ open }): Promise<Stage> => {
  const screened = new Screened();
  const world = await open({ routing: { screen: screened.screen } });
  const customer = await world.caller("pro");
  const alice = world.wallet("alice", { lamports: 10_000_000_000n, usdc: 50_000_000n });
  const bob = world.wallet("bob", { lamports: 1_000_000_000n, usdc: 1n });
  const carol = world.wallet("carol", { lamports: 1_000_000_000n });
  const [vault] = PublicKey.findProgramAddressSync([Buffer.from("vault")], new PublicKey(bob.address));
  world.chain.advance(35);
  return { ...world, customer, alice, bob, carol, vault: vault.toBase58() as Address, screened };
});

const MODES = ["wallet", "private"] as const;

/** The fields of a quote of 1 USDC from Alice to this recipient, unless said otherwise. */
function fieldsFor(
  world: Stage,
  { address }: { readonly address: string },
  more: Partial<QuoteRequest> = {},
): QuoteRequest {
  const amount = more.amount ?? "1";
  const pair = { inputAsset: "USDC", outputAsset: "USDC" };
  return { ...pair, amount, sender: world.alice.address, recipients: [{ address, amount }], ...more };
}

const quoteFor = (world: Stage, to: { readonly address: string }, more: Partial<QuoteRequest> = {}) =>
  world.service.createQuote(world.customer, fieldsFor(world, to, more));

/** Posts what was quoted, signed by Alice where it has to be. */
async function order(world: Stage, fields: QuoteRequest, change: Partial<TransactionRequest> = {}) {
  const { body: quote } = await world.service.createQuote(world.customer, fields);
  const { mode = "wallet", sender = "", senderAllowOffCurve = false, recipients = [] } = fields;
  const { transaction = "" } = quote;
  return world.service.createTransaction(world.customer, {
    type: recipients.length > 1 ? "payroll" : "send",
    mode,
    quoteId: quote.quoteId,
    sender,
    senderAllowOffCurve,
    recipients,
    ...(mode === "wallet" ? { signedTransaction: world.sign(transaction, world.alice) } : {}),
    ...change,
  });
}

describe.each(MODES)("a quote in %s mode", (mode) => {
  test("Q12: a mint, a program, a token account and a vault are refused before anybody signs", async ({
    world,
  }) => {
    for (const [address, reason] of [
      [world.mints.USDC, "mint"],
      [TOKEN_PROGRAM, "program"],
      [associatedTokenAddress(world.bob.address, world.mints.USDC), "token_account"],
      [world.vault, "off_curve"],
    ] as const) {
      const details = { index: 0, address, reason };
      await expectRefusal(quoteFor(world, { address }, { mode }), "INVALID_RECIPIENT", details);
    }
  });

  test("Q12: SOL that an empty wallet could not keep is AMOUNT_TOO_SMALL with its index", async ({
    world,
  }) => {
    const sol = { mode, inputAsset: "SOL", outputAsset: "SOL", amount: "1.0005" };
    const recipients = [
      { address: world.bob.address, amount: "1" },
      { address: world.wallet("empty").address, amount: "0.0005" },
    ];
    const quoted = quoteFor(world, world.bob, { ...sol, recipients });
    await expectRefusal(quoted, "AMOUNT_TOO_SMALL", { index: 1 });
  });

  test("Q12: a chain that cannot be read is a warning, and the transaction is still refused", async ({
    world,
  }) => {
    const address = world.mints.USDC;
    const lift = world.chain.faults.add(unreadable(address));
    const { body: quote } = await quoteFor(world, { address }, { mode });
    expect(quote.warnings.map(({ code }) => code)).toEqual(["unchecked"]);
    lift();
    const { transaction, quoteId } = quote;
    const signed = mode === "wallet" ? { signedTransaction: world.sign(transaction ?? "", world.alice) } : {};
    const recipients = [{ address, amount: "1" }];
    const body = { type: "send", mode, quoteId, sender: world.alice.address, recipients, ...signed } as const;
    const details = { index: 0, address, reason: "mint" };
    await expectRefusal(world.service.createTransaction(world.customer, body), "INVALID_RECIPIENT", details);
  });

  test("Q12: who has no token account is named, and nobody once the account is there", async ({ world }) => {
    const { body: before } = await quoteFor(world, world.carol, { mode });
    expect(before.warnings).toMatchObject([{ code: "account_will_be_created", recipients: [0] }]);
    world.chain.fund(world.carol.address, { usdc: 1n });
    world.chain.advance(35);
    const { body: after } = await quoteFor(world, world.carol, { mode });
    expect(after.warnings).toEqual([]);
  });

  test("Q12: a refresh is checked as the quote was", async ({ world }) => {
    const lift = world.chain.faults.add(unreadable(world.mints.USDC));
    const { body: quote } = await quoteFor(world, { address: world.mints.USDC }, { mode });
    lift();
    await expectRefusal(world.service.refreshQuote(world.customer, quote.quoteId), "INVALID_RECIPIENT", {
      reason: "mint",
    });
  });
});

describe("a quote in wallet mode", () => {
  test("Q12: a frozen account of either side is TRANSACTION_WOULD_FAIL frozen", async ({ world }) => {
    await world.freeze(world.bob, "USDC");
    const frozen = { reason: "frozen" };
    await expectRefusal(quoteFor(world, world.bob), "TRANSACTION_WOULD_FAIL", frozen);
    const fromBob = { sender: world.bob.address, amount: "0.001" };
    await expectRefusal(quoteFor(world, world.carol, fromBob), "TRANSACTION_WOULD_FAIL", frozen);
  });

  test("Q12: too little balance is a warning with what is missing, and the money may still come", async ({
    world,
  }) => {
    const fields = fieldsFor(world, world.bob, { amount: "2000000" });
    const { body: quote } = await world.service.createQuote(world.customer, fields);
    expect(quote.warnings).toMatchObject([
      {
        code: "insufficient_balance",
        balance: {
          asset: "USDC",
          component: "amount",
          required: "2000000",
          available: "50",
          shortfall: "1999950",
        },
      },
    ]);
    world.chain.fund(world.alice.address, { usdc: 2_000_000_000_000n });
    world.chain.advance(35);
    const { quoteId, transaction = "" } = quote;
    const signedTransaction = world.sign(transaction, world.alice);
    const { sender = "", recipients = [] } = fields;
    const body = { type: "send", quoteId, sender, recipients, signedTransaction } as const;
    expect((await world.service.createTransaction(world.customer, body)).body.status).toBe("pending");
  });

  test("Q12: what lacks for the fee, for rent, and for what a wallet must keep is told as such", async ({
    world,
  }) => {
    const poor = world.wallet("poor", { lamports: 1_000_000n, usdc: 5_000_000n });
    const lacks = async (more: Partial<QuoteRequest>, to: { readonly address: string }): Promise<unknown> => {
      const { body } = await quoteFor(world, to, { sender: poor.address, ...more });
      return body.warnings.flatMap(({ balance }) => balance?.component ?? []);
    };
    expect(await lacks({}, world.bob)).toEqual([]);
    expect(await lacks({}, world.carol)).toEqual(["rent"]);
    const sol = { inputAsset: "SOL", outputAsset: "SOL" };
    expect(await lacks({ ...sol, amount: "0.001" }, world.bob)).toEqual(["fee"]);
    expect(await lacks({ ...sol, amount: "1" }, world.bob)).toEqual(["amount"]);
    const rich = world.wallet("rich", { lamports: 1_500_000n });
    expect(await lacks({ ...sol, amount: "0.001", sender: rich.address }, world.bob)).toEqual(["rent"]);
  });

  test("Q12: a swap warns of its sender's balance and account", async ({ world }) => {
    const pair = { inputAsset: "USDC", outputAsset: "USDT", amount: "60", sender: world.alice.address };
    const { body } = await world.service.createQuote(world.customer, pair);
    expect(body.warnings).toMatchObject([
      { code: "account_will_be_created", recipients: [0] },
      { code: "insufficient_balance", balance: { asset: "USDC", shortfall: "10" } },
    ]);
  });

  test("Q13: a vault cannot be the sender, who signs", async ({ world }) => {
    const sender = world.vault;
    const fields = [{ path: "sender" }];
    await expectRefusal(quoteFor(world, world.bob, { sender }), "VALIDATION_ERROR", { fields });
    const said = quoteFor(world, world.bob, { senderAllowOffCurve: true });
    await expectRefusal(said, "VALIDATION_ERROR", { fields: [{ path: "senderAllowOffCurve" }] });
  });
});

describe("a quote in private mode", () => {
  test("Q12: a screened party is not served, in the quote as in the order", async ({ world }) => {
    const { alice, bob, screened } = world;
    const { body: open } = await world.service.createQuote(
      world.customer,
      fieldsFor(world, bob, { mode: "private", sender: undefined, recipients: undefined }),
    );
    const recipients = [{ address: bob.address, amount: "1" }];
    const body = {
      type: "send",
      mode: "private",
      quoteId: open.quoteId,
      sender: alice.address,
      recipients,
    } as const;
    const asked = [
      () => quoteFor(world, bob, { mode: "private" }),
      () => world.service.createTransaction(world.customer, body),
    ];
    screened.refused.add(bob.address);
    for (const ask of asked) {
      await expectRefusal(ask(), "INVALID_RECIPIENT", {
        index: 0,
        address: bob.address,
        reason: "not_served",
      });
    }
    screened.refused.add(alice.address);
    world.clock.advance(10 * MINUTE);
    const fields = [{ path: "sender", message: "this address is not served", reason: "not_served" }];
    await expectRefusal(quoteFor(world, bob, { mode: "private" }), "VALIDATION_ERROR", { fields });
  });

  test("Q12: the host is asked once in ten minutes about each party, and again before money moves", async ({
    world,
  }) => {
    const { alice, bob, screened } = world;
    const fields = fieldsFor(world, bob, { mode: "private" });
    const once = [`sender ${alice.address} before`, `recipient ${bob.address} before`];
    await world.service.createQuote(world.customer, fields);
    const { body } = await order(world, fields);
    expect(screened.asked).toEqual(once);
    world.clock.advance(10 * MINUTE - 1);
    await world.service.createQuote(world.customer, fields);
    expect(screened.asked).toEqual(once);
    world.clock.advance(1);
    await world.service.createQuote(world.customer, fields);
    expect(screened.asked).toEqual([...once, ...once]);
    screened.asked.length = 0;
    const { ephemeralAddress, depositAmount } = body as CreatedOrderBody;
    await world.deposit(ephemeralAddress, { usdc: units(depositAmount, 6) });
    await world.settle();
    expect(screened.asked).toContain(`sender ${alice.address} after`);
    expect(screened.asked.filter((each) => each.endsWith("before"))).toEqual([]);
  });

  test("C36: SOL below the rent minimum is AMOUNT_TOO_SMALL, and one lamport more is not", async ({
    world,
  }) => {
    const minimum = await world.ledger.rentMinimum(0);
    const sol = { mode: "private", inputAsset: "SOL", outputAsset: "SOL" } as const;
    const quote = (share: bigint) => {
      const shares = [10n ** 9n, share];
      const amount = formatAmount(
        shares.reduce((sum, each) => sum + each),
        9,
      );
      const recipients = [world.alice, world.bob].map(({ address }, index) => {
        return { address, amount: formatAmount(shares[index] ?? 0n, 9) };
      });
      return quoteFor(world, world.bob, { ...sol, amount, recipients });
    };
    await expectRefusal(quote(minimum - 1n), "AMOUNT_TOO_SMALL", {
      index: 1,
      minimum: formatAmount(minimum, 9),
    });
    expect((await quote(minimum)).body.quoteId).toContain("quote_");
  });

  test("Q12: a private swap to SOL that its sender could not keep is AMOUNT_TOO_SMALL", async ({ world }) => {
    const sender = world.wallet("without SOL", { usdc: 5_000_000n }).address;
    const swap = { mode: "private", inputAsset: "USDC", outputAsset: "SOL" } as const;
    const quote = (amount: string) => world.service.createQuote(world.customer, { ...swap, amount, sender });
    // Enough for the fee, and for little more.
    const { minimum } = (await refusal(quote("0.001"))).details as { readonly minimum: string };
    await expectRefusal(quote(minimum), "AMOUNT_TOO_SMALL", { index: 0 });
    expect((await quote("1")).body.warnings).toEqual([]);
  });

  test("Q12: a screen that is slow about one sender holds up nobody else's swap", async ({ world }) => {
    const { service, customer, alice, screened } = world;
    const swap = { inputAsset: "SOL", outputAsset: "USDC", amount: "1", sender: alice.address } as const;
    let answer = (): void => undefined;
    screened.waitsFor = new Promise((resolve) => (answer = resolve));
    const slow = service.createQuote(customer, { ...swap, mode: "private" });
    expect((await service.createQuote(customer, { ...swap, mode: "wallet" })).body.mode).toBe("wallet");
    answer();
    expect((await slow).body.mode).toBe("private");
  });

  test("Q12: a screen that fails is asked again", async ({ world }) => {
    world.screened.isDown = true;
    const upstream = { reason: "upstream" };
    await expectRefusal(quoteFor(world, world.bob, { mode: "private" }), "ROUTING_UNAVAILABLE", upstream);
    world.screened.isDown = false;
    expect((await quoteFor(world, world.bob, { mode: "private" })).body.mode).toBe("private");
  });

  test("Q12: own addresses and a sender that could take no refund are refused", async ({ world }) => {
    const { treasury, customer, service, mints } = world;
    const address = treasury.address;
    const own = { index: 0, address, reason: "own_address" };
    await expectRefusal(quoteFor(world, treasury, { mode: "private" }), "INVALID_RECIPIENT", own);
    const swap = { mode: "private", inputAsset: "USDC", outputAsset: "USDT", amount: "1" } as const;
    for (const sender of [address, mints.USDC, world.vault]) {
      const fields = [{ path: "sender" }];
      await expectRefusal(quoteFor(world, world.bob, { mode: "private", sender }), "VALIDATION_ERROR", {
        fields,
      });
      await expectRefusal(service.createQuote(customer, { ...swap, sender }), "VALIDATION_ERROR", { fields });
    }
  });

  test("Q12: more recipients than the host takes are refused before anybody is asked about", async ({
    world,
  }) => {
    const recipients = Array.from({ length: 101 }, (_, n) => ({ address: payee(n), amount: "1" }));
    let asked = 0;
    const options = { onParties: () => void (asked += 1) };
    const fields = fieldsFor(world, world.bob, { mode: "private", amount: "101", recipients });
    await expectRefusal(world.service.createQuote(world.customer, fields, options), "VALIDATION_ERROR", {
      fields: [{ path: "recipients", message: "at most 100 recipients" }],
    });
    expect([asked, world.screened.asked]).toEqual([0, []]);
  });
});

/** The wallet of somebody who holds nothing. */
const payee = (n: number): string => Keypair.fromSeed(new Uint8Array(32).fill(n + 100)).publicKey.toBase58();

test("a quote of SOL reads the accounts of its sender and recipients in one call", async ({ world }) => {
  const coins = { inputAsset: "SOL", outputAsset: "SOL", amount: "0.5" } as const;
  // Prices and the newest block are known after the first.
  await quoteFor(world, world.bob, coins);
  const methods: string[] = [];
  const stop = nodeAsked.subscribe(({ method }) => void methods.push(method));
  await quoteFor(world, world.bob, coins);
  stop();
  expect(methods).toEqual(["getMultipleAccounts"]);
});
