/** A private swap on the real programs: deposited, swapped in one transaction at the price of that moment, or refunded. */
// modules: private
import { describe, expect } from "vitest";
import { SOL_MINT } from "../../../src/core/address.ts";
import { keypairSigner } from "../../../src/ledger/sign-transaction.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { CreatedOrderBody } from "../../../src/payments/private/accept-order.ts";
import type { PriceSource, Rate } from "../../../src/payments/frame/prices/prices.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { dropping } from "../../kit/odd-endpoints.ts";
import { units } from "../../kit/money.ts";
import { INVENTORY, type SwapFixture, type SwapSettings } from "../../kit/swap-fixture.ts";
import { expectRefusal } from "../wallet/wallet-world.ts";
import { swapTest } from "../../kit/swap-test.ts";
import { sampled } from "../../kit/thorough.ts";

type Amounts = readonly [bigint, bigint, bigint];

const DESK: Amounts = [INVENTORY.lamports ?? 0n, INVENTORY.usdc ?? 0n, INVENTORY.usdt ?? 0n];
/** Of a token account, in lamports. */
const ACCOUNT_RENT = 2_039_280n;
const NOTHING: Amounts = [0n, 0n, 0n];
const ASSETS = ["SOL", "USDC", "USDT"] as const;
type Asset = (typeof ASSETS)[number];
const decimalsOf = (asset: string): number => (asset === "SOL" ? 9 : 6);
const fundsOf = (asset: Asset, amount: bigint) =>
  asset === "SOL" ? { lamports: amount } : asset === "USDC" ? { usdc: amount } : { usdt: amount };

/** Private mode's other options, for a service that is never started. */
const ROUTING = {
  treasury: "11111111111111111111111111111112",
  prices: { rate: async () => ({ give: 1n, get: 1n }) },
};

/** A market that a test moves. */
class Market implements PriceSource {
  /** Dollars for one SOL; null while the market is closed. */
  dollars: bigint | null = 150n;

  async rate(give: string, get: string): Promise<Rate> {
    const { dollars } = this;
    if (dollars === null) throw new Error("the market is closed");
    const worth = (mint: string): bigint => (mint === SOL_MINT ? 1_000_000_000n : dollars * 1_000_000n);
    return { give: worth(give), get: worth(get) };
  }
}

/** Alice, who swaps in private mode. */
interface Stage extends SwapFixture {
  readonly market: Market;
  readonly customer: Caller;
  readonly alice: Wallet;
}

/** Settings, which may name the market. */
type SettingsOn = (market: Market) => SwapSettings;

const test = swapTest.extend(
  "openStage",
  ({ open }) =>
    async (settingsOn: SettingsOn = () => ({})): Promise<Stage> => {
      const market = new Market();
      const world = await open(settingsOn(market));
      const customer = await world.caller();
      const alice = world.wallet("alice", { lamports: 1_000_000_000n });
      world.chain.advance(35);
      return { ...world, market, customer, alice };
    },
);

async function changed(world: Stage, address: string, before: Amounts): Promise<Amounts> {
  const held = await world.held(address);
  return [held[0] - before[0], held[1] - before[1], held[2] - before[2]];
}

/** Orders a swap and deposits what it asks for, or so much more. */
async function ordered(
  world: Stage,
  give: Asset,
  get: Asset,
  amount: string,
  more: { slippageBps?: number; excess?: bigint } = {},
) {
  const { alice } = world;
  const { excess = 0n, ...words } = more;
  const { quote, body } = await world.orderSwap(world.customer, {
    sender: alice,
    give,
    get,
    amount,
    ...words,
  });
  const { transactionId: id, ephemeralAddress: address, depositAmount }: CreatedOrderBody = body;
  const due = units(depositAmount, decimalsOf(give));
  const deposit = () => world.deposit(address, fundsOf(give, due + excess));
  return { quote, id, address, due, deposit };
}

const shown = (world: Stage, id: string) => world.service.transaction(world.customer, id);

/** Lets time and slots pass for so many minutes. */
async function wait(world: Stage, minutes: number): Promise<void> {
  for (let part = 0; part < minutes * 2; part++) {
    await world.pass(30_000);
    await world.settle(2);
  }
}

const PAIRS = [
  ["SOL", "USDC", "2"],
  ["USDC", "SOL", "150"],
  ["USDC", "USDT", "25"],
  ["USDT", "USDC", "25.000001"],
] as const;

