/** Lists all that needs a person, oldest first, from every source: a new source is a function beside, and one line here. */
import type { FrameStorage } from "../../frame/frame-storage.ts";
import type { PaymentStorage } from "../../payment-storage.ts";
import type { Clock } from "../../../core/runtime.ts";
import { isoTime } from "../../frame/iso-time.ts";
import {
  sourceOfMatter,
  type AttentionSource,
  type FoundMatter,
  type Matter,
} from "../../frame/acts/matter.ts";
import type { EndpointDispute, RateLimitedEndpoint } from "../../../ledger/ledger.ts";
import type { WatchStatus } from "../../../engine/index.ts";
import type { HostParts } from "../../frame/host-parts.ts";
import type { PurseWatch } from "../../frame/purses/purses.ts";
import {
  lowPurses,
  silentParts,
  orphans,
  deadLetters,
  failingTasks,
  type TransactionOfInstance,
} from "./host-matters.ts";
import {
  disputedFacts,
  rateLimitedEndpoints,
  stuckWatches,
  loweredNumber,
  suspendedEndpoints,
} from "./chain-matters.ts";
import type { SightingList } from "./sighting-list.ts";

/** A matter with the time since when it waits, in milliseconds since the Unix epoch. */
export type DatedMatter = FoundMatter & { readonly since: number };

export interface MatterList {
  /** Oldest first. */
  readonly matters: readonly DatedMatter[];
  /** Sources that may have more than were looked for; see `sourceOfMatter`. */
  readonly truncated: ReadonlySet<string>;
}

/** Looks for up to `limit` matters of each source. */
export type MatterLookup = (limit: number) => Promise<MatterList>;

/** Sources of matters, and the storage of known matters. */
interface MatterSources {
  readonly sources: readonly AttentionSource[];
  readonly storage: Pick<FrameStorage, "matters">;
  readonly clock: Clock;
}

export function createMatterLookup({ sources, storage, clock }: MatterSources): MatterLookup {
  return async (limit) => {
    const found = await Promise.all(sources.map((source) => source(limit)));
    const all = found.flat();
    const rows = all.length === 0 ? [] : await storage.matters(all.map(({ id }) => id));
    const firstSeen = new Map(
      rows.filter(({ state }) => state === "waiting").map(({ id, since }) => [id, since]),
    );
    const now = clock.now();
    const matters = all.map((each) => ({ ...each, since: each.since ?? firstSeen.get(each.id) ?? now }));
    const full = found.filter(({ length }) => length >= limit).flat();
    return {
      matters: matters.toSorted((a, b) => a.since - b.since || (a.id < b.id ? -1 : 1)),
      truncated: new Set(full.map(sourceOfMatter)),
    };
  };
}

/** A matter as it is shown. */
export function shownMatter({
  since,
  isSighting: _,
  dropFact: __,
  dropUpTo: ___,
  ...matter
}: DatedMatter): Matter {
  return { ...matter, since: isoTime(since) };
}

export interface AttentionSourceParts {
  readonly storage: PaymentStorage;
  readonly clock: Clock;
  /** The workflows of this process, as `name@version`. */
  readonly workflowKeys: readonly string[];
  /** Matters of the ways to pay. */
  readonly sources: readonly AttentionSource[];
  readonly transactionOf: TransactionOfInstance;
  readonly purses: Pick<PurseWatch, "low">;
  readonly parts: Pick<HostParts, "silent" | "hasAnsweredSince">;
  /** Watches of this process on the chain. */
  readonly watching: () => Readonly<Record<string, WatchStatus>>;
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
  sources,
  transactionOf,
  purses,
  parts,
  disputed,
  rateLimited,
  sightings,
}: AttentionSourceParts): readonly AttentionSource[] {
  return [
    ...sources,
    deadLetters(storage, transactionOf),
    failingTasks(storage, transactionOf),
    orphans(storage, clock, workflowKeys),
    lowPurses(purses),
    silentParts(storage, parts),
    loweredNumber({ storage, clock }),
    suspendedEndpoints({ storage, clock }),
    sightings.of("disputed", disputedFacts(disputed)),
    sightings.of("rate_limited", rateLimitedEndpoints(rateLimited)),
  ];
}

/** Sources of facts that only this process can know: listed, but not reported to the host. */
export function sourcesOfThisProcess({ watching, clock }: AttentionSourceParts): readonly AttentionSource[] {
  return [stuckWatches(watching, clock)];
}
