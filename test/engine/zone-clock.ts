/** What a wall clock of a timezone shows, by quarters of an hour: the moments of rules, found without cron. */
// modules: schedules

const QUARTER = 900_000;

interface Shown {
  readonly at: number;
  readonly day: string;
  readonly minute: number;
}

/** Every quarter of an hour from one day of UTC to another, as the clock of the timezone shows it. */
export function shownBy(timezone: string, from: number, to: number): Shown[] {
  const format = new Intl.DateTimeFormat("en-CA", {
    timeZone: timezone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  });
  const shown: Shown[] = [];
  for (let at = from; at < to; at += QUARTER) {
    const [day = "", time = ""] = format.format(at).split(", ");
    const [hour = 0, minute = 0] = time.split(":").map(Number);
    shown.push({ at, day, minute: hour * 60 + minute });
  }
  return shown;
}

/** The first moment of each day at which the clock shows this time or, where the time is skipped, a later one. */
export function onceADay(shown: readonly Shown[], minute: number): number[] {
  const found = new Map<string, number>();
  for (const { at, day, minute: now } of shown) if (now >= minute && !found.has(day)) found.set(day, at);
  // The first day is one that has begun before.
  return [...found.values()].slice(1);
}

/** Each moment at which the clock shows a whole hour. */
export function onTheHour(shown: readonly Shown[]): number[] {
  return shown.flatMap(({ at, minute }) => (minute % 60 === 0 ? [at] : []));
}
