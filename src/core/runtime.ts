/** Ports to the outside world: clock, random source, and logger. Nothing else in `src` reads them. */

/** Time, in milliseconds since the Unix epoch. Injected everywhere, so that a test can turn the hands. */
export interface Clock {
  /** The current time in milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Resolves once `ms` have passed, or at once when `signal` aborts. Never rejects: the caller looks at its signal.
   * A pending sleep keeps the process alive, so that a program with a running engine stays without anything else.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Milliseconds since a moment that does not change: intervals within a process are measured by it, since `now` may be set
   * back or on. Left out where `now` never is.
   */
  readonly elapsed?: () => number;
}

/** The time by which intervals within a process are measured. */
export const elapsed = (clock: Clock): number => clock.elapsed?.() ?? clock.now();

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

/** The longest time that a timer of the platform takes; one that is set for longer ends after a millisecond. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (ms, signal) => (ms > MAX_TIMER_MS ? sleepLong(ms, signal) : waitForTimer(ms, signal)),
};

async function sleepLong(ms: number, signal: AbortSignal | undefined): Promise<void> {
  for (let left = ms; left > 0 && signal?.aborted !== true; left -= MAX_TIMER_MS) {
    await waitForTimer(Math.min(left, MAX_TIMER_MS), signal);
  }
}

function waitForTimer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const wake = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal?.addEventListener("abort", wake, { once: true });
  });
}

/** A call of the source costs as much for an id as for thousands: ids share one, secrets have their own. */
const POOL_BYTES = 4_096;
const MAX_POOLED = 16;
let pool = new Uint8Array(0);

/** The operating system's random source, by Web Crypto: the client has it in browsers, too. At most 65,536 bytes at a time. */
export const systemRandom: Random = {
  bytes(length) {
    if (length > MAX_POOLED) return crypto.getRandomValues(new Uint8Array(length));
    if (pool.length < length) pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES));
    const taken = pool.slice(0, length);
    pool = pool.subarray(length);
    return taken;
  },
};

/** Says nothing, for a host that wants no line at all. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** Work that goes on for longer makes timers and requests wait for it. */
const MAX_TURN_MS = 10;

/** When this turn of the event loop was first asked about; null before that. */
let turnBegan: number | null = null;

/** Whether this process has held the event loop too long and has to give it away: await `nextTurn`. */
export function isTurnOver(): boolean {
  const now = performance.now();
  if (turnBegan === null) {
    turnBegan = now;
    setImmediate(() => {
      turnBegan = null;
    });
  }
  return now - turnBegan >= MAX_TURN_MS;
}

/** Resolves when the work ends, or after so long. */
export async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, passed]).finally(() => clearTimeout(timer));
}

/** Resolves in a turn of the event loop that has time left, however many wait for one. */
export async function nextTurn(): Promise<void> {
  do await new Promise(setImmediate);
  while (isTurnOver());
}
