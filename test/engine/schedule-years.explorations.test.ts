/** Schedules through changes of daylight saving, or a year: each moment once, whatever dies, over any number of processes. */
// modules: schedules
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { momentId } from "../../src/engine/modules/schedules/stored-schedules.ts";
import { everyAdapter } from "../kit/adapters.ts";
import { seedOfRun } from "../kit/seed.ts";
import { drawn, EXPLORING_MS, THOROUGH } from "../kit/thorough.ts";
import {
  DAY,
  HOUR,
  inScheduleWorld,
  MINUTE,
  runs,
  type ScheduledProcess,
  type ScheduleWorld,
} from "./schedule-world.ts";
import { onceADay, onTheHour, shownBy } from "./zone-clock.ts";

interface Stay {
  readonly from: number;
  readonly to: number;
}

interface Life {
  readonly timezone: string;
  readonly when: string;
  /** When there are processes: never between. */
  readonly stays: readonly [Stay, ...Stay[]];
}

/** The days of 2026 at which the clocks of a timezone change, or those of others do. */
const CHANGES: Readonly<Record<string, readonly string[]>> = {
  "Europe/Berlin": ["2026-03-29", "2026-10-25"],
  "America/New_York": ["2026-03-08", "2026-11-01"],
  "Australia/Lord_Howe": ["2026-04-05", "2026-10-04"],
  "Asia/Kolkata": ["2026-03-29"],
  UTC: ["2026-03-29"],
};

/** Two days before a change, and two after its beginning, between which nobody is there for a day. */
const CHANGING: readonly Life[] = Object.entries(CHANGES).flatMap(([timezone, days]) =>
  days.map((when): Life => {
    const change = Date.parse(`${when}T00:02:00Z`);
    const before = { from: change - 3 * DAY, to: change - 2 * DAY };
    return { timezone, when, stays: [before, { from: change - DAY, to: change + 1.5 * DAY }] };
  }),
);

const DOWN = Date.UTC(2026, 5, 15, 9, 2);

/** A whole year, with a day of which nobody is there. */
const YEARS: readonly Life[] = Object.keys(CHANGES).map((timezone) => ({
  timezone,
  when: "2026",
  stays: [
    { from: Date.UTC(2026, 0, 1, 0, 2), to: DOWN },
    { from: DOWN + DAY, to: Date.UTC(2027, 0, 1) },
  ],
}));

const DAILY = [90, 150] as const;

async function define({ engine, does }: ScheduledProcess, timezone: string): Promise<void> {
  const rule = { timezone, workflow: runs };
  for (const minute of DAILY) {
    const cron = `30 ${Math.floor(minute / 60)} * * *`;
    await does(engine.schedule(`daily-${minute}`, { ...rule, cron, missed: "all" }));
  }
  await does(engine.schedule("hourly", { ...rule, cron: "0 * * * *" }));
  await does(engine.schedule("noon", { ...rule, cron: "0 12 * * *", missed: "none" }));
}

/** What has to be started, by the wall clock alone. */
function expectedIn({ timezone, stays }: Life): string[] {
  const begin = stays[0].from;
  const end = stays.at(-1)?.to ?? 0;
  const shown = shownBy(timezone, begin - 2 * DAY - 2 * MINUTE, end + HOUR);
  const isIn = (at: number): boolean => stays.some(({ from, to }) => at > from && at <= to);
  const hours = onTheHour(shown).filter((at) => at > begin && at <= end);
  const lastMissed = new Set(stays.slice(1).map(({ from }) => hours.findLast((at) => at <= from) ?? 0));
  return [
    ...DAILY.flatMap((minute) =>
      onceADay(shown, minute)
        .filter((at) => at > begin && at <= end)
        .map((at) => momentId(`daily-${minute}`, at)),
    ),
    ...hours.filter((at) => isIn(at) || lastMissed.has(at)).map((at) => momentId("hourly", at)),
    ...onceADay(shown, 720)
      .filter(isIn)
      .map((at) => momentId("noon", at)),
  ].toSorted();
}

/** Two processes at all times of the stays; one that dies is followed by another. */
async function live(world: ScheduleWorld, { timezone, stays }: Life, deaths: () => number): Promise<void> {
  for (const { from, to } of stays) {
    if (from > world.clock.now()) world.clock.set(from);
    await world.passUntil(to, async () => {
      while (world.living.length < 2) {
        await define(await world.begin({ call: deaths(), moment: "before" }), timezone);
      }
    });
    world.killAll();
  }
}

/** Calls until the death of a process, from a seed. */
function deathsFrom(seed: number): () => number {
  const random = fc.sample(fc.integer({ min: 20, max: THOROUGH ? 4_000 : 400 }), { seed, numRuns: 1_000 });
  let at = 0;
  return () => random[at++ % random.length] ?? 0;
}

describe.each(drawn(everyAdapter, "years of schedules"))("schedules on $name", (adapter) => {
  test.each(THOROUGH ? YEARS : drawn(CHANGING, `changes on ${adapter.name}`))(
    "F7: two processes that die, and a day without any, through $when in $timezone: each moment once, missed ones as their rule says",
    { timeout: EXPLORING_MS },
    async (life) => {
      await inScheduleWorld(adapter, life.stays[0].from, async (world) => {
        await live(world, life, deathsFrom(seedOfRun()));
        // What the dead had in hand is taken over by others.
        await world.begin();
        await world.passUntil(world.clock.now() + 3 * HOUR);
        expect(await world.started()).toEqual(expectedIn(life));
      });
    },
  );
});

describe.each(drawn(everyAdapter, "deaths at a moment"))("deaths on $name", (adapter) => {
  const begin = Date.UTC(2026, 0, 1, 11, 59);
  const noons = { cron: "0 12 * * *", timezone: "UTC", workflow: runs };

  /** The runs there are after a process has died at its call; null where it has lived. */
  async function diesAt(call: number, moment: "before" | "after"): Promise<string[] | null> {
    let isOver = false;
    let started: string[] = [];
    await inScheduleWorld(adapter, begin, async (world) => {
      const founder = await world.begin();
      await founder.does(founder.engine.schedule("noon", noons));
      founder.kill();
      const process = await world.begin({ call, moment });
      await process.does(process.engine.schedule("noon", noons));
      world.clock.set(begin + MINUTE);
      await process.does(process.engine.settled());
      isOver = !process.isDead();
      world.killAll();
      const next = await world.begin();
      await next.does(next.engine.schedule("noon", noons));
      await world.passUntil(begin + 5 * MINUTE);
      started = await world.started();
    });
    return isOver ? null : started;
  }

  test(
    "F7: a process dies before or after any of its calls at a moment: the moment is started once by another",
    { timeout: EXPLORING_MS },
    async () => {
      for (const moment of ["before", "after"] as const) {
        for (let call = 1; ; call++) {
          const started = await diesAt(call, moment);
          if (started === null) break;
          expect(started, `${moment} call ${call}`).toEqual(["noon@2026-01-01T12:00:00Z"]);
        }
      }
    },
  );
});
