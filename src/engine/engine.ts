/** The durable interpreter: makes registered charts survive anything that stops the process. Knows nothing of payments. */
import { z } from "zod";
import type { AnyStateMachine, EventFromLogic, EventObject, InputFrom } from "xstate";
import type { CommitResult, EngineStorage } from "../../storage/storage.ts";
import type { AnyTable, TableSet } from "../../storage/table.ts";
import { withTables } from "../../storage/with-tables.ts";
import { checkOptions, functionOption, objectWith, runtimeOptions } from "../options.ts";
import type { Clock, Logger, Random } from "../runtime.ts";
import type { ChartSnapshot } from "./chart.ts";
import { createCommitQueue } from "./commit-queue.ts";
import { instanceCommands } from "./instance-commands.ts";
import type { InstanceCommands } from "./instance-commands.ts";
import { createPerformTask } from "./perform-task.ts";
import { shardOf, WatchPolling } from "./poll-watches.ts";
import { instanceReads } from "./reading/reads.ts";
import type { InstanceReads } from "./reading/reads.ts";
import { Waiting } from "./reading/waiting.ts";
import type { WaitTarget } from "./reading/waiting.ts";
import { createSteps } from "./steps.ts";
import type { CommittedStep, Companions, SendResult } from "./steps.ts";
import { taskCommands } from "./troubled-tasks.ts";
import type { TaskCommands } from "./troubled-tasks.ts";
import { createWorker } from "./worker.ts";
import type { KindWatching, Watcher } from "./watcher.ts";
import type { Worker, WorkerLimits } from "./worker.ts";
import { withChildren } from "./workflow.ts";
import type { AnyWorkflow, Workflow } from "./workflow.ts";

/** What `createEngine` is given. */
export interface EngineOptions<W> {
  /** Where everything is remembered. The engine does not close it. */
  readonly storage: EngineStorage;
  /**
   * Tables of your own, by their names: `{ orders }` for what `defineTable("orders", …)` gave. They are installed, or
   * migrated, before the first commit, which rejects with `StorageUnusable` where that cannot be.
   */
  readonly tables?: TableSet<W>;
  /** Every workflow whose instances this process may run; two versions of one chart may stand side by side. */
  readonly workflows: readonly AnyWorkflow[];
  /** How watched things are polled, by watch kind. */
  readonly watchers?: Readonly<Record<string, Watcher>>;
  /** Default: the machine's own clock. */
  readonly clock?: Clock;
  /** Default: the operating system's. Names this process among the holders of leases. */
  readonly random?: Random;
  /** Default: warnings and errors go to stderr, the rest nowhere. */
  readonly logger?: Logger;
  /** Tasks without a lane in hand at once. More helps while effects wait for the network. Default 64. */
  readonly slots?: number;
  /** Tasks with a lane in hand at once. Default 64. */
  readonly lanedSlots?: number;
  /** How long a vanished process holds up its tasks; heartbeats go out at a third of it. Default 15,000 ms. */
  readonly leaseMs?: number;
  /** How late this process may notice work that another one made due. Idle cost: one read each. Default 1,500 ms. */
  readonly pollMs?: number;
  /** A task whose holders vanished this often is set aside as a dead letter. Default 5. */
  readonly maxCrashes?: number;
}

