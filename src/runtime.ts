/** What the outside world gives us: time, chance and a place to write log lines. Nothing else in `src` reads them. */
import { randomBytes } from "node:crypto";

/** Time, in milliseconds since the Unix epoch. Injected everywhere, so that a test can turn the hands. */
export interface Clock {
  /** The current time in milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Resolves once `ms` have passed, or at once when `signal` aborts. Never rejects: the caller looks at its signal.
   * A pending sleep keeps the process alive, so that whoever runs an engine needs nothing else to stay.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Chance: `bytes(10)` makes an id unique, `bytes(32)` a secret. Must be cryptographically strong in production. */
export interface Random {
  bytes(length: number): Uint8Array;
}

/** A logger in pino's argument order: fields first, then the sentence. Any pino instance fits. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const wake = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      signal?.addEventListener("abort", wake, { once: true });
    }),
};

/** The operating system's random source. */
export const systemRandom: Random = { bytes: (length) => randomBytes(length) };

/** Says nothing, for a host that wants no line at all. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
