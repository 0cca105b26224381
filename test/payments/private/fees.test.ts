/** What private mode charges is rounded up: costs are never rounded in the payer's favour. */
import fc from "fast-check";
import { expect } from "vitest";
import { SOL_MINT } from "../../../src/address.ts";
import { formatAmount } from "../../../src/amount.ts";
import { TOKEN_ACCOUNT_BYTES, type RoutingLedger } from "../../../src/ledger/routing.ts";
import type { Token } from "../../../src/payments/assets/assets.ts";
import { routingCost } from "../../../src/payments/outgoing/plans/routing-cost.ts";
import { type PriceSource, worthAtMost } from "../../../src/payments/prices/prices.ts";
import type { Caller } from "../../../src/payments/accounts/caller.ts";
import { units, type PrivateFixture } from "../../kit/private-fixture.ts";
import { privateTest } from "../../kit/private-test.ts";
import { runsOf } from "../../kit/thorough.ts";

/** A customer where not one price or share divides ten thousand without a rest. */
interface Stage extends PrivateFixture {
  readonly customer: Caller;
}

const test = privateTest.extend("world", async ({ open }): Promise<Stage> => {
  const prices: PriceSource = { rate: async () => ({ give: 1_000_000_007n, get: 149_999_989n }) };
  const world = await open({}, { feeBps: 7, prices });
  return { ...world, customer: await world.caller() };
});

test("what lamports are worth is the smallest whole amount that is worth as much", () => {
  const positive = fc.bigInt({ min: 1n, max: 10n ** 18n });
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n }), positive, positive, (amount, give, get) => {
      const worth = worthAtMost(amount, { give, get });
      expect(worth * give).toBeGreaterThanOrEqual(amount * get);
      expect((worth - 1n) * give).toBeLessThan(amount * get);
    }),
  );
});

test("R14: a payout that is made again binds two marks more, its own and that of what it replaces", async () => {
  const ledger = {
    bidCeiling: 0n,
    feeOf: async () => 0n,
    rentMinimum: async (bytes: number) => BigInt(bytes),
  };
  const parties = { sponsor: SOL_MINT, treasury: SOL_MINT };
  const bound = async (recipients: number): Promise<bigint> => {
    const order = {
      asset: { mint: SOL_MINT, decimals: 9 } as Token,
      recipients,
      pricedAccounts: 0,
      bid: "floor" as const,
    };
    return (await routingCost(ledger as unknown as RoutingLedger, parties, order)).deposits;
  };
  // Twelve recipients more are one payout more.
  expect((await bound(36)) - (await bound(24))).toBe(3n * BigInt(TOKEN_ACCOUNT_BYTES));
});

test("the routing fee is the smallest whole amount that is not less than its share", async ({ world }) => {
  const amounts = fc.bigInt({ min: 1_000n, max: 10n ** 12n });
  await fc.assert(
    fc.asyncProperty(amounts, async (amount) => {
      const { body } = await world.service.createQuote(world.customer, {
        inputAsset: "USDC",
        outputAsset: "USDC",
        amount: formatAmount(amount, 6),
        mode: "private",
      });
      const fee = units(body.fees.routing, 6);
      expect(fee * 10_000n).toBeGreaterThanOrEqual(amount * 7n);
      expect((fee - 1n) * 10_000n).toBeLessThan(amount * 7n);
      const fees = fee + units(body.fees.network, 6) + units(body.fees.rent, 6);
      expect(units(body.inputAmount, 6)).toBe(amount + fees);
      expect(units(body.fee, 6)).toBe(fees);
    }),
    { numRuns: runsOf(40) },
  );
});
