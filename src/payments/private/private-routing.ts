/** The private-mode part of the service: terms, keys, machines and chain watches. */
import type { AnyWorkflow, Watcher } from "../../engine/index.ts";
import type { LandingFigures } from "../outgoing/landing-cache.ts";
import type { PrivatePricing, PrivateRoutingRules } from "../quotes/private-pricing.ts";
import type { DepositKeys } from "../secrets/deposit-keys.ts";
import type { DepositAddressWorkflow } from "./deposit-address-workflow.ts";
import type { PrivateTransferWorkflow } from "./private-transfer-workflow.ts";

type WatchKind = "attempts" | "deposits" | "recentDeposits" | "lateDeposits" | "slowDeposits";

export interface PrivateRouting {
  readonly terms: PrivateRoutingRules;
  readonly keys: DepositKeys;
  readonly orders: PrivateTransferWorkflow;
  readonly addresses: DepositAddressWorkflow;
  readonly workflows: readonly AnyWorkflow[];
  readonly watchers: Readonly<Record<WatchKind, Watcher>>;
  /** Throws `StartRefused` for prices that never move on mainnet. Asks nobody. */
  check(genesisHash: string): void;
  /** Deposit addresses that the endpoints permit to be looked at within five seconds; null without a limit. */
  permittedDeposits(): number | null;
  /** What the newest payments of this process cost, and how long they took; null before the first. */
  landings(): LandingFigures | null;
  /** Warns of what is missing to begin with, once the chain may be asked. */
  warn(): Promise<void>;
  readonly pricing: PrivatePricing;
}
