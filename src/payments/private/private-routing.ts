/** The private-mode part of the service: terms, keys, machines and chain watches. */
import type { AnyWorkflow, Watcher } from "../../engine/index.ts";
import type { PrivatePricing, PrivateRoutingRules } from "./private-pricing.ts";
import { OperatorRefused } from "../frame/acts/act.ts";
import type { DepositKeys } from "../frame/secrets/deposit-keys.ts";
import type { OrderWorkflow } from "./order-workflow.ts";
import type { PlanTransfer } from "./plan-transfer.ts";
import type { TransferWorkflow } from "./transfer-workflow.ts";

/** The closer an order is to its deposit, the more often it is looked at. */
type WatchKind = "attempts" | "orders" | "activeOrders" | "lateOrders" | "slowOrders";

export interface PrivateRouting {
  readonly terms: PrivateRoutingRules;
  readonly keys: DepositKeys;
  readonly pricing: PrivatePricing;
  readonly orders: OrderWorkflow;
  readonly transfers: TransferWorkflow;
  readonly plan: PlanTransfer;
  readonly workflows: readonly AnyWorkflow[];
  readonly watchers: Readonly<Record<WatchKind, Watcher>>;
  /** Whether a provider swaps within transactions of ours. */
  readonly canSwap: boolean;
  /** Throws `StartRefused` for prices that never move on mainnet. Asks nobody. */
  check(genesisHash: string): void;
  /** Makes the sponsor's token accounts, and warns of what is missing to begin with, once the chain may be asked. */
  warn(): Promise<void>;
}

export function privateModeIsOff(): OperatorRefused {
  return new OperatorRefused("private mode is off: start a service with privateRouting");
}
