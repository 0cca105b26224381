/** Promises around a swap that a small slip in one line would break without any other test noticing. */
import { describe, expect } from "vitest";
import fc from "fast-check";
import { SOL_MINT } from "../../../src/core/address.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import { worthAtMost, type PriceSource } from "../../../src/payments/frame/prices/prices.ts";
import { keepReserved, promisesAt, reserve } from "../../../src/payments/frame/purses/reserve.ts";
import type { BuiltSwap, SwapProvider } from "../../../src/payments/frame/exchange/swap-provider.ts";
import { deskProvider } from "../../../src/payments/swap/desk/desk-provider.ts";
import type { PaymentStorage, PaymentWrite } from "../../../src/payments/payment-storage.ts";
import { adapters } from "../../kit/adapters.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { units } from "../../kit/money.ts";
import type { SwapFixture, SwapSettings } from "../../kit/swap-fixture.ts";
import { swapTest } from "../../kit/swap-test.ts";
import { drawn } from "../../kit/thorough.ts";
import { expectRefusal } from "../wallet/wallet-world.ts";
import { dropping } from "../../kit/odd-endpoints.ts";

const market: PriceSource = {
  rate: async (give, get) => ({
    give: give === SOL_MINT ? 1_000_000_000n : 150_000_000n,
    get: get === SOL_MINT ? 1_000_000_000n : 150_000_000n,
  }),
};

/** Alice, and a desk that knows one price. */
interface Stage extends SwapFixture {
  readonly customer: Caller;
  readonly alice: Wallet;
}

const test = swapTest.extend(
  "openStage",
  ({ open }) =>
    async (settings: SwapSettings = {}): Promise<Stage> => {
      const world = await open({ desk: { prices: market }, ...settings });
      const customer = await world.caller();
      const alice = world.wallet("alice", { lamports: 10_000_000_000n, usdc: 1_000_000_000n });
      world.chain.advance(35);
      return { ...world, customer, alice };
    },
);

const SALE = { give: "SOL", get: "USDC", amount: "1" } as const;

describe("the inventory", () => {
  test("only final inventory is sold: what has just come in could still vanish", async ({ openStage }) => {
    const { customer, alice, chain, desk, quote, ledger, mints } = await openStage({
      inventory: { usdc: 100_000_000n },
    });
    chain.fund(desk, { usdc: 100_000_000_000n });
    chain.advance(2);
    const { funds } = await ledger.funds([desk], [mints.USDC], "confirmed");
    expect(funds[0]?.tokens).toEqual([100_100_000_000n]);
    await expectRefusal(quote(customer, { ...SALE, sender: alice }), "INSUFFICIENT_LIQUIDITY", {
      available: "10",
    });
    chain.advance(35);
    await quote(customer, { ...SALE, sender: alice });
  });
});

describe("a reservation", () => {
  const resource = "desk D gives M";
  const put = async (storage: PaymentStorage, writes: readonly PaymentWrite[]): Promise<boolean> =>
    (await storage.commit([{ writes }]))[0]?.ok === true;

  test.each(drawn(adapters, "kept reservations"))(
    "that was kept meanwhile is not released, though it had lapsed, on $name",
    async ({ make }) => {
      const database = await make();
      const storage = await database.open();
      const wanted = { resource, amount: 5n, most: 5n };
      const mine = reserve("quote:1", [wanted], { createdAt: 1, lapsesAt: 10 });
      expect(await put(storage, mine.writes)).toBe(true);

      // Somebody who needs the room sees that it has lapsed; before the commit, its swap is taken after all.
      const promises = promisesAt(storage, 10);
      expect(await promises.promised(resource)).toBe(0n);
      const kept = await keepReserved(storage, mine.names);
      expect(await put(storage, kept ?? [])).toBe(true);
      const theirs = reserve("quote:2", [wanted], { createdAt: 10, lapsesAt: 20 });
      expect(await put(storage, [...promises.releaseLapsed(), ...theirs.writes])).toBe(false);
      expect(await storage.reservations(resource)).toMatchObject([{ id: "quote:1:0", lapsesAt: null }]);

      await storage.close();
      await database.destroy();
    },
  );

  test.each(drawn(adapters, "released reservations"))(
    "that was released meanwhile is not kept, on $name",
    async ({ make }) => {
      const database = await make();
      const storage = await database.open();
      const wanted = { resource, amount: 5n, most: 5n };
      const mine = reserve("quote:1", [wanted], { createdAt: 1, lapsesAt: 10 });
      await put(storage, mine.writes);
      const kept = await keepReserved(storage, mine.names);
      const promises = promisesAt(storage, 10);
      await promises.promised(resource);
      const theirs = reserve("quote:2", [wanted], { createdAt: 10, lapsesAt: 20 });
      expect(await put(storage, [...promises.releaseLapsed(), ...theirs.writes])).toBe(true);
      expect(await put(storage, kept ?? [])).toBe(false);
      await storage.close();
      await database.destroy();
    },
  );
});

