/**
 * The modules of the payment service. A module has one line in each list here: `npm run without -- private` takes it away.
 * Wallet and operator cannot go yet.
 */
import { z } from "zod";
import type { Immutable } from "../core/immutable.ts";
import { accountFields } from "./frame/accounts/read-account.ts";
import { named } from "./frame/body-schemas.ts";
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
import type { WebhookHealth } from "./webhooks/delivery-backlog.ts";
import type { WebhookDiagnosis } from "./webhooks/egress.ts";
import { webhooks } from "./webhooks/module.ts";
import type { WebhookCalls } from "./webhooks/webhook-calls.ts";
import { webhookAccountFields } from "./webhooks/webhook-limit.ts";
import type { WebhookOptions } from "./webhooks/webhook-options.ts";

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
  & WebhookOptions
  & object;

/** Calls that modules add to the service's. */
// A line for each module, which goes with the module.
// prettier-ignore
export type ModuleCalls =
  & WebhookCalls
  & object;

/** The parts of the service's health that modules add. */
// A line for each module, which goes with the module.
// prettier-ignore
export type ModuleHealth =
  & WebhookHealth
  & object;

/** The parts of a diagnosis that modules add. */
// A line for each module, which goes with the module.
// prettier-ignore
export type ModuleDiagnosis =
  & WebhookDiagnosis
  & object;

/** The account behind a key. A line for each module, which goes with the module. */
export const accountSchema = named(
  "Account",
  z.object({
    ...accountFields,
    ...webhookAccountFields,
  }),
);

/** The account behind a key, with its limits on requests. @interface */
export type AccountBody = Immutable<z.output<typeof accountSchema>>;

/** Commands that modules add to the operator's. */
// A line for each module, which goes with the module.
// prettier-ignore
export type ModuleCommands =
  & RecoveryCommands
  & object;

/** The details that modules add to their records beside the chain. */
// A line for each module, which goes with the module.
// prettier-ignore
export type ModuleReconciliation =
  & AddressReconciliation
  & object;

/** A module, given all of the service. */
type PaymentModule = WayModule<CreatedTransactionBody, PaymentStorage, PaymentTables, ModuleOptions>;

/** The announcing module stands before the modules whose charts it announces for. */
// A line for each module, which goes with the module.
// prettier-ignore
export const WAY_MODULES: readonly PaymentModule[] = [
  webhooks,
  wallet,
  swap,
  desk,
  jupiter,
  privateMode,
];
