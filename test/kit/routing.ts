/** What tests give of private mode, and get: nothing where that module is gone. */
import type { Signer } from "../../src/ledger/sign-transaction.ts";
import type { PriceSource } from "../../src/payments/frame/prices/prices.ts";
import type { PrivateRoutingOptions } from "../../src/payments/private/private-routing-options.ts";

// prettier-ignore
export type GivenRouting =
  & Partial<PrivateRoutingOptions>
  & object;

interface RoutingWallets {
  readonly sponsor: Signer;
  readonly treasury: string;
  readonly prices: PriceSource;
}

/** The options that turn private mode on. */
export function routingOptions(given: RoutingWallets & GivenRouting): object {
  if (given.prices === undefined) return {};
  return {
    privateRouting: given, // modules: private
  };
}