/** A running interpreter over one storage. Any number of them, in any number of processes, may share a storage. */
export interface Engine<W> extends InstanceReads, TaskCommands, InstanceCommands {
  /**
   * Starts instances, and makes writes, in one commit. Refused with `exists` when an id is taken, with `write` when a
   * write is; `index` counts in the given lists.
   */
  commit(companions: Companions<W>): Promise<CommitResult>;
  /** Starts one instance. Shorthand for `commit` with a single start. */
  start<M extends AnyStateMachine>(
    workflow: Workflow<M, W>,
    start: { readonly id: string; readonly input: InputFrom<M> },
  ): Promise<CommitResult>;
  /**
   * Hands an event to an instance and resolves when the step it makes is durable. Of racing senders one wins each
   * version and the others decide anew, so that the chart, and nothing else, says what an event may do.
   */
  send<M extends AnyStateMachine>(
    workflow: Workflow<M, W>,
    id: string,
    event: EventFromLogic<M>,
    companions?: Pick<Companions<W>, "writes">,
  ): Promise<SendResult>;
  /**
   * Resolves with the instance once it is in a state, such as `{ state: "paying.card" }`, or `"final"`: has ended, however
   * it ended. An instance that does not exist yet is waited for too. States that this process commits are seen even where
   * they last for a moment; those of other processes are looked for every `pollMs`, so wait for one that lasts.
   *
   * Rejects with `StateNotReached` when the instance has ended in another state, with the signal's reason when it aborts,
   * and when the storage fails.
   *
   * ```ts
   * const { output } = await engine.waitFor("order-1", "final", { signal: AbortSignal.timeout(30_000) });
   * ```
   */
  waitFor(id: string, until: WaitTarget, options?: { readonly signal?: AbortSignal }): Promise<ChartSnapshot>;
  /** Calls back after each durable commit of this process, in order. Returns the way to stop. */
  subscribe(listener: (committed: CommittedStep<W>) => void): () => void;
  /**
   * How each kind of watches is followed by this process: how many it polls, and how long ago the one that has waited
   * longest was looked at. Empty while the engine does not run.
   */
  watching(): Readonly<Record<string, KindWatching>>;
  /**
   * Begins to claim and do work, and keeps the process alive until `stop()`. Without it, commits are made but nothing
   * they arm is done.
   */
  run(): void;
  /**
   * Takes nothing new, lets the work in hand finish for up to `timeoutMs` (default 5,000), gives back the rest.
   * Everything not done then is done by whoever runs next.
   */
  stop(options?: { readonly timeoutMs?: number }): Promise<void>;
  /** Stops as `stop()` does, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void>;
  /**
   * Resolves when, at the clock's present time, nothing is due, nothing is in hand and no poll has news: what tests on
   * a virtual clock wait for before they turn it on. Resolves at once when the engine does not run.
   */
  settled(): Promise<void>;
}

const DEFAULT_STOP_MS = 5_000;

const NEVER_ABORTED = new AbortController().signal;

const count = (most: number): z.ZodNumber => z.number().int().min(1).max(most);

const optionsSchema = z.strictObject({
  storage: objectWith<object>(
    ["commit", "claim", "install"],
    "a storage, such as memoryStorage() or sqliteStorage(path)",
  ),
  tables: z.record(z.string(), z.custom<AnyTable>()).superRefine(checkTables).optional(),
  workflows: z.array(
    z.custom<AnyWorkflow>((value) => typeof (value as AnyWorkflow | null)?.chart?.step === "function", {
      error: "expected what workflow() returns",
    }),
  ),
  watchers: z
    .record(
      z.string(),
      z.object({
        intervalMs: z.number().int().min(1),
        batchSize: z.number().int().min(1).max(10_000).optional(),
        poll: functionOption(),
      }),
    )
    .optional(),
  ...runtimeOptions,
  slots: count(10_000).default(64),
  lanedSlots: count(10_000).default(64),
  leaseMs: z.number().int().min(1_000).max(3_600_000).default(15_000),
  pollMs: z.number().int().min(10).max(60_000).default(1_500),
  maxCrashes: count(1_000).default(5),
});

/**
 * Builds an engine; nothing runs before `run()`. Throws `InvalidOptions` listing every wrong option, two workflows of
 * the same name and version, and watch kinds that no watcher polls.
 */