describe("W10: the same swap bytes", () => {
  test("signed for one quote, they are refused under another", async ({ openStage }) => {
    const { customer, alice, quote, signed, service, finalize } = await openStage();
    const first = await quote(customer, { ...SALE, sender: alice });
    const second = await quote(customer, { ...SALE, sender: alice });
    const body = signed(first, alice);
    const under = (quoteId: string) => service.createTransaction(customer, { ...body, quoteId });
    await expectRefusal(under(second.quoteId), "INVALID_SIGNATURE", { reason: "content_mismatch" });
    await under(first.quoteId);
    await finalize();
    await expectRefusal(under(second.quoteId), "INVALID_SIGNATURE", { reason: "content_mismatch" });
  });

  test("of a provider whose quotes are alike, they are a duplicate under the second", async ({
    openStage,
  }) => {
    // It forgets the reference, so that two quotes within a block give out one message.
    const forgetful = (signer: Parameters<NonNullable<SwapSettings["provider"]>>[0]): SwapProvider => ({
      name: "forgetful",
      connect(surroundings) {
        const desk = deskProvider({ desk: signer, prices: market }).connect(surroundings);
        let built: Promise<BuiltSwap> | undefined;
        return { ...desk, build: (swap) => (built ??= desk.build(swap)) };
      },
    });
    const { customer, alice, quote, signed, service, finalize, held, desk } = await openStage({
      provider: forgetful,
    });
    const [, before] = await held(desk);
    const first = await quote(customer, { ...SALE, sender: alice });
    const second = await quote(customer, { ...SALE, sender: alice });
    expect(second.transaction).toBe(first.transaction);
    const { body } = await service.createTransaction(customer, signed(first, alice));
    const { transactionId } = body;
    await expectRefusal(service.createTransaction(customer, signed(second, alice)), "DUPLICATE_TRANSACTION", {
      transactionId,
    });
    await finalize();
    await expectRefusal(service.createTransaction(customer, signed(second, alice)), "DUPLICATE_TRANSACTION", {
      transactionId,
    });
    const [, after] = await held(desk);
    expect(before - after).toBe(units(first.outputAmount, 6));
  });
});

