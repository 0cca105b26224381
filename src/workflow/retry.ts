/** Retry policies of effects and promises, and the errors that end their retries. */
import type { TaskRecord } from "../../storage/storage.ts";
import type { Random } from "../core/runtime.ts";
import { withoutTraps } from "../core/thrown.ts";
import { ChartFault } from "./chart-fault.ts";
import { UnstorableValue } from "./values.ts";

/**
 * The retry policy of an effect or a promise. Each pause varies at random by a fifth, so that tasks which failed together
 * come back apart.
 */
export interface Retry {
  /** The pause after the first failure, in milliseconds. Default 1,000. */
  readonly firstMs?: number;
  /** The factor by which each pause is longer than the pause before. Default 2. */
  readonly factor?: number;
  /** The longest pause, in milliseconds. Default 60,000, or `firstMs` where that is longer. */
  readonly mostMs?: number;
  /**
   * The number of retries, the first run not counted. Default: unlimited. After the last one `onError` is told, or the task
   * becomes a dead letter.
   */
  readonly atMost?: number;
}

/** A retry policy with its defaults. */
export type RetryPolicy = Required<Retry>;

/**
 * Ends the retries of the effect or promise that throws it. `onError` of the promise is told at once; without `onError` the
 * task becomes a dead letter, which an operator may retry or drop.
 *
 * @example
 * ```ts
 * import { createEngine, NonRetryable, workflow } from "paystate/engine";
 * import { sqliteStorage } from "paystate/storage/sqlite";
 * import { fromPromise, setup } from "xstate";
 *
 * const charge = fromPromise(async () => {
 *   throw new NonRetryable("the card was declined"); // any other error is tried five times more
 * });
 * const checkout = setup({ actors: { charge } }).createMachine({
 *   id: "checkout",
 *   initial: "charging",
 *   states: {
 *     charging: { invoke: { src: "charge", onDone: "paid", onError: "declined" } },
 *     paid: { type: "final" },
 *     declined: { type: "final" },
 *   },
 * });
 * const checkouts = workflow(checkout)({ version: 1, actors: { charge: { retry: { atMost: 5 } } } });
 * const engine = createEngine({ storage: await sqliteStorage(":memory:"), workflows: [checkouts] });
 * engine.run();
 * await engine.start(checkouts, { id: "c", input: undefined });
 * console.log((await engine.waitFor(checkouts, "c", "final")).value); // declined
 * await engine.stop();
 * ```
 */
export class NonRetryable extends Error {
  override readonly name: string = "NonRetryable";
}

/** Whether a retry would fail in the same way. */
export function isFinal(thrown: unknown): boolean {
  const error = withoutTraps(thrown);
  return error instanceof NonRetryable || error instanceof UnstorableValue;
}

/**
 * Whether a task that has failed so is over. A finished effect or promise does not run again because its chart cannot make
 * the step behind it; a timer or a message does nothing but that step, and a next deployment may make it.
 */
export function isOver({ kind }: Pick<TaskRecord, "kind">, error: unknown): boolean {
  return isFinal(error) || (error instanceof ChartFault && (kind === "effect" || kind === "invocation"));
}

const FIRST_MS = 1_000;
const MOST_MS = 60_000;
/** Thirty days. */
const LONGEST_MS = 2_592_000_000;
const LARGEST_FACTOR = 100;

export function retryPolicy({
  firstMs = FIRST_MS,
  factor = 2,
  mostMs = Math.max(MOST_MS, firstMs),
  atMost = Infinity,
}: Retry): RetryPolicy {
  return { firstMs, factor, mostMs, atMost };
}

/** The policy of tasks that declare none, timers and messages included. */
export const DEFAULT_RETRY: RetryPolicy = retryPolicy({});

/** The most by which a pause is longer or shorter, as a share of it. */
const SPREAD = 0.2;

/** The pause before the next run, in milliseconds, drawn from two random bytes. `failures` leaves out the present one. */
export function pauseMs({ firstMs, factor, mostMs }: RetryPolicy, failures: number, random: Random): number {
  const [high = 0, low = 0] = random.bytes(2);
  const chance = (256 * high + low) / 65_536;
  return Math.round(Math.min(firstMs * factor ** failures, mostMs) * (1 - SPREAD + 2 * SPREAD * chance));
}

const FIELDS: readonly string[] = ["firstMs", "factor", "mostMs", "atMost"] satisfies (keyof Retry)[];

/** The problems of a declared `retry`, a sentence each. */
export function retryProblems(retry: unknown): string[] {
  if (retry === undefined) return [];
  if (typeof retry !== "object" || retry === null) return [`retry: expected { ${FIELDS.join(", ")} }`];
  const { firstMs, factor, mostMs, atMost } = retryPolicy(retry);
  const isPause = (ms: number): boolean => Number.isSafeInteger(ms) && ms >= 1 && ms <= LONGEST_MS;
  const problems = Object.keys(retry)
    .filter((field) => !FIELDS.includes(field))
    .map((field) => `retry.${field}: not known: expected only ${FIELDS.join(", ")}`);
  if (!isPause(firstMs)) problems.push(`retry.firstMs: expected a whole number from 1 to ${LONGEST_MS}`);
  if (!isPause(mostMs) || mostMs < firstMs) {
    problems.push(`retry.mostMs: expected a whole number from firstMs to ${LONGEST_MS}`);
  }
  if (!(factor >= 1 && factor <= LARGEST_FACTOR)) {
    problems.push(`retry.factor: expected a number from 1 to ${LARGEST_FACTOR}`);
  }
  if (atMost !== Infinity && (!Number.isSafeInteger(atMost) || atMost < 0)) {
    problems.push("retry.atMost: expected a whole number from 0");
  }
  return problems;
}
