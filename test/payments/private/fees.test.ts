/** What private mode charges is rounded up: costs are never rounded in the payer's favour. */
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { formatAmount } from "../../../src/amount.ts";
import type { Caller } from "../../../src/payments/accounts/caller.ts";
import { worthAtMost } from "../../../src/payments/prices/prices.ts";
import { privateFixture, units } from "../../kit/private-fixture.ts";
import type { PrivateFixture } from "../../kit/private-fixture.ts";

let world: PrivateFixture;
let caller: Caller;

beforeEach(async () => {
  // Not one of these divides ten thousand, or a price, without a rest.
  world = await privateFixture(
    {},
    { feeBps: 7, prices: { rate: async () => ({ give: 1_000_000_007n, get: 149_999_989n }) } },
  );
  caller = await world.caller();
});
afterEach(() => world.close());

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

test("the routing fee is the smallest whole amount that is not less than its share", async () => {
  const amounts = fc.bigInt({ min: 1_000n, max: 10n ** 12n });
  await fc.assert(
    fc.asyncProperty(amounts, async (amount) => {
      const { body } = await world.service.createQuote(caller, {
        ...{ inputAsset: "USDC", outputAsset: "USDC", amount: formatAmount(amount, 6), mode: "private" },
      });
      const fee = units(body.fees.routing, 6);
      expect(fee * 10_000n).toBeGreaterThanOrEqual(amount * 7n);
      expect((fee - 1n) * 10_000n).toBeLessThan(amount * 7n);
      const fees = fee + units(body.fees.network, 6) + units(body.fees.rent, 6);
      expect(units(body.inputAmount, 6)).toBe(amount + fees);
      expect(units(body.fee, 6)).toBe(fees);
    }),
    { numRuns: 40 },
  );
});
