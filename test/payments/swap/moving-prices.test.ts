/** M13: a price that moves between quote and signature, and one that is not to be believed: the desk signs neither. */
import { describe, expect } from "vitest";
import { SOL_MINT } from "../../../src/core/address.ts";
import { agreed } from "../../../src/ledger/agreed.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { PriceSource, Rate } from "../../../src/payments/frame/prices/prices.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { units } from "../../kit/money.ts";
import type { SwapFixture, SwapSettings } from "../../kit/swap-fixture.ts";
import { expectRefusal } from "../wallet/wallet-world.ts";
import { swapTest } from "../../kit/swap-test.ts";

/** A market that a test moves. */
class Market implements PriceSource {
  /** Cents for one SOL. */
  cents = 15_000n;
  /** What it says instead of a price, where a test wants it to. */
  instead: (() => Promise<Rate>) | null = null;

  async rate(give: string, get: string): Promise<Rate> {
    if (this.instead !== null) return this.instead();
    const worth = (mint: string): bigint => (mint === SOL_MINT ? 1_000_000_000n : this.cents * 10_000n);
    return { give: worth(give), get: worth(get) };
  }
}

/** Alice, and a desk on that market. */
interface Stage extends SwapFixture {
  readonly market: Market;
  readonly customer: Caller;
  readonly alice: Wallet;
}

const test = swapTest.extend(
  "openStage",
  ({ open }) =>
    async (settings: SwapSettings = {}): Promise<Stage> => {
      const market = new Market();
      const world = await open({ ...settings, desk: { prices: market, ...settings.desk } });
      const customer = await world.caller();
      const alice = world.wallet("alice", { lamports: 10_000_000_000n, usdc: 1_000_000_000n });
      world.chain.advance(35);
      return { ...world, market, customer, alice };
    },
);

const sale = (world: Stage) =>
  world.quote(world.customer, { sender: world.alice, give: "SOL", get: "USDC", amount: "1" });
const post = (world: Stage, body: object) => world.service.createTransaction(world.customer, body as never);
const statusOf = (world: Stage, id: string) => world.service.transaction(world.customer, id);

/** Lets a transaction that nobody sends die. */
async function outlive(world: Stage): Promise<void> {
  for (let round = 0; round < 6; round++) {
    world.chain.advance(60);
    await world.pass(1_000);
  }
}

