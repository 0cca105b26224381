/** A page of the inspector for what is no instance: what a module of the engine knows. */
import type { OfferedAct, ViewerActs } from "../engine/inspected-engine.ts";
import type { InspectedParts } from "./find-instance-page.ts";
import type { FoundPage } from "./found-page.ts";
import type { Links } from "./pages/page.ts";

export interface InspectorSection {
  /** Its path below the inspector, such as `schedules`. */
  readonly path: string;
  /** Its name among the pages. */
  readonly title: string;
  /** Whether there is anything to be shown. */
  isThere(inspected: InspectedParts): boolean;
  find(links: Links, inspected: InspectedParts): Promise<FoundPage>;
  /** Whether what is called by this name stands on its page. */
  has(name: string): boolean;
}

/** What is offered on something that is no instance: an instance may be called as it is. */
export async function offersOn(
  acting: ViewerActs | undefined,
  name: string,
  what: string,
): Promise<readonly OfferedAct[]> {
  return ((await acting?.offers(name)) ?? []).filter(({ on }) => on === what);
}
