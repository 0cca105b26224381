/** Waits for what happens by the machine's own time: in a process, a server or a browser. */
import { vi } from "vitest";

/** Far longer than any of it takes, also on a busy machine; then the last failure is the test's. */
const PATIENCE_MS = 100_000;
const LOOK_MS = 20;

/** Repeats the expectation until it holds, and answers what it answers. */
export const eventually = <T>(expectation: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(expectation, { timeout: PATIENCE_MS, interval: LOOK_MS });
