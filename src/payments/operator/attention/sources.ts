/** The list of all sources of matters. A new source is a function beside, and one line here. */
import type { PaymentStorage } from "../../payment-storage.ts";
import type { EndpointDispute, RateLimitedEndpoint } from "../../../ledger/ledger.ts";
import type { WatchStatus } from "../../../engine/index.ts";
import type { Clock } from "../../../runtime.ts";
import type { Assets } from "../../assets/assets.ts";
import type { HostParts } from "../../host-parts.ts";
import type { PurseWatch } from "../../purses/purses.ts";
import { abandonedWebhooks, lowPurses, silentParts } from "./host-matters.ts";
import {
  disputedFacts,
  rateLimitedEndpoints,
  stuckWatches,
  loweredNumber,
  suspendedEndpoints,
  unprovableTransactions,
  crowdedWatch,
  stuckPayments,
} from "./chain-matters.ts";
import { heldAddresses, addressesWithOtherMints } from "./held-addresses.ts";
import type { AttentionSource } from "./matter.ts";
import { orphans, deadLetters, failingTasks } from "./troubled-tasks.ts";
import type { SightingList } from "./sighting-list.ts";

/** Dependencies of the sources. */
export interface AttentionSourceParts {
  readonly storage: PaymentStorage;
  readonly clock: Clock;
  /** The workflows of this process, as `name@version`. */
  readonly workflowKeys: readonly string[];
  /** Whether private mode is on. */
  readonly isRouting: boolean;
  readonly assets: Pick<Assets, "ofMint">;
  readonly purses: Pick<PurseWatch, "low">;
  readonly parts: Pick<HostParts, "silent" | "hasAnsweredSince">;
  /** Watches of this process on the chain. */
  readonly watching: () => Readonly<Record<string, WatchStatus>>;
  /** Deposit addresses that the endpoints permit to be looked at in time; null without a limit. */
  readonly permittedDeposits: () => number | null;
  /** Disagreements between endpoints that this process sees. */
  readonly disputed: () => Promise<readonly EndpointDispute[]>;
  /** Endpoints that refuse every read of this process as one too many. */
  readonly rateLimited: () => Promise<readonly RateLimitedEndpoint[]>;
  readonly sightings: SightingList;
}

/** Sources of matters that every process on a database lists alike. */
export function attentionSources({
  storage,
  clock,
  workflowKeys,
  isRouting,
  assets,
  purses,
  parts,
  disputed,
  rateLimited,
  sightings,
}: AttentionSourceParts): readonly AttentionSource[] {
  return [
    heldAddresses(storage, isRouting),
    addressesWithOtherMints(storage, assets),
    deadLetters(storage),
    failingTasks(storage),
    orphans(storage, clock, workflowKeys),
    abandonedWebhooks(storage),
    unprovableTransactions(storage),
    stuckPayments(storage),
    lowPurses(purses),
    silentParts(storage, parts),
    loweredNumber({ storage, clock }),
    suspendedEndpoints({ storage, clock }),
    sightings.of("disputed", disputedFacts(disputed)),
    sightings.of("rate_limited", rateLimitedEndpoints(rateLimited)),
  ];
}

/** Sources of facts that only this process can know: listed, but not reported to the host. */
export function sourcesOfThisProcess({
  watching,
  clock,
  permittedDeposits,
}: AttentionSourceParts): readonly AttentionSource[] {
  return [stuckWatches(watching, clock), crowdedWatch(watching, permittedDeposits)];
}
