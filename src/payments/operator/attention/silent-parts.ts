/** Finds parts of the host that do not answer: signers, price sources, screening. */
import type { HostParts } from "../../host-parts.ts";
import type { PaymentStorage } from "../../payment-storage.ts";
import { matterId, matterKey, type AttentionSource, type FoundMatter } from "./matter.ts";

const KIND = "silent_part";
/** More than a service has parts, among other matters that are open. */
const MOST_OPEN = 2_000;

/**
 * Silent parts of the host: parts that do not answer this process, and parts reported by another process that have not
 * answered this process since. A process that has not asked a part cannot tell that the silence is over.
 */
export function silentParts(
  storage: Pick<PaymentStorage, "openMatters">,
  parts: Pick<HostParts, "silent" | "hasAnsweredSince">,
): AttentionSource {
  return async (limit) => {
    const own = parts.silent().map(({ part, since }) => found(part, since));
    const known = new Set(own.map(({ id }) => id));
    const open = await storage.openMatters(MOST_OPEN);
    const others = open
      .filter(({ kind, state, id }) => kind === KIND && state === "waiting" && !known.has(id))
      .filter(({ id, since }) => !parts.hasAnsweredSince(matterKey({ kind: KIND, id }), since))
      .map(({ id, since }) => found(matterKey({ kind: KIND, id }), since));
    return [...own, ...others].slice(0, limit);
  };
}

function found(part: string, since: number): FoundMatter {
  return {
    kind: KIND,
    id: matterId(KIND, part),
    since,
    message: `the ${part} does not answer: what needs it waits, and it is asked again and again. Mend it, or restart it`,
    actions: [],
  };
}