describe("swapped", () => {
  test.for(sampled(PAIRS, "swapped pairs"))(
    "E12, P18: from %s to %s, and everything adds up to the base unit",
    async ([give, get, amount], { openStage }) => {
      const world = await openStage();
      const { alice } = world;
      const sponsor = await world.held(world.sponsor.address);
      const treasury = await world.held(world.treasury.address);
      const had = await world.held(alice.address);
      const { quote, id, address, due, deposit } = await ordered(world, give, get, amount);
      expect(quote).toMatchObject({ inputAmount: amount, feeAsset: give, mode: "private" });
      expect(due).toBe(units(amount, decimalsOf(give)));
      await deposit();
      await world.settle();

      const done = await shown(world, id);
      expect(done).toMatchObject({ status: "completed", type: "swap", fee: quote.fee, refunds: [] });
      expect(done.recipients).toMatchObject([{ address: alice.address, status: "paid" }]);
      expect(done.signatures).toHaveLength(1);
      const got = units(done.recipients[0]?.amount ?? "0", decimalsOf(get));
      expect(got).toBeGreaterThanOrEqual(units(quote.minOutputAmount, decimalsOf(get)));
      const fee = units(quote.fee, decimalsOf(give));
      const only = (asset: Asset, value: bigint): bigint[] =>
        ASSETS.map((each) => (each === asset ? value : 0n));

      expect(await world.promised(get)).toBe(0n);
      expect(await world.held(address)).toEqual(NOTHING);
      expect(await changed(world, alice.address, had)).toEqual(only(get, got));
      expect(await changed(world, world.desk, DESK)).toEqual(
        ASSETS.map((each) => (each === give ? due - fee : each === get ? -got : 0n)),
      );
      expect(await changed(world, world.treasury.address, treasury)).toEqual(only(give, fee));
      // The sponsor pays network, marker and priced accounts; the rent of the account that the depositor made is his.
      const [spent, ...tokens] = await changed(world, world.sponsor.address, sponsor);
      expect(tokens).toEqual([0n, 0n]);
      expect((spent ?? 0n) - (give === "SOL" ? 0n : ACCOUNT_RENT)).toBeLessThan(0n);
    },
  );

  // modules: webhooks
  test("webhooks are told the estimate first and what was paid in the end", async ({ openStage }) => {
    const world = await openStage((market) => ({ desk: { prices: market } }));
    const told: string[] = [];
    world.service.subscribe({ accountId: world.customer.accountId }, ({ event, data }) =>
      told.push(`${event} ${data.recipients[0]?.amount ?? ""}`),
    );
    const { quote, id, deposit } = await ordered(world, "SOL", "USDC", "1");
    world.market.dollars = 151n;
    await deposit();
    await world.settle();
    const paid = (await shown(world, id)).recipients[0]?.amount ?? "";
    expect(Number(paid)).toBeGreaterThan(Number(quote.outputAmount));
    expect(told).toEqual([
      `transaction.pending ${quote.outputAmount}`,
      `transaction.deposit_received ${quote.outputAmount}`,
      `transaction.confirmed ${paid}`,
      `transaction.completed ${paid}`,
    ]);
  });

  test("P21: a quote that has expired before the deposit is priced anew, at the least or better", async ({
    openStage,
  }) => {
    const world = await openStage((market) => ({ desk: { prices: market } }));
    const { quote, id, deposit } = await ordered(world, "SOL", "USDC", "1", { slippageBps: 200 });
    await world.pass(10 * 60_000);
    world.market.dollars = 148n;
    await deposit();
    await world.settle();
    const { status, recipients } = await shown(world, id);
    expect(status).toBe("completed");
    const paid = Number(recipients[0]?.amount);
    expect(paid).toBeLessThan(Number(quote.outputAmount));
    expect(paid).toBeGreaterThanOrEqual(Number(quote.minOutputAmount));
  });

  test("P8: what was deposited too much is refunded and not swapped", async ({ openStage }) => {
    const world = await openStage();
    const { quote, id, deposit } = await ordered(world, "USDC", "SOL", "150", { excess: 20_000_000n });
    await deposit();
    await world.settle();
    const { status, refunds, recipients } = await shown(world, id);
    expect(status).toBe("completed");
    expect(recipients[0]?.amount).toBe(quote.outputAmount);
    expect(refunds).toMatchObject([{ asset: "USDC", status: "paid" }]);
  });

  test("a price that could not be signed for is asked for anew", async ({ openStage }) => {
    const world = await openStage((market) => ({ desk: { prices: market } }));
    const { quote, id, deposit } = await ordered(world, "SOL", "USDC", "1", { slippageBps: 500 });
    const [lamports] = await world.held(world.sponsor.address);
    const kept = 1_000_000n;
    await world.move(world.sponsor, {
      does: "transfer",
      mint: null,
      decimals: 9,
      amount: lamports - kept - 5_000n,
      from: world.sponsor.address,
      to: world.treasury.address,
      accountPayer: null,
    });
    await deposit();
    await wait(world, 3);
    expect(await shown(world, id)).toMatchObject({ status: "processing" });
    world.market.dollars = 148n;
    world.chain.fund(world.sponsor.address, { lamports: 1_000_000_000n });
    await wait(world, 3);
    const { status, recipients } = await shown(world, id);
    expect(status).toBe("completed");
    expect(Number(recipients[0]?.amount)).toBeLessThan(Number(quote.outputAmount));
  });

  test("a price that comes back within ten minutes is taken", async ({ openStage }) => {
    const world = await openStage((market) => ({ desk: { prices: market } }));
    const { id, deposit } = await ordered(world, "SOL", "USDC", "1");
    world.market.dollars = 100n;
    await deposit();
    await world.settle();
    expect(await shown(world, id)).toMatchObject({ status: "processing" });
    await wait(world, 2);
    world.market.dollars = 150n;
    await wait(world, 1);
    expect(await shown(world, id)).toMatchObject({ status: "completed" });
  });
});

