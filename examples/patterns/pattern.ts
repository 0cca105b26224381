/** The type of a pattern's play, and a stand-in for a call to a service. */
import { setTimeout } from "node:timers/promises";
import type { Engine } from "paystate/engine";

/** Starts an instance of a pattern, says to it what people would say, and shows its end. */
export type Play = (engine: Engine<unknown>) => Promise<void>;

/** Stands for the call to a service, which may take its time. */
export async function call(what: string, signal?: AbortSignal): Promise<void> {
  await setTimeout(100, undefined, { signal });
  console.log(what);
}
