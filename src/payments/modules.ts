/**
 * The modules of the payment service. A module has one line in each list here: `npm run without -- private` takes it away.
 * Wallet, webhooks and operator cannot go yet.
 */
import type { CreatedTransferBody } from "./frame/signed/accept-signed.ts";
import type { WayModule } from "./frame/way-module.ts";
import type { PaymentStorage, PaymentTables } from "./payment-storage.ts";
import type { CreatedOrderBody } from "./private/accept-order.ts";
import { privateMode } from "./private/module.ts";
import type { PrivateOptions } from "./private/private-routing-options.ts";
import type { AddressReconciliation } from "./private/reconcile/orders.ts";
import type { RecoveryCommands } from "./private/recovery/recover.ts";
import { desk } from "./swap/desk/module.ts";
import { jupiter } from "./swap/jupiter/module.ts";
import { swap } from "./swap/module.ts";
import { wallet } from "./wallet/module.ts";

/** The answer to POST /v1/transactions. */
// A line for each module, which goes with the module.
// prettier-ignore
export type CreatedTransactionBody =
  | CreatedOrderBody
  | CreatedTransferBody;

/** Options of the service that modules take. */
// A line for each module, which goes with the module.
// prettier-ignore
export type ModuleOptions =
  & PrivateOptions
  & object;

/** Commands that modules add to the operator's. */
// A line for each module, which goes with the module.
// prettier-ignore
export type ModuleCommands =
  & RecoveryCommands
  & object;

/** What modules tell of their records beside the chain. */
// A line for each module, which goes with the module.
// prettier-ignore
export type ModuleReconciliation =
  & AddressReconciliation
  & object;

/** A module, given all of the service. */
type PaymentModule = WayModule<CreatedTransactionBody, PaymentStorage, PaymentTables, ModuleOptions>;

// A line for each module, which goes with the module.
// prettier-ignore
export const WAY_MODULES: readonly PaymentModule[] = [
  wallet,
  swap,
  desk,
  jupiter,
  privateMode,
];
