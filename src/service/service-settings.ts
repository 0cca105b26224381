/** What the options of a service say of real money; no secret is told. */
import { MAINNET_GENESIS } from "../payments/assets/assets.ts";
import { refuseFixedPrices } from "../payments/prices/prices.ts";
import { StartRefused } from "../payments/secrets/bind-database.ts";
import type { ServiceParts } from "./service-parts.ts";

/** The settings that matter once real money moves. */
export interface ServiceSettings {
  readonly approvals: 1 | 2;
  /** Symbols of the assets of this service. */
  readonly assets: readonly string[];
  /** Why the prices are refused on mainnet; null where they are not. */
  readonly priceFault: string | null;
  /** The least bid in millionths of a lamport per compute unit, null where the ledger does not tell; the most in lamports. */
  readonly bids: { readonly floor: number | null; readonly ceiling: number };
  /** Null while private mode is off. */
  readonly privateMode: {
    readonly isScreened: boolean;
    readonly hasDailyLimit: boolean;
  } | null;
  /** Symbols of the assets of which the swap provider may give everything within a day. */
  readonly unlimitedSwaps: readonly string[];
  /** Whether anything of transactions, notices and quotes is removed once it is old. */
  readonly removesOld: boolean;
  /** Whether rows are archived before they are removed. */
  readonly archives: boolean;
}

/** Asks no node. */
export async function settingsOf({ context, options, swapper }: ServiceParts): Promise<ServiceSettings> {
  const { approvals, ledger, privateRouting, keep, archive } = options;
  return {
    approvals,
    assets: context.assets.tokens.map(({ symbol }) => symbol),
    priceFault: await priceFault({ options, swapper }),
    bids: {
      floor: ledger.bidFloor === undefined ? null : Number(ledger.bidFloor),
      ceiling: Number(ledger.bidCeiling),
    },
    privateMode:
      privateRouting === undefined
        ? null
        : {
            isScreened: privateRouting.screen !== undefined,
            hasDailyLimit: privateRouting.maxSponsorSpendPerDay !== undefined,
          },
    unlimitedSwaps: swapper?.unlimited ?? [],
    removesOld: [keep.transactions, keep.notices, keep.quotes].some((ms) => ms !== null),
    archives: archive !== undefined,
  };
}

/** The words in which a start on mainnet refuses the prices. */
async function priceFault({
  options: { privateRouting },
  swapper,
}: Pick<ServiceParts, "options" | "swapper">): Promise<string | null> {
  try {
    refuseFixedPrices(MAINNET_GENESIS, privateRouting?.prices ?? null, "privateRouting.prices");
    await swapper?.check(MAINNET_GENESIS);
    return null;
  } catch (error) {
    if (error instanceof StartRefused) return error.message;
    throw error;
  }
}
