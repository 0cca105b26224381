/** Options for how long the payment service keeps finished rows. */
import { z } from "zod";
import { durationOption, type Duration } from "../../../core/duration.ts";

/** The time for which finished rows are kept, by kind; kinds without a duration are kept forever, except the last. */
export interface KeepOptions {
  /**
   * Wallet transactions (send, payroll) after their last step, with recipients, signed bytes, quote, history, notices and
   * deliveries. Only where their end is proven by the chain or nothing was sent: what was given up as expired stays. Bytes
   * that the service has signed itself stay, too: swaps are what the chain is compared with. At least 7 days.
   */
  readonly transactions?: Duration | undefined;
  /**
   * Orders of private mode after their last step, when nothing lies at their address, is on its way, held or missing. All rows
   * go to the archive, and a stub stays: what `recover` needs to send back what still comes, and the final status. `GET` does
   * not know them any more. At least a year.
   */
  readonly private?: Duration | undefined;
  /**
   * Notices of transactions that are over, with their places in the lists of events, their deliveries and the attempts of
   * these. At least 7 days.
   */
  readonly notices?: Duration | undefined;
  /** Quotes that nobody used, after they expired. At least an hour. */
  readonly quotes?: Duration | undefined;
  /**
   * Answers to requests with an Idempotency-Key, as long as their transaction is over; the key may be used again then. At
   * least a day. Default 30 days.
   */
  readonly idempotencyAnswers?: Duration | undefined;
}

/** `KeepOptions` in milliseconds; null for kinds that are always kept. */
export interface CheckedKeepOptions {
  readonly transactions: number | null;
  readonly private: number | null;
  readonly notices: number | null;
  readonly quotes: number | null;
  readonly idempotencyAnswers: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * DAY_MS;
const MOST_MS = 36_500 * DAY_MS;

const least = (ms: number) => durationOption({ least: ms, most: MOST_MS });

/** Checks `KeepOptions`. */
export const keepOption = z
  .strictObject({
    transactions: least(7 * DAY_MS).optional(),
    private: least(YEAR_MS).optional(),
    notices: least(7 * DAY_MS).optional(),
    quotes: least(HOUR_MS).optional(),
    idempotencyAnswers: least(DAY_MS).default(30 * DAY_MS),
  })
  .transform(
    ({
      transactions = null,
      private: orders = null,
      notices = null,
      quotes = null,
      idempotencyAnswers,
    }): CheckedKeepOptions => ({ transactions, private: orders, notices, quotes, idempotencyAnswers }),
  );
