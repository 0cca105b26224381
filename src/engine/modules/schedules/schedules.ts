/** The schedules of an engine. One commit arms the starts that are due and moves the row on, guarded by its version. */
import { commitOne } from "../../../../storage/decided.ts";
import type { EngineStorage } from "../../../../storage/storage.ts";
import { elapsed, isTurnOver, nextTurn, type Logger } from "../../../core/runtime.ts";
import type { ModuleLoop } from "../../engine-module.ts";
import { Loop } from "../../kernel/loop.ts";
import { defineSchedule, type DefineParts } from "./define-schedule.ts";
import { Moments } from "./moments.ts";
import { scheduleCommands, type ScheduleCommands } from "./schedule-commands.ts";
import {
  momentId,
  SCHEDULES,
  scheduleTime,
  startTasks,
  storedSchedules,
  type MissedMoments,
  type ScheduleRow,
  type ScheduleView,
} from "./stored-schedules.ts";

/** How late a schedule is noticed that another process has added or resumed: one read each time. */
const LOOK_EVERY_MS = 5_000;
/** The pause between two questions for the database's clock; it is asked, too, before anything is started. */
const ASK_TIME_EVERY_MS = 60_000;
const LATE_MS = 60_000;
const KEPT: Readonly<Record<MissedMoments, number>> = { none: 0, last: 1, all: 1_000 };
const PAGE = 100;
const STARTS_AT_ONCE = 100;

interface SchedulesParts extends DefineParts {
  readonly storage: EngineStorage;
  readonly log: Logger;
}

/** The loop goes from `run` to `stop`; it asks nothing before this process has a schedule. */
export class Schedules implements ModuleLoop {
  readonly commands: ScheduleCommands;
  readonly #parts: SchedulesParts;
  readonly #looks: Loop;
  #isRunning = false;
  #hasSchedules = false;
  /** Schedules that could not be worked on; each is logged once, until it can be again. */
  readonly #failing = new Set<string>();
  #looking: Promise<boolean> | null = null;
  /** The earliest moment to come, as far as this process knows. */
  #next = Infinity;
  #aheadMs = 0;
  #askedAt = -Infinity;

  constructor(parts: SchedulesParts) {
    this.#parts = parts;
    this.#looks = new Loop({
      ...parts,
      round: () => this.#lookAndRest(),
      pauseMs: () => LOOK_EVERY_MS,
      failure: "schedules could not be looked at",
    });
    this.commands = scheduleCommands(this.#parts, () => this.#changed());
  }

  async define(given: object): Promise<ScheduleView> {
    const stored = await defineSchedule(this.#parts, given);
    this.#changed();
    return stored;
  }

  run(): void {
    this.#isRunning = true;
    if (this.#hasSchedules) this.#looks.run();
  }

  /** A schedule of this process is stored, or was changed by it. */
  #changed(): void {
    this.#next = -Infinity;
    this.#hasSchedules = true;
    this.#looks.wake();
    if (this.#isRunning) this.#looks.run();
  }

  /** Begins no commit any more, and waits for the one in hand. */
  stop(): Promise<void> {
    this.#isRunning = false;
    return this.#looks.stop();
  }

  /** Starts what is due; true where there may be more. */
  async workOnce(): Promise<boolean> {
    if (!this.#looks.isRunning) return false;
    const isStarted = (await this.#looking) ?? false;
    return isStarted || (this.#next <= this.#now() && this.#look());
  }

  /** Resolves with the pause until the next moment; 0 where more may be due by now. */
  async #lookAndRest(): Promise<number> {
    if (await this.#look()) return 0;
    return Math.min(Math.max(1, this.#next - this.#now()), LOOK_EVERY_MS);
  }

  #now(): number {
    return this.#parts.clock.now() + this.#aheadMs;
  }

  /** One look at a time: true where the next look may find more. */
  async #look(): Promise<boolean> {
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #lookNow(): Promise<boolean> {
    const { storage, clock } = this.#parts;
    this.#next = Infinity;
    // Failing schedules stay first in the order, and hold up no other schedule.
    const limit = PAGE + this.#failing.size;
    const rows = await storage.find<ScheduleRow>({ table: storedSchedules, index: "due", limit });
    const [first] = rows;
    const isDue = first !== undefined && (first.next ?? Infinity) <= this.#now();
    if (isDue || elapsed(clock) - this.#askedAt >= ASK_TIME_EVERY_MS) await this.#askTime();
    const now = this.#now();
    const due = rows.filter(({ next }) => next !== null && next <= now);
    // Behind a full page of rows that are due, more may be.
    const behind = rows.length < limit ? Infinity : now;
    this.#isNext(rows.find(({ next }) => next !== null && next > now)?.next ?? behind);
    let isMore = false;
    for (const row of due) isMore = (await this.#startOf(row, now)) || isMore;
    return isMore;
  }

  #isNext(moment: number | null | undefined): void {
    this.#next = Math.min(this.#next, moment ?? Infinity);
  }

  async #askTime(): Promise<void> {
    const { clock } = this.#parts;
    const now = clock.now();
    this.#aheadMs = (await scheduleTime(this.#parts)) - now;
    this.#askedAt = elapsed(clock);
  }

  /** False where the row could not be worked on, as before: it is tried again in a while. */
  async #startOf(row: ScheduleRow, now: number): Promise<boolean> {
    const { log } = this.#parts;
    try {
      const moments = new Moments(row);
      const due = await dueMoments(row, moments, now);
      const next = moments.after(now);
      let { version } = row;
      do {
        if (!this.#looks.isRunning) return false;
        const starts = due.splice(0, STARTS_AT_ONCE);
        // Another process was first, or the schedule was changed: it is looked at again.
        if (!(await this.#commit({ ...row, version }, starts, due[0] ?? next))) return true;
        version += 1;
      } while (due.length > 0);
      this.#isNext(next);
      this.#failing.delete(row.id);
      return true;
    } catch (err) {
      if (this.#failing.has(row.id)) return false;
      this.#failing.add(row.id);
      log.error({ schedule: row.id, err }, "what a schedule has due could not be started; it is tried again");
      return true;
    }
  }

  async #commit(row: ScheduleRow, moments: readonly number[], next: number | null): Promise<boolean> {
    const { storage } = this.#parts;
    const startTask = startTasks(row, this.#parts);
    const last = moments.at(-1) ?? row.last;
    const result = await commitOne(storage, {
      writes: [{ table: SCHEDULES, id: row.id, set: { next, last }, expectedVersion: row.version }],
      arms: moments.map((moment) => ({ task: startTask(momentId(row.id, moment), moment) })),
    });
    return result.ok;
  }
}

/** The moments to start, oldest first: punctual ones, and missed ones as the schedule says. */
async function dueMoments({ next, missed }: ScheduleRow, moments: Moments, now: number): Promise<number[]> {
  const found: number[] = [];
  let moment = moments.until(now);
  while (moment !== null && next !== null && moment >= next) {
    const isMissed = moment < now - LATE_MS;
    if (isMissed && found.length >= KEPT[missed]) break;
    found.push(moment);
    if (isTurnOver()) await nextTurn();
    moment = moments.until(moment - 1);
  }
  return found.toReversed();
}