describe("between the quote and its use", () => {
  test("M13, M27: a price that moved against the desk beyond 1 % is refused as price_moved, nothing kept", async ({
    openStage,
  }) => {
    const world = await openStage();
    const { alice } = world;
    const quote = await sale(world);
    world.market.cents = 14_849n;
    await expectRefusal(post(world, world.signed(quote, alice)), "INVALID_QUOTE", { reason: "price_moved" });
    expect(world.deskSigned()).toBe(0);
    // The sender may have taken another quote: should the price come back, this one is not taken until it is refreshed.
    world.market.cents = 14_850n;
    await expectRefusal(post(world, world.signed(quote, alice)), "INVALID_QUOTE", { reason: "expired" });
    const { body: refreshed } = await world.service.refreshQuote(world.customer, quote.quoteId);
    await post(world, world.signed({ ...quote, ...refreshed }, alice));
    await world.finalize();
    expect(world.deskSigned()).toBe(1);
  });

  test("M13: one that has moved in the desk's favour is no reason to refuse", async ({ openStage }) => {
    const world = await openStage();
    const { alice } = world;
    const quote = await sale(world);
    world.market.cents = 16_400n;
    const { body } = await post(world, world.signed(quote, alice));
    await world.finalize();
    expect(await statusOf(world, body.transactionId)).toMatchObject({ status: "completed" });
  });

  test("Q23: within broadcastDelayMs a customer keeps a swap that has turned better, and cancels one that has turned worse, free of charge", async ({
    openStage,
  }) => {
    const world = await openStage({ options: { broadcastDelayMs: 5_000 } });
    const { alice } = world;
    const before = await world.held(alice.address);
    const worse = await post(world, world.signed(await sale(world), alice));
    // A SOL is worth more than the desk has promised for it.
    world.market.cents = 16_000n;
    await world.service.cancelTransaction(world.customer, worse.body.transactionId);
    await outlive(world);
    expect(await world.held(alice.address)).toEqual(before);
    const better = await post(world, world.signed(await sale(world), alice));
    world.market.cents = 15_850n;
    await world.pass(5_000);
    await world.finalize();
    expect(await statusOf(world, better.body.transactionId)).toMatchObject({
      status: "completed",
      fee: expect.any(String) as string,
    });
    expect(world.deskSigned()).toBe(1);
  });

  test("M13: buying is measured the other way round", async ({ openStage }) => {
    const world = await openStage();
    const { alice } = world;
    const quote = await world.quote(world.customer, {
      sender: alice,
      give: "USDC",
      get: "SOL",
      amount: "150",
    });
    world.market.cents = 15_160n;
    world.market.cents = 15_150n;
    await post(world, world.signed(quote, alice));
    const dearer = await world.quote(world.customer, {
      sender: alice,
      give: "USDC",
      get: "SOL",
      amount: "150",
    });
    world.market.cents = 15_320n;
    await expectRefusal(post(world, world.signed(dearer, alice)), "INVALID_QUOTE", { reason: "price_moved" });
  });

  test("the bound is an option", async ({ openStage }) => {
    const world = await openStage({ desk: { maxDriftBps: 0 } });
    const { alice } = world;
    const quote = await sale(world);
    const other = await sale(world);
    await post(world, world.signed(quote, alice));
    world.market.cents = 14_999n;
    await expectRefusal(post(world, world.signed(other, alice)), "INVALID_QUOTE", { reason: "price_moved" });
  });

  test.for<[string, (world: Stage) => Promise<Rate>]>([
    ["zero", async () => ({ give: 0n, get: 0n })],
    ["NaN", async () => ({ give: NaN, get: NaN }) as unknown as Rate],
    ["20 % off", async () => ({ give: 1_000_000_000n, get: 180_000_000n })],
    ["an error", () => Promise.reject(new Error("the market is closed"))],
    ["yesterday's", async ({ clock }: Stage) => ({ give: 1n, get: 1n, at: clock.now() - 86_400_000 })],
  ])(
    "M13: a source that answers %s makes no quote, and no co-signature",
    async ([_, said], { openStage }) => {
      const world = await openStage();
      const { alice } = world;
      const quote = await sale(world);
      world.market.instead = () => said(world);
      await expectRefusal(sale(world), "UPSTREAM_ERROR", {});
      await expectRefusal(post(world, world.signed(quote, alice)), "UPSTREAM_ERROR", {});
      expect(world.deskSigned()).toBe(0);
      world.market.instead = null;
      await post(world, world.signed(quote, alice));
    },
  );
});

