/** How long a chart may wait. */
import type { EventObject } from "xstate";
import { UnstorableValue } from "../values.ts";

/** In milliseconds. Its end, too, has to be a time that a Date can tell. */
export const MAX_DELAY_MS = 8e15;

/** In milliseconds. @throws UnstorableValue for a delay that never ends. */
export function wholeDelay(delay: number, { type }: EventObject): number {
  if (delay > MAX_DELAY_MS) {
    throw new UnstorableValue(
      `the delay of ${type}`,
      `it is ${delay} ms, and more than ${MAX_DELAY_MS} never end`,
    );
  }
  return Math.max(0, Math.ceil(Number.isNaN(delay) ? 0 : delay));
}
