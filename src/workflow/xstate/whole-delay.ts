/** Limits delays of charts. */
import type { EventObject } from "xstate";
import { UnstorableValue } from "../values.ts";

/** The longest delay in milliseconds: its end must still be a valid Date. */
export const MAX_DELAY_MS = 8e15;

/** The delay in whole milliseconds. @throws UnstorableValue for a delay that never ends. */
export function wholeDelay(delay: number, { type }: EventObject): number {
  if (delay > MAX_DELAY_MS) {
    throw new UnstorableValue(
      `the delay of ${type}`,
      `it is ${delay} ms, and more than ${MAX_DELAY_MS} never end`,
    );
  }
  return Math.max(0, Math.ceil(Number.isNaN(delay) ? 0 : delay));
}
