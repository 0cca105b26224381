/** Lengths of time as options take them: milliseconds, or a number with its unit. */
import { z } from "zod";

/** Milliseconds as a whole number, or such as `"90d"`, `"12h"`, `"30m"`: days of 24 hours, hours, minutes. */
export type Duration = number | `${number}${"d" | "h" | "m"}`;

const MS_OF: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000 };

/** The allowed range of a duration, in milliseconds. */
interface DurationRange {
  readonly least: number;
  readonly most: number;
}

/** An option that is a length of time within a range; read as milliseconds. */
export function durationOption({ least, most }: DurationRange): z.ZodType<number, Duration> {
  const expected = `expected milliseconds, or such as "90d", "12h" or "30m": from ${shown(least)} to ${shown(most)}`;
  return z.custom<Duration>().transform((given, context): number => {
    const ms = millisecondsOf(given);
    if (ms !== null && ms >= least && ms <= most) return ms;
    context.addIssue({ code: "custom", message: expected });
    return z.NEVER;
  });
}

/** Null for what is no length of time. */
function millisecondsOf(given: unknown): number | null {
  if (typeof given === "number") return Number.isSafeInteger(given) ? given : null;
  const [, digits, unit] = /^(\d{1,9})([dhm])$/.exec(String(given)) ?? [];
  return unit === undefined ? null : Number(digits) * (MS_OF[unit] ?? 0);
}

/** A duration in the largest unit that gives a whole number. */
function shown(ms: number): string {
  const [unit, size] = Object.entries(MS_OF).find((each) => ms % each[1] === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}
