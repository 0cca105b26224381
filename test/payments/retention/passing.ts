/** Turns a virtual clock until a service has made one more pass over what is old. */
import { turns } from "../../kit/engine-world.ts";
import type { VirtualClock } from "../../kit/virtual-clock.ts";
import type { OldRows } from "../../../src/payments/frame/retention/old-rows.ts";

const PASS_MS = 600_000;

/** What tells when the last pass was. */
export type LastPass = () => Promise<number | null | undefined>;

export async function passed(clock: VirtualClock, lastPassAt: LastPass): Promise<void> {
  const before = await lastPassAt();
  clock.advance(PASS_MS);
  for (let turn = 0; turn < 5_000; turn++) {
    await turns(5);
    if ((await lastPassAt()) !== before) return;
    clock.advance(20);
  }
  throw new Error("no pass came to its end");
}

/** How many rows a pass removes of those that were made before `until`. */
export async function goneOf({ batches }: OldRows, until: number): Promise<number> {
  let gone = 0;
  for await (const removed of batches(until)) gone += removed;
  return gone;
}
