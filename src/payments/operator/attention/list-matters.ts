/** Lists all that needs a person, from every source, oldest first. */
import type { PaymentStorage } from "../../payment-storage.ts";
import type { Clock } from "../../../runtime.ts";
import { isoTime } from "../../iso-time.ts";
import type { AttentionSource, FoundMatter, Matter } from "./matter.ts";
import { sourceOfMatter } from "./held-addresses.ts";

/** A matter with the time since when it waits, in milliseconds since the Unix epoch. */
export type DatedMatter = FoundMatter & { readonly since: number };

/** The result of a look. */
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
  readonly storage: Pick<PaymentStorage, "matters">;
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
export function shownMatter({ since, isSighting: _, ...matter }: DatedMatter): Matter {
  return { ...matter, since: isoTime(since) };
}
