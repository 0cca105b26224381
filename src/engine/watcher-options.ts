/** Watchers: the host's code that polls the outside world on behalf of instances, and the option that names them. */
// modules: watching
import type { EventObject } from "xstate";
import { z } from "zod";
import { functionOption } from "../core/options.ts";
import type { WatchRecord } from "../workflow/watch-rows.ts";
import type { AnyWorkflow } from "../workflow/workflow.ts";

/** The finding of a look about one instance. Report levels, never differences: a repeated event must change nothing. */
export interface WatchEvent {
  readonly instance: string;
  readonly event: EventObject;
}

/** A look at a batch of watches, as the engine hands it to a watcher. */
export interface PollContext {
  /**
   * Aborts after 750 ms, and when the engine stops: ask nothing more, tell the answers that are on their way, and
   * return. Finish at least one question in each look, or a slow answer keeps the look from ever getting on.
   */
  readonly signal: AbortSignal;
  /**
   * Hands events to their instances at once; resolves when each step is durable. An event that was handed over stays, however
   * the look ends. Resolves with the events that could not be handed over, which may be told again at a later look; never
   * rejects. After the look has ended nothing is handed over any more.
   */
  tell(events: readonly WatchEvent[]): Promise<readonly WatchEvent[]>;
  /**
   * Says that nothing was found out about these watches. Their age in `Engine.watching` goes on growing. They have
   * their turn again at once where the look's time was over, else after `intervalMs`.
   */
  missed(watches: readonly WatchRecord[]): void;
}

/** Asks the outside world about watched keys, a batch at a time. */
export interface Watcher {
  /** A watch is looked at so often, in milliseconds; later where there are more watches than looks can take. */
  readonly intervalMs: number;
  /** Watches in one look, 1 to 10,000: as many as one question to the outside can hold. Default 256. */
  readonly batchSize?: number;
  /**
   * The time in which each of so many watches is to have its turn, in milliseconds; asked at each listing. Where it is
   * longer than `intervalMs`, or takes more than four looks, they are spread over it evenly, with as many at once, up to 64, as that takes. Left out,
   * all that is due is looked at as soon as four looks at once allow.
   */
  readonly roundMs?: (watches: number) => number;
  /**
   * Whether a watch comes before its turn while looks are spread: every second look is for such watches first, and each
   * of them is looked at when two thirds of a round have passed. Asked at each listing.
   */
  readonly isUrgent?: (watch: WatchRecord) => boolean;
  /**
   * Looks at up to `batchSize` watches; up to four looks of a kind run at once without `roundMs`. Resolves with events that are not told
   * yet. An error means that nothing was found out about the untold watches. A look that has not ended after a minute
   * is given up, with the same meaning.
   */
  readonly poll: (watches: readonly WatchRecord[], look: PollContext) => Promise<readonly WatchEvent[]>;
}

/** The state of one kind of watches in this process. */
export interface WatchStatus {
  /** The number of watches in the shards that this process polls. */
  readonly watched: number;
  /** Milliseconds since the watch that has waited longest was looked at successfully, or was first seen; 0 without watches. */
  readonly oldestMs: number;
  /** The excess of `oldestMs` over the kind's `intervalMs`; 0 while within the interval. */
  readonly lateMs: number;
}

const watcherSchema = z.object({
  intervalMs: z.number().int().min(1),
  batchSize: z.number().int().min(1).max(10_000).optional(),
  poll: functionOption(),
});

/** Watchers as they are given: one may be an instance of a class. */
export const watcherOptions = {
  watchers: z.record(z.string(), z.custom<Watcher>().superRefine(checkWatcher)).optional(),
};

function checkWatcher(watcher: unknown, context: z.RefinementCtx): void {
  for (const { path, message } of watcherSchema.safeParse(watcher).error?.issues ?? []) {
    context.addIssue({ code: "custom", path: path.filter((key) => typeof key !== "symbol"), message });
  }
}

/** The option that watching brings. */
export interface WatcherOptions {
  /** The watchers, which poll watched things, by watch kind. */
  readonly watchers?: Readonly<Record<string, Watcher>>;
}

interface WatchedOptions {
  readonly workflows?: readonly Pick<AnyWorkflow, "key" | "given">[];
  readonly watchers?: Readonly<Record<string, unknown>>;
}

/** Refuses a workflow that watches a kind without a watcher. */
export function checkWatched({ workflows = [], watchers }: WatchedOptions, context: z.RefinementCtx): void {
  for (const { key, given } of workflows) {
    for (const kind of Object.keys(given.watches ?? {})) {
      if (watchers?.[kind] !== undefined) continue;
      const message = `${key} watches it, no watcher polls it`;
      context.addIssue({ code: "custom", path: ["watchers", kind], message });
    }
  }
}