describe("refunded", () => {
  /** What is the same of every refunded swap. */
  async function expectRefund(world: Stage, id: string, address: string, reason: string): Promise<void> {
    const failed = await shown(world, id);
    expect(failed).toMatchObject({ status: "failed", reason, fee: "0", recipients: [{ status: "unpaid" }] });
    expect(failed.refunds).toMatchObject([{ status: "paid" }]);
    for (const asset of ASSETS) expect(await world.promised(asset)).toBe(0n);
    expect(await world.held(address)).toEqual(NOTHING);
  }

  test("P21: a price that stays below the least is waited out for ten minutes, then refunded", async ({
    openStage,
  }) => {
    const world = await openStage((market) => ({ desk: { prices: market } }));
    const { id, address, deposit } = await ordered(world, "SOL", "USDC", "1");
    world.market.dollars = 140n;
    await deposit();
    await wait(world, 9);
    expect(await shown(world, id)).toMatchObject({ status: "processing", reason: null });
    await wait(world, 4);
    await expectRefund(world, id, address, "SLIPPAGE_EXCEEDED");
    expect(await changed(world, world.desk, DESK)).toEqual(NOTHING);
    expect(world.deskSigned()).toBe(0);
  });

  test("P22: liquidity that is gone after the deposit is waited for, then refunded", async ({
    openStage,
  }) => {
    const world = await openStage();
    const { id, address, deposit } = await ordered(world, "SOL", "USDC", "1");
    const { USDC } = world.mints;
    await world.move(world.deskWallet, {
      does: "transfer",
      mint: USDC,
      decimals: 6,
      amount: DESK[1],
      from: world.desk,
      to: world.sponsor.address,
      accountPayer: world.desk,
    });
    await deposit();
    await wait(world, 13);
    await expectRefund(world, id, address, "LIQUIDITY_UNAVAILABLE");
  });

  test("P22: a provider that cannot be asked is waited for, then refunded", async ({ openStage }) => {
    const world = await openStage((market) => ({ desk: { prices: market } }));
    const { id, address, deposit } = await ordered(world, "SOL", "USDC", "1");
    world.market.dollars = null;
    await deposit();
    await wait(world, 13);
    await expectRefund(world, id, address, "LIQUIDITY_UNAVAILABLE");
  });

  test("the swap is atomic: a payee that cannot take its side costs the desk nothing", async ({
    openStage,
  }) => {
    const world = await openStage();
    const { alice } = world;
    world.chain.fund(alice.address, { usdc: 1n });
    world.chain.advance(35);
    const { id, address, deposit } = await ordered(world, "SOL", "USDC", "1");
    await world.freeze(alice, "USDC");
    await deposit();
    await world.settle();
    await expectRefund(world, id, address, "PAYOUT_FAILED");
    expect(await changed(world, world.desk, DESK)).toEqual(NOTHING);
  });

  test("P16: an account that was closed after the quote is made at nobody's cost", async ({ openStage }) => {
    const world = await openStage();
    const { alice } = world;
    const { USDT } = world.mints;
    world.chain.fund(alice.address, { usdc: 1n });
    world.chain.fund(world.treasury.address, { usdc: 1n });
    await world.move(world.deskWallet, {
      does: "transfer",
      mint: USDT,
      decimals: 6,
      amount: 1n,
      from: world.desk,
      to: alice.address,
      accountPayer: world.desk,
    });
    const { quote, id, address, deposit } = await ordered(world, "USDC", "USDT", "25");
    expect(quote.fees.rent).toBe("0");
    await world.move(
      alice,
      {
        does: "transfer",
        mint: USDT,
        decimals: 6,
        amount: 1n,
        from: alice.address,
        to: world.desk,
        accountPayer: null,
      },
      { does: "close", mint: USDT, owner: alice.address, to: alice.address },
    );
    await deposit();
    await world.settle();
    await expectRefund(world, id, address, "PAYOUT_FAILED");
  });

  test("P22: a desk whose account is frozen while the swap is planned is tried again and then given up", async ({
    openStage,
  }) => {
    const world = await openStage();
    const { id, address, deposit } = await ordered(world, "SOL", "USDC", "1");
    await world.freeze(world.deskWallet, "USDC");
    await deposit();
    await wait(world, 13);
    await expectRefund(world, id, address, "LIQUIDITY_UNAVAILABLE");
    const { order } = (await world.storage.orderedTransaction(id)) ?? {};
    expect(order?.transfers.filter(({ kind }) => kind === "chunk").length).toBe(1);
  });
});

