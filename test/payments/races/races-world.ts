/** Two processes on one database, and quotes of every type in both modes for them to race for. */
import { SOL_MINT } from "../../../src/core/address.ts";
import { formatAmount } from "../../../src/core/amount.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { PriceSource } from "../../../src/payments/frame/prices/prices.ts";
import type { QuoteBody } from "../../../src/payments/frame/quotes/quote-body.ts";
import type { TransactionRequest } from "../../../src/payments/frame/requests.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import type { Adapter } from "../../kit/adapters.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import type { Through } from "../../kit/meet-at-every-commit.ts";
import type { Mode, Type } from "../../kit/modes.ts";
import { units } from "../../kit/money.ts";
import { swapFixture, type SwapFixture } from "../../kit/swap-fixture.ts";

/** What the world of races consists of. */
export interface RacesWorld extends SwapFixture {
  /** Who quotes and posts: somebody new for each race, so that no limit of an account is met. */
  readonly customer: () => Caller;
  newCustomer(tier: Caller["tier"]): Promise<void>;
  readonly alice: Wallet;
  readonly bob: Wallet;
  readonly carol: Wallet;
  /** The database, as a third process sees it. */
  readonly database: PaymentStorage;
  /** A service of its own on the database, whose use cases can be stopped; it does no work in the background. */
  process(which: "one" | "other", through: Through): Promise<PaymentService>;
  /** Dollars for one SOL, as the desk's market and the sponsor's price have it. */
  setDollars(dollars: bigint): void;
  quoteFor(mode: Mode, type: Type): Promise<QuoteBody>;
  /** A body that posts this quote, with what was signed last. */
  bodyFor(quote: QuoteBody, mode: Mode, type: Type): TransactionRequest;
}

export async function racesWorld(
  adapter: Adapter,
  settings: Parameters<typeof swapFixture>[0] = {},
): Promise<RacesWorld> {
  let dollars = 150n;
  const worth = (mint: string): bigint => (mint === SOL_MINT ? 1_000_000_000n : dollars * 1_000_000n);
  const market: PriceSource = { rate: async (give, get) => ({ give: worth(give), get: worth(get) }) };
  const database = await adapter.make();
  const handles = { own: await database.open(), one: await database.open(), other: await database.open() };
  const world = await swapFixture({
    routing: { prices: market },
    ...settings,
    desk: { prices: market, ...settings.desk },
    options: { storage: handles.own, ...settings.options },
  });
  let customer = await world.caller("enterprise");
  const wealth = { lamports: 900_000_000_000n, usdc: 900_000_000_000n };
  const alice = world.wallet("alice", wealth);
  const bob = world.wallet("bob", { lamports: 1_000_000_000n });
  const carol = world.wallet("carol", { lamports: 1_000_000_000n });
  world.chain.fund(world.sponsor.address, { lamports: 900_000_000_000n });
  world.chain.advance(35);
  const shares = {
    send: [{ address: bob.address, amount: "1" }],
    payroll: [
      { address: bob.address, amount: "1" },
      { address: carol.address, amount: "2" },
    ],
  };

  return {
    ...world,
    alice,
    bob,
    carol,
    database: handles.own,
    customer: () => customer,
    async newCustomer(tier) {
      customer = await world.caller(tier);
    },
    async process(which, through) {
      // Where it starts nobody meets it.
      let outside = handles[which];
      const storage = new Proxy(handles[which], {
        get: (_target, property): unknown => Reflect.get(outside, property),
      });
      const service = world.another({ storage });
      await service.start();
      await service.stop();
      outside = through(handles[which]);
      return service;
    },
    setDollars: (next) => (dollars = next),
    async quoteFor(mode, type) {
      const recipients = type === "swap" ? undefined : shares[type];
      const sum = recipients?.reduce((total, { amount }) => total + units(amount, 6), 0n);
      const { body } = await world.service.createQuote(customer, {
        mode,
        inputAsset: type === "swap" ? "SOL" : "USDC",
        outputAsset: "USDC",
        amount: sum === undefined ? "1" : formatAmount(sum, 6),
        // A private quote binds no sender, so that two of them may post it.
        ...(mode === "wallet" ? { sender: alice.address } : {}),
        ...(recipients === undefined ? {} : { recipients }),
      });
      return body;
    },
    bodyFor(quote, mode, type) {
      const recipients =
        type === "swap" ? [{ address: alice.address, amount: quote.outputAmount }] : shares[type];
      const common = { type, mode, quoteId: quote.quoteId, sender: alice.address, recipients };
      if (mode === "private") return common;
      return { ...common, signedTransaction: world.signed(quote, alice).signedTransaction };
    },
    async close() {
      await world.close();
      await Promise.all([...new Set(Object.values(handles))].map((handle) => handle.close()));
      await database.destroy();
    },
  };
}
