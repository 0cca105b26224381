/** Who works with money of their own in a world: sponsor and treasury of private mode, the swap desk, and a customer. */
import { keypairSigner, type Signer } from "../../src/ledger/sign-transaction.ts";
import type { Funds } from "../../src/local/index.ts";
import type { PaymentServiceOptions } from "../../src/service/payment-service-options.ts";
import { deskProvider } from "../../src/payments/swap/desk/desk-provider.ts";
import type { ChainFixture, Wallet } from "../kit/chain-fixture.ts";
import { solAt150 } from "../kit/money.ts";

/** Wallets of a world, by name, and the use that a service has of them. */
export interface House {
  /** What each owns to begin with. */
  readonly wallets: Readonly<Record<string, Funds>>;
  /** The options of one process; it signs through `within`, so that it may die at any signature. */
  readonly options: (of: {
    readonly wallet: (name: string) => Wallet;
    readonly within: (signer: Signer) => Signer;
    readonly mints: ChainFixture["mints"];
  }) => Partial<PaymentServiceOptions>;
}

/** Pays, and gets refunds; its account is there, so that a refund costs it next to nothing. */
export const CUSTOMER = "customer";
export const TREASURY = "treasury";
export const DESK = "desk";
export const SPONSOR = "sponsor";

const SOL = 1_000_000_000n;
const THOUSANDS = 150_000_000_000n;

// modules: private
/** Private mode. */
export const PRIVATE_HOUSE: House = {
  wallets: {
    [CUSTOMER]: { lamports: 10n * SOL, usdc: 0n },
    [SPONSOR]: { lamports: 10n * SOL, usdc: 0n },
    [TREASURY]: { lamports: SOL, usdc: 0n },
  },
  options: ({ wallet, within, mints }) => ({
    privateRouting: {
      sponsor: within(keypairSigner(wallet(SPONSOR).secretKey)),
      treasury: wallet(TREASURY).address,
      prices: solAt150({ mints }),
    },
  }),
};

/** Private mode, and a desk that swaps in both modes. */
export const TRADING_HOUSE: House = {
  wallets: {
    ...PRIVATE_HOUSE.wallets, // modules: private
    [CUSTOMER]: { lamports: 10n * SOL, usdc: 0n },
    [DESK]: { lamports: 1_000n * SOL, usdc: THOUSANDS },
  },
  options: (of) => {
    const desk = of.within(keypairSigner(of.wallet(DESK).secretKey));
    return {
      ...PRIVATE_HOUSE.options(of), // modules: private
      swap: { provider: deskProvider({ desk, prices: solAt150(of) }) },
    };
  },
};