describe("rounding", () => {
  // modules: private
  test("a private swap's least output is rounded up, and its fees are", async ({ openStage }) => {
    const { customer, alice, service } = await openStage();
    for (const amount of ["1.000000001", "1.000000333", "1.123456789"]) {
      const { body: quote } = await service.createQuote(customer, {
        inputAsset: "SOL",
        outputAsset: "USDC",
        amount,
        mode: "private",
        sender: alice.address,
        slippageBps: 33,
      });
      const output = units(quote.outputAmount, 6);
      const least = units(quote.minOutputAmount, 6);
      const exact = output * (10_000n - 33n);
      expect(exact % 10_000n, "an amount that shows the rounding").not.toBe(0n);
      expect(least).toBe(exact / 10_000n + 1n);
      const routing = units(amount, 9) * 30n;
      expect(routing % 10_000n, "an amount that shows the rounding").not.toBe(0n);
      expect(units(quote.fees.routing, 9)).toBe(routing / 10_000n + 1n);
    }
  });

  // modules: private
  test("a private send's routing fee is rounded up", async ({ openStage }) => {
    const { customer, service } = await openStage();
    for (const [amount, fee] of [
      ["5.000001", 15_001n],
      ["0.333333", 1_000n],
      ["0.1", 300n],
    ] as const) {
      const { body: quote } = await service.createQuote(customer, {
        inputAsset: "USDC",
        outputAsset: "USDC",
        amount,
        mode: "private",
      });
      expect(units(quote.fees.routing, 6)).toBe(fee);
    }
  });

  test("lamports are turned into another asset so that they are covered, by no more than a unit", () => {
    const part = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n });
    fc.assert(
      fc.property(part, part, part, (lamports, give, get) => {
        const worth = worthAtMost(lamports, { give, get });
        expect(worth * give >= lamports * get).toBe(true);
        expect((worth - 1n) * give < lamports * get).toBe(true);
      }),
    );
  });

  // modules: private
  test("rent of a private order is that of the chain at the dearest price within the bound, rounded up", async ({
    openStage,
  }) => {
    // A price at which nothing divides evenly.
    const rate = { give: 1_000_000_007n, get: 149_999_993n };
    const { customer, service, ledger } = await openStage({
      routing: { prices: { rate: async () => rate } },
    });
    const quoted = async (inputAsset: string) =>
      (
        await service.createQuote(customer, {
          inputAsset,
          outputAsset: inputAsset,
          amount: "5",
          mode: "private",
        })
      ).body.fees;
    const rent = await ledger.rentMinimum(165);
    const { rent: inUsdc } = await quoted("USDC");
    // At the dearest that SOL may become: ten percent more.
    const worth = rent * rate.get * 11n;
    expect(worth % (rate.give * 10n)).not.toBe(0n);
    expect(units(inUsdc, 6)).toBe(worth / (rate.give * 10n) + 1n);
  });
});

describe("refreshing", () => {
  const refused = { reason: "expired" } as const;

  test.for([
    ["wallet", 30_000],
    ["private", 60_000], // modules: private
  ] as const)(
    "in %s mode it works until 10 minutes after expiry, and then never again",
    async ([mode, lifeMs], { openStage }) => {
      const { customer, alice, service, clock } = await openStage();
      const request = { inputAsset: "SOL", outputAsset: "USDC", amount: "1", mode, sender: alice.address };
      const make = async () => (await service.createQuote(customer, request)).body.quoteId;
      const [kept, late] = [await make(), await make()];
      clock.advance(lifeMs + 10 * 60_000);
      const { body } = await service.refreshQuote(customer, kept);
      expect(Date.parse(body.expiresAt)).toBe(clock.now() + lifeMs);
      clock.advance(1);
      await expectRefusal(service.refreshQuote(customer, late), "INVALID_QUOTE", refused);
      // The ten minutes of the other one begin with its new expiry.
      clock.advance(lifeMs + 10 * 60_000 - 1);
      await service.refreshQuote(customer, kept);
      await expectRefusal(service.refreshQuote(customer, late), "INVALID_QUOTE", refused);
    },
  );
});

// modules: private
describe("E9: a private swap that a fork undoes before it is final", () => {
  test("never goes back: it stays processing, is signed for anew, and ends completed", async ({
    openStage,
  }) => {
    const { customer, alice, chain, orderSwap, deposit, service, settle, pass, held, desk } =
      await openStage();
    const statuses: string[] = [];
    const { body } = await orderSwap(customer, { ...SALE, sender: alice });
    const shown = async () => service.transaction(customer, body.transactionId);
    const note = async (): Promise<void> => {
      const { status } = await shown();
      if (statuses.at(-1) !== status) statuses.push(status);
    };
    const [, before] = await held(desk);
    await deposit(body.ephemeralAddress, { lamports: units(body.depositAmount, 9) });
    await service.settled();
    const fork = chain.slot();
    chain.advance(2);
    await service.settled();
    await note();

    chain.rollback(fork - 1);
    const lift = chain.faults.add(dropping);
    for (let round = 0; round < 8; round++) {
      chain.advance(40);
      await pass(40_000);
      await note();
    }
    lift();
    for (let round = 0; round < 12; round++) {
      await pass(60_000);
      await settle(2);
      await note();
    }
    expect(statuses).toEqual(["processing", "completed"]);
    const [paid] = (await shown()).recipients;
    const [, after] = await held(desk);
    expect(before - after).toBe(units(paid?.amount ?? "", 6));
    expect(await held(body.ephemeralAddress)).toEqual([0n, 0n, 0n]);
  });
});
