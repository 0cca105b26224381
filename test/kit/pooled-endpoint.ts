/** One URL that stands for several nodes, some of which are a few slots behind the others. */
import type { LocalChain } from "../../src/local/index.ts";
import { oddEndpoint, type OddEndpoint } from "./odd-endpoints.ts";

/** Decides by the number of a call, from 0, how many slots the node that it meets is behind. */
export type SlotsBehind = (call: number) => number;

/** The first call and every second one after it meet a node that is `slots` behind. */
export const everySecond =
  (slots: number): SlotsBehind =>
  (call) =>
    call % 2 === 0 ? slots : 0;

/** Makes the endpoint. */
export function pooledEndpoint(chain: LocalChain, name: string, behind: SlotsBehind): OddEndpoint {
  let calls = 0;
  return oddEndpoint(chain, name, () => {
    const slots = behind(calls);
    calls += 1;
    return slots === 0 ? undefined : { kind: "lag", slots };
  });
}