export function createEngine<W>(options: EngineOptions<W>): Engine<W> {
  const checked = checkOptions("createEngine", optionsSchema.superRefine(checkWorkflows), options);
  const { clock, random, logger: log, slots, lanedSlots, leaseMs, pollMs, maxCrashes } = checked;
  const { watchers = {} } = options;
  const storage = withTables(options.storage, Object.values<AnyTable>(options.tables ?? {}));

  const workflows = new Map(options.workflows.flatMap(withChildren).map((each) => [each.key, each]));
  const newest = new Map<string, AnyWorkflow>();
  for (const workflow of options.workflows) {
    if ((newest.get(workflow.name)?.version ?? 0) < workflow.version) newest.set(workflow.name, workflow);
  }
  const around = {
    shardOf,
    workflowNamed(name: string): AnyWorkflow {
      const found = newest.get(name);
      if (found === undefined) throw new Error(`no workflow is named "${name}"`);
      return found;
    },
  };

  const listeners = new Set<(committed: CommittedStep<W>) => void>();
  const onCommitted = (committed: CommittedStep<W>): void => {
    worker.disarm(committed.commit);
    waiting.committed(committed.commit);
    for (const { kind } of committed.commit.watches ?? []) polling.armed(kind);
    for (const voice of committed.voiced) {
      const { instance } = voice;
      if (voice.kind === "log") log.info({ instance, value: voice.value }, voice.label ?? "the chart says");
    }
    for (const listener of listeners) {
      try {
        listener(committed);
      } catch (err) {
        log.error({ err }, "a subscriber threw");
      }
    }
  };

  const limits: WorkerLimits = { slots, lanedSlots, leaseMs, pollMs, maxCrashes };
  const holder = Buffer.from(random.bytes(8)).toString("hex");
  const worker: Worker = createWorker({
    storage,
    clock,
    log,
    holder,
    workflowKeys: [...workflows.keys()],
    limits,
    perform: (task, signal) => {
      polling.stir();
      return perform(task, signal);
    },
  });
  const queue = createCommitQueue<W>(storage);
  const steps = createSteps<W>({
    storage,
    queue,
    workflows,
    clock,
    hands: worker.hands,
    around,
    onCommitted,
  });
  const perform = createPerformTask({ steps, workflows, now: () => clock.now() });
  const send = (id: string, event: EventObject): Promise<SendResult> => steps.send(id, event);
  const waiting = new Waiting(storage, clock, pollMs);
  const reads = instanceReads(storage);
  // What a command has made due is claimed at once.
  const commanded: EngineStorage = {
    ...storage,
    async commit(items) {
      const results = await storage.commit(items);
      worker.wake();
      return results;
    },
  };
  const polling = new WatchPolling(watchers, { storage, clock, log, holder, leaseMs, send });
  let stopListening: () => void = () => {};
  const stop = async ({
    timeoutMs = DEFAULT_STOP_MS,
  }: { readonly timeoutMs?: number } = {}): Promise<void> => {
    stopListening();
    await Promise.all([polling.stop(timeoutMs), worker.stop(timeoutMs)]);
  };

  return {
    commit: (companions) => steps.commit(companions),
    start: (workflow, { id, input }) => steps.commit({ starts: [{ workflow, id, input }] }),
    send: (_workflow, id, event, companions = {}) => steps.send(id, event, companions),
    ...reads,
    ...taskCommands(commanded, () => clock.now()),
    ...instanceCommands(commanded, send, reads),
    waitFor: (id, until, { signal = NEVER_ABORTED } = {}) => waiting.waitFor(id, until, signal),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    watching: () => polling.standing(),
    run() {
      stopListening();
      stopListening = storage.onWake(() => worker.wake());
      worker.run();
      polling.run();
    },
    stop,
    [Symbol.asyncDispose]: () => stop(),
    async settled() {
      do await worker.quiet();
      while (await polling.pollOnce());
    },
  };
}

function checkTables(tables: Readonly<Record<string, unknown>>, context: z.RefinementCtx): void {
  for (const [name, table] of Object.entries(tables)) {
    const given = (table as Partial<AnyTable> | null)?.name;
    if (given === name) continue;
    const message =
      given === undefined
        ? "expected what defineTable() returns"
        : `holds the table ${given}: each table stands under its own name`;
    context.addIssue({ code: "custom", path: [name], message });
  }
}

function checkWorkflows(
  {
    workflows,
    watchers,
  }: { workflows: readonly AnyWorkflow[]; watchers?: Record<string, unknown> | undefined },
  context: z.RefinementCtx,
): void {
  const seen = new Set<string>();
  workflows.forEach((workflow, index) => {
    if (seen.has(workflow.key)) {
      context.addIssue({
        code: "custom",
        path: ["workflows", index],
        message: `${workflow.key} is registered twice`,
      });
    }
    seen.add(workflow.key);
    for (const kind of Object.keys(workflow.watches)) {
      if (watchers?.[kind] === undefined) {
        context.addIssue({
          code: "custom",
          path: ["watchers", kind],
          message: `${workflow.key} watches it, nobody polls it`,
        });
      }
    }
  });
}
