/** A payment service with private mode on: sponsor and treasury funded, SOL at 150 dollars. */
import { formatAmount } from "../../src/core/amount.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { keypairSigner } from "../../src/ledger/sign-transaction.ts";
import type { Caller } from "../../src/payments/frame/accounts/caller.ts";
import type { CreatedOrderBody } from "../../src/payments/private/accept-order.ts";
import type { QuoteBody } from "../../src/payments/frame/quotes/quote-body.ts";
import type { Funds } from "../../src/local/index.ts";
import type { ChainFixture, Wallet } from "./chain-fixture.ts";
import { freezeAccount, solAt150, units } from "./money.ts";
import { routingOptions, type GivenRouting } from "./routing.ts";
import { serviceFixture, type ServiceFixture } from "./service-fixture.ts";

/** What a test of private mode works with. */
export interface PrivateFixture extends ServiceFixture {
  readonly sponsor: Wallet;
  readonly treasury: Wallet;
  // modules: private
  /** Quotes and posts an order. */
  order(
    caller: Caller,
    order: Order,
  ): Promise<{ readonly quote: QuoteBody; readonly body: CreatedOrderBody }>;
  /** Sends money to an address from outside, and lets it be finalized and seen. */
  deposit(address: string, funds: Funds): Promise<void>;
  /** Lets slots pass until what is under way has become final, as often as it takes. */
  settle(rounds?: number): Promise<void>;
  /** Has the issuer freeze the wallet's token account. */
  freeze(wallet: Wallet, asset: "USDC" | "USDT"): Promise<void>;
  /** What an address holds, finalized, in base units: lamports, USDC, USDT. */
  held(address: string): Promise<readonly [bigint, bigint, bigint]>;
}

/** An order in words. */
export interface Order {
  readonly sender: Wallet;
  readonly to: readonly { readonly address: string; readonly amount: string }[];
  readonly asset?: string;
}

/** `ledgerOn` gives the service nodes of its own; the fixture goes on asking an honest one. */
export async function privateFixture(
  options: Parameters<typeof serviceFixture>[0] = {},
  routing: GivenRouting = {},
  ledgerOn?: (chain: ChainFixture) => Ledger,
): Promise<PrivateFixture> {
  let wallets: { sponsor: Wallet; treasury: Wallet } | undefined;
  const fixture = await serviceFixture(options, (chain) => {
    // Fees and costs in tokens go to accounts that are there.
    const accounts = { usdc: 0n, usdt: 0n };
    const sponsor = chain.wallet("sponsor", { lamports: 10_000_000_000n, ...accounts });
    const treasury = chain.wallet("treasury", { lamports: 1_000_000_000n, ...accounts });
    wallets = { sponsor, treasury };
    return {
      ...(ledgerOn === undefined ? {} : { ledger: ledgerOn(chain) }),
      ...routingOptions({
        sponsor: keypairSigner(sponsor.secretKey),
        treasury: treasury.address,
        prices: solAt150(chain),
        ...routing,
      }),
    };
  });
  if (wallets === undefined) throw new Error("the wallets are founded before the service is made");
  const { service, chain, ledger, mints } = fixture;

  const settle = async (rounds = 6): Promise<void> => {
    for (let round = 0; round < rounds; round++) {
      await service.settled();
      chain.advance(round === 0 ? 2 : 35);
      await service.settled();
    }
  };

  return {
    ...fixture,
    ...wallets,
    settle,
    // modules: private
    async order(caller, { sender, to, asset = "USDC" }) {
      const decimals = asset === "SOL" ? 9 : 6;
      const sum = to.reduce((total, { amount }) => total + units(amount, decimals), 0n);
      const recipients = to.map((share) => ({ ...share }));
      const { body: quote } = await service.createQuote(caller, {
        inputAsset: asset,
        outputAsset: asset,
        amount: formatAmount(sum, decimals),
        mode: "private",
        recipients,
      });
      const { body } = await service.createTransaction(caller, {
        type: to.length === 1 ? "send" : "payroll",
        mode: "private",
        quoteId: quote.quoteId,
        sender: sender.address,
        recipients,
      });
      return { quote, body: body as CreatedOrderBody };
    },
    async deposit(address, funds) {
      chain.fund(address, funds);
      chain.advance(35);
      await service.settled();
    },
    freeze: (wallet, asset) => freezeAccount(fixture, wallet, asset),
    async held(address) {
      const { funds } = await ledger.funds(
        [address as Wallet["address"]],
        [mints.USDC, mints.USDT],
        "finalized",
      );
      return [funds[0]?.lamports ?? 0n, funds[0]?.tokens[0] ?? 0n, funds[0]?.tokens[1] ?? 0n];
    },
  };
}
