/** A fee is fixed by the quote and covers what its order can cost the operator, whoever harvests rent and wherever prices move. */
// modules: private
import { expect } from "vitest";
import { SOL_MINT } from "../../../src/core/address.ts";
import type { PriceSource } from "../../../src/payments/frame/prices/prices.ts";
import type { QuoteBody } from "../../../src/payments/frame/quotes/quote-body.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { units } from "../../kit/money.ts";
import { MINUTE, orderedAs, SOL, type Ordered, type scene, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";

/** A hundred recipients, twenty payments and their ends. */
const LONG = 240_000;

/** One SOL in millionths of a dollar: moves when a test says so. */
class Market implements PriceSource {
  sol = 150_000_000n;

  async rate(give: string): ReturnType<PriceSource["rate"]> {
    return give === SOL_MINT ? { give: SOL, get: this.sol } : { give: this.sol, get: SOL };
  }
}

/** What the operator's wallets hold at a moment: the sponsor's lamports, the dollars of the treasury and the sponsor. */
async function pursesOf(world: Scene): Promise<readonly [lamports: bigint, dollars: bigint]> {
  const [[lamports, withheld], [, fees]] = await Promise.all([
    world.held(world.sponsor.address),
    world.held(world.treasury.address),
  ]);
  return [lamports, fees + withheld];
}

/** Expects that what came in, without `profit`, is worth as much at this price as what went out. */
async function expectNoLoss(
  world: Scene,
  before: Awaited<ReturnType<typeof pursesOf>>,
  {
    sol,
    profit,
    tolerated = 0n,
  }: { readonly sol: bigint; readonly profit: bigint; readonly tolerated?: bigint },
): Promise<void> {
  const after = await pursesOf(world);
  // The rent of the deposit address's own account, which the depositor has paid, pays the marker of the first chunk.
  const spent = before[0] - after[0] - tolerated;
  const earned = after[1] - before[1] - profit;
  expect(earned * SOL - spent * sol).toBeGreaterThanOrEqual(0n);
}

const payeesOf = (world: Scene, count: number, funds: { readonly usdc?: bigint }): readonly Wallet[] =>
  Array.from({ length: count }, (_, index) =>
    world.wallet(`payee ${index}`, { lamports: 1_000_000n, ...funds }),
  );

async function payroll(
  world: Scene,
  payees: readonly Wallet[],
): Promise<Ordered & { readonly quote: QuoteBody }> {
  const { quote, body } = await world.order(world.customer, {
    sender: world.alice,
    to: payees.map(({ address }) => ({ address, amount: "0.01" })),
  });
  return { ...orderedAs(body), quote };
}

/** A world in which SOL costs what the market says, and the sponsor has room for a large payroll. */
async function richWorld(
  open: (...options: Parameters<typeof scene>) => Promise<Scene>,
  market: Market,
): Promise<Scene> {
  const world = await open({}, { prices: market });
  world.chain.fund(world.sponsor.address, { lamports: 200n * SOL });
  await world.openAccount(world.treasury, "USDC");
  world.chain.advance(35);
  return world;
}

test(
  "M31: a hundred payees get an account each while SOL has become dearer by the whole bound: the fee is worth what the operator spends",
  { timeout: LONG },
  async ({ open }) => {
    const market = new Market();
    const world = await richWorld(open, market);
    const payees = payeesOf(world, 100, {});
    const order = await payroll(world, payees);
    market.sol = 165_000_000n;
    const before = await pursesOf(world);
    await world.deposit(order.address, { usdc: order.due });
    await world.settle(40);
    expect(await world.shown(order)).toMatchObject({ status: "completed" });
    expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
    await expectNoLoss(world, before, { sol: market.sol, profit: units(order.quote.fees.routing, 6) });
    await world.judge();
  },
);

test(
  "M31: of a hundred payees four in five close their accounts between quote and payment: the fee is worth what the operator spends",
  { timeout: LONG },
  async ({ open }) => {
    const market = new Market();
    const world = await richWorld(open, market);
    const payees = payeesOf(world, 100, { usdc: 0n });
    const order = await payroll(world, payees);
    for (const [index, payee] of payees.entries()) {
      if (index % 5 !== 0) await world.closeAccount(payee, "USDC");
    }
    market.sol = 165_000_000n;
    const before = await pursesOf(world);
    await world.deposit(order.address, { usdc: order.due });
    for (let round = 0; round < 12; round++) await world.passAndSettle(20_000, 4);
    expect(await world.shown(order)).toMatchObject({ status: "failed", reason: "PARTIAL_PAYOUT" });
    await world.passAndSettle(11 * MINUTE, 8);
    expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
    await expectNoLoss(world, before, { sol: market.sol, profit: units(order.quote.fees.routing, 6) });
    await world.judge();
  },
);

test("M31: an order whose fee does not cover its cost any more is not taken, and is once its quote was refreshed", async ({
  open,
}) => {
  const market = new Market();
  const world = await richWorld(open, market);
  const recipients = [{ address: world.bob.address, amount: "5" }];
  const asked = {
    inputAsset: "USDC",
    outputAsset: "USDC",
    amount: "5",
    mode: "private",
    recipients,
  } as const;
  const { body: quote } = await world.service.createQuote(world.customer, asked);
  const take = () =>
    world.service.createTransaction(world.customer, {
      type: "send",
      mode: "private",
      quoteId: quote.quoteId,
      sender: world.alice.address,
      recipients,
    });
  for (const sol of [164_000_000n, 180_000_000n]) {
    market.sol = sol;
    await world.service.createQuote(world.customer, asked);
  }
  await expect(take()).rejects.toMatchObject({
    code: "INVALID_QUOTE",
    details: { quoteId: quote.quoteId, reason: "price_moved" },
  });
  await world.service.refreshQuote(world.customer, quote.quoteId);
  await expect(take()).resolves.toMatchObject({ body: { status: "pending" } });
});