test("C77: a signed swap that never lands, and whose deposit is worth less than its return, leaves nothing of the desk set aside", async ({
  openStage,
}) => {
  const world = await openStage((market) => ({ desk: { prices: market }, routing: { prices: market } }));
  const { market } = world;
  const { id, deposit } = await ordered(world, "USDC", "SOL", "0.152");
  const lift = world.chain.faults.add(dropping);
  await deposit();
  await world.settle(2);
  expect(await world.promised("SOL")).toBeGreaterThan(0n);
  // No price is further off the last one than is believed.
  while (market.dollars !== null && market.dollars < 185n) {
    market.dollars += 7n;
    world.chain.advance(40);
    await world.pass(60_000);
  }
  await wait(world, 15);
  lift();
  await wait(world, 15);
  expect(await shown(world, id)).toMatchObject({
    status: "failed",
    refunds: [],
    unreturned: [{ asset: "USDC", reason: "dust" }],
  });
  expect(await world.promised("SOL")).toBe(0n);
});

describe("refused", () => {
  test("more than an account's tenth of the inventory, before anything is deposited", async ({
    openStage,
  }) => {
    const world = await openStage((market) => ({ desk: { prices: market } }));
    const request = { inputAsset: "SOL", outputAsset: "USDC", amount: "110", mode: "private" as const };
    await expectRefusal(world.service.createQuote(world.customer, request), "INSUFFICIENT_LIQUIDITY", {
      available: "15000",
    });
  });

  test("an amount that the fee would eat, naming the least that is left something of", async ({
    openStage,
  }) => {
    const world = await openStage();
    const quoting = (amount: string) =>
      world.service.createQuote(world.customer, {
        inputAsset: "USDC",
        outputAsset: "SOL",
        amount,
        mode: "private",
      });
    const refused = (await quoting("0.001").catch((error: unknown) => error)) as {
      readonly details: { readonly minimum: string };
    };
    await expectRefusal(quoting("0.001"), "AMOUNT_TOO_SMALL", { minimum: refused.details.minimum });
    expect((await quoting(refused.details.minimum)).body.outputAmount).not.toBe("0");
  });

  test("nothing is set aside for a private quote, nor for an order without its deposit", async ({
    openStage,
  }) => {
    const world = await openStage();
    await ordered(world, "SOL", "USDC", "1");
    expect(await world.promised("USDC")).toBe(0n);
  });

  test("P27: a swap of one of the service's own addresses", async ({ openStage }) => {
    const world = await openStage();
    const { body: quote } = await world.service.createQuote(world.customer, {
      inputAsset: "SOL",
      outputAsset: "USDC",
      amount: "1",
      mode: "private",
    });
    const posted = world.service.createTransaction(world.customer, {
      type: "swap",
      mode: "private",
      quoteId: quote.quoteId,
      sender: world.desk,
      recipients: [{ address: world.desk, amount: quote.outputAmount }],
    });
    await expectRefusal(posted, "INVALID_RECIPIENT", { reason: "own_address" });
  });

  test("a desk that is the sponsor or the treasury too, before anything runs", async ({ openStage }) => {
    const world = await openStage();
    const options = { privateRouting: { sponsor: keypairSigner(world.deskWallet.secretKey) } };
    const make = () => world.another({ privateRouting: { ...ROUTING, ...options.privateRouting } });
    expect(make).toThrow(/swap\.provider/);
  });

  test("a private swap while private mode is off", async ({ openStage }) => {
    const world = await openStage();
    const off = world.another({ privateRouting: undefined });
    const request = { inputAsset: "SOL", outputAsset: "USDC", amount: "1", mode: "private" as const };
    await expectRefusal(off.createQuote(world.customer, request), "ROUTING_UNAVAILABLE", {
      reason: "off",
    });
  });
});
