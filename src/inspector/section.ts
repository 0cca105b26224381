/** A page of the inspector for what is no instance: what a module knows. */
import type { InspectedPaymentParts } from "../payments/payment-storage.ts";
import type { OfferedAct, ViewerActs } from "../engine/inspected-engine.ts";
import type { InspectedParts } from "./find-instance-page.ts";
import type { FoundPage } from "./found-page.ts";
import type { Links } from "./pages/page.ts";
import type { SecretFilter } from "./show-values.ts";

/** The request for a page. */
export interface SectionQuery {
  readonly query: URLSearchParams;
  readonly redact: SecretFilter;
}

/** The facts at the moment of an act. */
export interface SectionParts {
  /** Absent for an engine without payments. */
  readonly payments?: Pick<InspectedPaymentParts, "reads"> | undefined;
}

export interface InspectorSection {
  /** Its path below the inspector, such as `schedules`. */
  readonly path: string;
  /** The path of a page of one of its things, which a query names by `id`. */
  readonly one?: string;
  /** Its name among the pages. */
  readonly title: string;
  /** Whether there is anything to be shown. */
  isThere(inspected: InspectedParts): boolean;
  find(links: Links, inspected: InspectedParts, asked: SectionQuery): Promise<FoundPage>;
  /** The page of an instance that has gone with its end, which `id` of the query names; null for one of others. */
  gone?(links: Links, inspected: InspectedParts, asked: SectionQuery): Promise<FoundPage | null>;
  /** The address of its page on which what is called by this name stands; null for what is of others. */
  addressOf(links: Links, name: string, parts: SectionParts): Promise<string | null>;
}

/** Acts on a subject that is no instance: an instance may be called as it is. */
export async function offersOn(
  acting: ViewerActs | undefined,
  name: string,
  what: string,
): Promise<readonly OfferedAct[]> {
  return ((await acting?.offers(name)) ?? []).filter(({ on }) => on === what);
}