describe("between the use and the signature", () => {
  test("M13: a desk never co-signs after the price has moved 10 %: the swap dies with its blockhash", async ({
    openStage,
  }) => {
    const world = await openStage({ options: { broadcastDelayMs: 5_000 } });
    const { alice } = world;
    const { body } = await world.swap(world.customer, {
      sender: alice,
      give: "SOL",
      get: "USDC",
      amount: "1",
    });
    world.market.cents = 13_500n;
    await world.pass(5_000);
    await outlive(world);
    expect(world.deskSigned()).toBe(0);
    expect(await statusOf(world, body.transactionId)).toMatchObject({
      status: "failed",
      reason: "expired",
      fee: "0",
      recipients: [{ status: "unpaid" }],
    });
    expect(await world.promised("USDC")).toBe(0n);
    expect((await world.held(alice.address))[1]).toBe(1_000_000_000n);
  });

  test("D35: a desk co-signs nothing while the chain contradicts the clock, and goes on once they agree", async ({
    openStage,
  }) => {
    const world = await openStage();
    const { alice } = world;
    let offMs = 0;
    const time = async () => agreed(world.clock.now() + offMs);
    const service = world.another({ ledger: { ...world.ledger, time } });
    await world.service.stop();
    const order = world.signed(await sale(world), alice);
    const { transactionId } = (await service.createTransaction(world.customer, order)).body;
    offMs = 3_600_000;
    await service.start();
    await service.settled();
    expect(world.deskSigned()).toBe(0);
    offMs = 0;
    world.clock.advance(10_000);
    await service.settled();
    expect(world.deskSigned()).toBe(1);
    world.chain.advance(40);
    await service.settled();
    expect(await statusOf(world, transactionId)).toMatchObject({ status: "completed" });
    await service.stop();
  });

  test("a price that comes back after the swap has died is signed no more", async ({ openStage }) => {
    const world = await openStage({ options: { broadcastDelayMs: 5_000 } });
    const { alice } = world;
    const { body } = await world.swap(world.customer, {
      sender: alice,
      give: "SOL",
      get: "USDC",
      amount: "1",
    });
    world.market.cents = 13_500n;
    await world.pass(5_000);
    await outlive(world);
    expect(await statusOf(world, body.transactionId)).toMatchObject({ status: "failed", reason: "expired" });
    world.market.cents = 15_000n;
    // Longer than the longest pause before a failing effect is tried again.
    await world.pass(20 * 60_000);
    expect(world.deskSigned()).toBe(0);
  });

  test("M13: nor while its source cannot be asked", async ({ openStage }) => {
    const world = await openStage({ options: { broadcastDelayMs: 5_000 } });
    const { alice } = world;
    const { body } = await world.swap(world.customer, {
      sender: alice,
      give: "SOL",
      get: "USDC",
      amount: "1",
    });
    world.market.instead = () => Promise.reject(new Error("the market is closed"));
    await world.pass(5_000);
    await outlive(world);
    expect(world.deskSigned()).toBe(0);
    expect(await statusOf(world, body.transactionId)).toMatchObject({ status: "failed", reason: "expired" });
  });

  test("a price that comes back while the transaction can still land is signed", async ({ openStage }) => {
    const world = await openStage({ options: { broadcastDelayMs: 5_000 } });
    const { alice } = world;
    const { body, quote } = await world.swap(world.customer, {
      sender: alice,
      give: "SOL",
      get: "USDC",
      amount: "1",
    });
    world.market.cents = 14_000n;
    await world.pass(5_000);
    expect(world.deskSigned()).toBe(0);
    world.market.cents = 15_000n;
    await world.pass(20_000);
    expect(world.deskSigned()).toBe(1);
    await world.finalize();
    expect(await statusOf(world, body.transactionId)).toMatchObject({
      status: "completed",
      recipients: [{ amount: quote.outputAmount }],
    });
  });
});

// modules: private
describe("a private swap", () => {
  const ordered = async (world: Stage) => {
    const { alice } = world;
    const { quote, body } = await world.orderSwap(world.customer, {
      sender: alice,
      give: "SOL",
      get: "USDC",
      amount: "1",
      slippageBps: 500,
    });
    const due = units(body.depositAmount, 9);
    const deposit = () => world.deposit(body.ephemeralAddress, { lamports: due });
    return { quote, id: body.transactionId, deposit };
  };

  test("M13, C16: it is signed for at the price of that moment, whatever was quoted, and at the least that was promised", async ({
    openStage,
  }) => {
    const world = await openStage();
    const { quote, id, deposit } = await ordered(world);
    // It falls by 3 %.
    world.market.cents = 14_550n;
    await deposit();
    await world.settle();
    const { status, recipients } = await statusOf(world, id);
    expect(status).toBe("completed");
    const paid = Number(recipients[0]?.amount);
    expect(paid).toBeLessThan(Number(quote.outputAmount) * 0.975);
    expect(paid).toBeGreaterThanOrEqual(Number(quote.minOutputAmount));
  });

  test("M13: fees are not priced by a source that is not to be believed", async ({ openStage }) => {
    const world = await openStage({
      routing: { prices: { rate: async () => ({ give: 0n, get: 1n }) } },
    });
    const request = { inputAsset: "USDC", outputAsset: "SOL", amount: "150", mode: "private" as const };
    const work = world.service.createQuote(world.customer, request);
    await expectRefusal(work, "ROUTING_UNAVAILABLE", { reason: "upstream" });
    const send = { ...request, outputAsset: "USDC" };
    await expectRefusal(world.service.createQuote(world.customer, send), "ROUTING_UNAVAILABLE", {
      reason: "upstream",
    });
  });
});
