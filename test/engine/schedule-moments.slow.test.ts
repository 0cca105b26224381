/** The moments of cron rules through both changes of daylight saving, against a wall clock that is read by Intl alone. */
// modules: schedules
import { expect, test } from "vitest";
import { Moments } from "../../src/engine/modules/schedules/moments.ts";
import { onceADay, onTheHour, shownBy } from "./zone-clock.ts";

const YEAR = { from: Date.UTC(2026, 0, 1), to: Date.UTC(2027, 0, 1) };
const ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"];
/** Each is repeated or skipped somewhere. */
const TIMES = ["1:30", "1:45", "2:00", "2:15", "2:30", "3:00"] as const;

function all(moments: Moments, from: number, to: number): number[] {
  const found: number[] = [];
  for (let at = moments.after(from - 1); at !== null && at < to; at = moments.after(at)) found.push(at);
  return found;
}

test.each(ZONES)(
  "F7: in a year of %s a time of day comes once a day, at the end of the gap where it is skipped",
  (timezone) => {
    const shown = shownBy(timezone, YEAR.from, YEAR.to);
    for (const time of TIMES) {
      const [hour = 0, minute = 0] = time.split(":").map(Number);
      const expected = onceADay(shown, hour * 60 + minute);
      const [from = 0] = expected;
      const moments = new Moments({ cron: `${minute} ${hour} * * *`, timezone });
      expect(all(moments, from, YEAR.to)).toEqual(expected);
    }
  },
);

test.each(ZONES)("F7: in a year of %s an hourly rule goes by elapsed time", (timezone) => {
  const { from, to } = { from: Date.UTC(2026, 2, 1), to: Date.UTC(2026, 3, 10) };
  const expected = onTheHour(shownBy(timezone, from, to));
  expect(all(new Moments({ cron: "0 * * * *", timezone }), from, to)).toEqual(expected);
});

test.each(ZONES)("F7: the last moment until a time is the one whose next one is later, in %s", (timezone) => {
  for (const cron of ["30 2 * * *", "0 * * * *", "15 1,2 * * *", "0 12 L * *"]) {
    const moments = new Moments({ cron, timezone });
    const forwards = all(moments, Date.UTC(2026, 2, 20), Date.UTC(2026, 3, 10));
    for (const [index, moment] of forwards.entries()) {
      expect(moments.until(moment)).toBe(moment);
      expect(moments.until((forwards[index + 1] ?? moment + 1) - 1)).toBe(moment);
    }
  }
});
