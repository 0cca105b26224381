/**
 * The database's clock judges leases and due times, so that processes with different clocks agree: their times are shifted by the
 * error of their clock. In tests the caller's clock does, which the test turns.
 */
import { valueName } from "../sql/given-table.ts";

/** So little is what asking takes, and no difference between two clocks. */
const TOLERANCE_MS = 1_000;

export interface DatabaseClock {
  /** For a statement: the time that it goes by, or null where it reads the database's clock itself. */
  now(now: number): number | null;
  /** Takes note of what the database's clock said when the caller's said `now`. */
  learn(now: number, database: number): void;
  /**
   * A caller's time as it is stored to be compared with the database's clock; null where the database counts the delay from its
   * own time, as the caller's clock may have been put since it was learned.
   */
  stored(time: number, delayMs: number | null | undefined): number | null;
  /** The reverse. */
  told(time: number): number;
}

export const callersClock: DatabaseClock = {
  now: (now) => now,
  learn() {},
  stored: (time) => time,
  told: (time) => time,
};

export function databaseClock(): DatabaseClock {
  let ahead = 0;
  const within = (time: number): number =>
    Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, time));
  return {
    now: () => null,
    learn(now, database) {
      const difference = Math.round(database - now);
      ahead = Math.abs(difference) <= TOLERANCE_MS ? 0 : difference;
    },
    stored: (time, delayMs) => (typeof delayMs === "number" ? null : within(time + ahead)),
    told: (time) => within(time - ahead),
  };
}

/** The database's clock in milliseconds since the Unix epoch: this moment, not the start of the transaction. */
export const CLOCK = "floor(extract(epoch from clock_timestamp()) * 1000)::bigint";

/** In a statement: the given time, or else the database's. */
export const DATABASE_NOW = `coalesce({${valueName.now}}, ${CLOCK})`;
