/** Wallets of `paystate dev`: three wallets for the developer, and the wallets that the service works with. */
import { SOL_MINT } from "../address.ts";
import { keypairSigner } from "../ledger/sign-transaction.ts";
import type { LocalChain, LocalWallet } from "../local/index.ts";
import type { PaymentServiceOptions } from "../service/payment-service-options.ts";
import { fixedPrices } from "../payments/prices/prices.ts";
import { deskProvider } from "../payments/swap-provider/desk-provider.ts";

// Enough to play with: 100 SOL and 10,000 of each stablecoin, in base units.
const WALLET_FUNDS = { lamports: 100_000_000_000n, usdc: 10_000_000_000n, usdt: 10_000_000_000n };
const SPONSOR_FUNDS = { lamports: 1_000_000_000_000n };
const TREASURY_FUNDS = { lamports: 1_000_000_000n };
// What the desk holds makes its prices: one SOL for 150 dollars, a dollar for a dollar.
const DESK_FUNDS = { lamports: 10_000_000_000_000n, usdc: 1_500_000_000_000n, usdt: 1_500_000_000_000n };
// Finalized after 32 slots, with one to spare.
const SLOTS_TO_FINALITY = 33;

/** The developer's wallets, and the options that switch private mode and swaps on. */
interface DevMoney extends Required<Pick<PaymentServiceOptions, "privateRouting" | "swap">> {
  readonly wallets: readonly [LocalWallet, ...(readonly LocalWallet[])];
}

/** The same wallets at every start; on a new chain their funds are final before the first request. */
export function devMoney(chain: LocalChain): DevMoney {
  const known = chain.wallets().length;
  const founded = (name: string): LocalWallet => chain.createWallet(name, WALLET_FUNDS);
  const wallets = [founded("alice"), founded("bob"), founded("carol")] as const;
  const sponsor = chain.createWallet("sponsor", SPONSOR_FUNDS);
  const treasury = chain.createWallet("treasury", TREASURY_FUNDS);
  const desk = chain.createWallet("desk", DESK_FUNDS);
  if (chain.wallets().length > known) chain.advance(SLOTS_TO_FINALITY);
  return {
    wallets,
    privateRouting: {
      sponsor: keypairSigner(sponsor.secretKey),
      treasury: treasury.address,
      // For the fees of private mode, one SOL is always worth 150 dollars here.
      prices: fixedPrices({
        [SOL_MINT]: 1_000_000_000n,
        [chain.mints.USDC]: 150_000_000n,
        [chain.mints.USDT]: 150_000_000n,
      }),
    },
    swap: { provider: deskProvider({ desk: keypairSigner(desk.secretKey) }) },
  };
}
