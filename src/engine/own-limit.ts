/** Limits that a host sets on an effect or a promise: by one key, or by two keys, the second within the first. */
import type { Limit } from "../../storage/storage.ts";

/**
 * Limits the effects and promises of a key to `atMost` running at a time, over all processes; the others wait in the
 * order of asking. A second limit lies within the first, as
 * `[{ key: account, atMost: 8 }, { key: webhook, atMost: 4 }]`. A function is asked at each step, and must be pure.
 */
export type OwnLimit<Params> = Limit | readonly Limit[] | ((params: Params) => Limit | readonly Limit[]);

export function limitsFor<Params>(limit: OwnLimit<Params> | undefined, params: Params): readonly Limit[] {
  const given = typeof limit === "function" ? limit(params) : (limit ?? []);
  return "key" in given ? [given] : given;
}
