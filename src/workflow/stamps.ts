/** A commit that makes steps draws one stamp, which their tasks, history rows and instances contain. */
import type { Clock, Random } from "../core/runtime.ts";

/** The time at which a commit was decided, and the stamp that identifies its steps. */
export interface StepTime {
  /** In milliseconds since the Unix epoch. */
  readonly at: number;
  readonly stamp: string;
}

/** The digits 0 to 9 and the letters a to v. Enough for the milliseconds of a thousand years. */
const RADIX = 32;
const TIME_DIGITS = 9;
/** Two numbers of 25 bits: no two processes draw the same for one instance in one millisecond. */
const CHANCE_BYTES = 8;
const CHANCE_DIGITS = 5;
const SPARE_BITS = 7;

/** The part of a task id that names the step: its stamp, or its number where a viewer makes the step again from other rows. */
export const STEP_PATTERN = String.raw`(?:[0-9a-v]{19}|\d{1,16})`;

/** The present moment, with a stamp of its own. Stamps are ordered as texts by the time at which they were made. */
export function newMoment(clock: Clock, random: Random): StepTime {
  const at = clock.now();
  const { buffer, byteOffset } = random.bytes(CHANCE_BYTES);
  const chance = new DataView(buffer, byteOffset);
  const digits = (offset: number): string =>
    (chance.getUint32(offset) >>> SPARE_BITS).toString(RADIX).padStart(CHANCE_DIGITS, "0");
  const time = Math.max(0, Math.floor(at)).toString(RADIX).padStart(TIME_DIGITS, "0");
  return { at, stamp: `${time}${digits(0)}${digits(4)}` };
}
