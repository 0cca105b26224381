/** The durable interpreter: makes registered charts survive anything that stops the process. Knows nothing of payments. */
import type { AnyStateMachine, EventObject } from "xstate";
import type { EngineStorage } from "../../storage/storage.ts";
import type { AnyTable } from "../../storage/table.ts";
import { withTables } from "../../storage/with-tables.ts";
import { askCommands, type AskCommands } from "./ask.ts";
import { checkEngineOptions, type EngineOptions } from "./engine-options.ts";
import { type CommitCommands, orWithin, type OwnCommands } from "./commit-commands.ts";
import { engineActs } from "./engine-acts.ts";
import { eachCalls, eachCommands, type EachCommands } from "./each/each-commands.ts";
import { eachWorkflow } from "./each/each-workflow.ts";
import type { EngineContext } from "./engine-context.ts";
import { givenEvent } from "./given-events.ts";
import type { InspectedEngine } from "./inspected-engine.ts";
import { inspectionFeed } from "./inspection-feed.ts";
import { instanceCommands, type InstanceCommands } from "./instance-commands.ts";
import { performTask } from "./perform-task.ts";
import { WatchLoop } from "./poll-watches.ts";
import { limitCommands, type LimitCommands } from "./limit-commands.ts";
import { instanceReads } from "./reading/reads.ts";
import { InstanceWaitList } from "./reading/waiting.ts";
import { type FilterCheck, workflowReads, type WorkflowReads } from "./reading/workflow-reads.ts";
import { ranTasks } from "./ran-tasks.ts";
import { WorkflowRegistry } from "../workflow/workflow-registry.ts";
import { InstanceRetentionLoop, type RetentionStatus } from "./retention/retention.ts";
import type { ScheduleDefinition } from "./schedules/define-schedule.ts";
import type { ScheduleCommands } from "./schedules/schedule-commands.ts";
import { Schedules } from "./schedules/schedules.ts";
import type { ScheduleView } from "./schedules/stored-schedules.ts";
import { checkText } from "../workflow/instance-id.ts";
import { checkFilter, searchRows } from "../workflow/search-fields.ts";
import { ChartCheck, storedCharts } from "./stored-charts.ts";
import { RateLimit } from "./rate-limit.ts";
import type { CommittedStep } from "./step-commit-writer.ts";
import { StepHandler, type SendResult } from "./step-handler.ts";
import { steadyClock } from "./steady-clock.ts";
import { StorageGate } from "./storage-gate.ts";
import { CommitListenerList } from "./commit-listener-list.ts";
import { taskCommands, type TaskCommands } from "./troubled-tasks.ts";
import { Worker } from "./worker.ts";
import type { WatchStatus } from "./watcher.ts";
import { hostCommands } from "./within-host.ts";
import type { AnyWorkflow } from "../workflow/workflow.ts";

/** A running interpreter over one storage. Any number of them, in any number of processes, may share a storage. */
export interface Engine<W>
  extends
    CommitCommands<W>,
    AskCommands<W>,
    WorkflowReads,
    TaskCommands,
    InstanceCommands,
    LimitCommands,
    EachCommands {
  /**
   * Starts a workflow by the rules of cron: each moment once, whatever number of processes say so, as an instance
   * `nightly@2026-03-29T01:00:00Z` whose input is the given one and `scheduledAt`, the moment in milliseconds since the
   * Unix epoch. Call it at each start, in a process that runs: the schedule is stored, and those that have said one start
   * what is due. Resolves with the schedule as it is stored, which is another where a later deployment has said so.
   *
   * Rejects with `InvalidOptions` for a rule or a timezone that does not exist, and for a definition that has changed under
   * an unchanged `version`; with `UnknownWorkflow` where this engine does not have the workflow.
   *
   * @example
   * ```ts
   * import { createEngine, workflow } from "paystate/engine";
   * import { memoryStorage } from "paystate/storage/memory";
   * import { virtualClock } from "paystate/testing";
   * import { setup } from "xstate";
   *
   * interface Night {
   *   readonly shop: string;
   *   readonly scheduledAt: number;
   * }
   * const chart = setup({ types: { input: {} as Night, context: {} as Night } }).createMachine({
   *   id: "report",
   *   context: ({ input }) => input,
   * });
   * const reports = workflow(chart)({ version: 1 });
   * const clock = virtualClock(Date.UTC(2026, 2, 28, 12));
   * const engine = createEngine({ storage: memoryStorage(), workflows: [reports], clock });
   * engine.run();
   * await engine.schedule("nightly", {
   *   cron: "30 2 * * *",
   *   timezone: "Europe/Berlin",
   *   workflow: reports,
   *   input: { shop: "Mitte" },
   *   missed: "all",
   * });
   * clock.set(Date.UTC(2026, 2, 30, 12)); // the first of these nights has no half past two
   * await engine.settled();
   * const [first] = (await engine.list()).instances;
   * console.log(first?.id); // nightly@2026-03-29T01:00:00Z
   * await engine.stop();
   * ```
   */
  schedule<M extends AnyStateMachine>(
    id: string,
    definition: ScheduleDefinition<M, W>,
  ): Promise<ScheduleView>;
  /** Lists, pauses, resumes, triggers and backfills the schedules of the database. */
  readonly schedules: ScheduleCommands;
  /** Calls back after each durable commit of this process, in order. Returns the way to stop. */
  subscribe(listener: (committed: CommittedStep<W>) => void): () => void;
  /** The watches in this process by kind: their number, and the longest wait. Empty while the engine does not run. */
  watching(): Readonly<Record<string, WatchStatus>>;
  /** The retention of ended instances, with the size of the storage. Rejects when the storage does. */
  retention(): Promise<RetentionStatus>;
  /** The reads and acts of an inspector: see `createInspector`. Its acts are lines of the engine's log. */
  readonly inspected: InspectedEngine;
  /**
   * Begins to claim and do work, and keeps the process alive until `stop()`. Without `run()`, commits are made but the
   * tasks in them wait. With `only`, the engine works on the tasks of these workflows and polls no watches, while the
   * dependencies of other workflows are not ready: `send` still commits steps of other workflows, and the tasks of such
   * steps wait. The next `run()` begins with the rest; `only` is for the start and changes nothing later.
   */
  run(options?: { readonly only?: readonly AnyWorkflow[] }): void;
  /**
   * Takes nothing new, lets the work in hand finish for up to `timeoutMs` (default 5,000), gives back the rest. Work
   * that is unfinished by then is done by the process that runs next. Resolves at most 10 seconds after `timeoutMs`,
   * even when the storage does not answer; rejects when the shards of watches could not be given back. From then on the
   * engine asks its storage nothing by itself, so that it may be closed; your own calls still do.
   */
  stop(options?: { readonly timeoutMs?: number }): Promise<void>;
  /** Stops as `stop()` does, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void>;
  /**
   * Resolves when, at the clock's present time, no task is due, no task is in hand and no poll has news. Tests on a
   * virtual clock wait for this before they turn the clock on. Resolves at once when the engine does not run.
   */
  settled(): Promise<void>;
}

const DEFAULT_STOP_MS = 5_000;
// Longer than a storage tries to write. A storage that does not answer in time is no longer waited for: the leases end
// by themselves.
const MAX_GIVE_BACK_MS = 10_000;

/**
 * Builds an engine; nothing runs before `run()`. Throws `InvalidOptions` listing every wrong option, two workflows of
 * the same name and version, and watch kinds that no watcher polls.
 *
 * @example
 * ```ts
 * import { createEngine, workflow } from "paystate/engine";
 * import { memoryStorage } from "paystate/storage/memory";
 * import { createMachine } from "xstate";
 *
 * const light = createMachine({ id: "light", initial: "off", states: { off: { on: { SWITCH: "on" } }, on: {} } });
 * const lights = workflow(light)({ version: 1 });
 * const engine = createEngine({ storage: memoryStorage(), workflows: [lights] }); // sqliteStorage(path) is durable
 * engine.run();
 *
 * await engine.start(lights, { id: "kitchen", input: undefined });
 * await engine.send(lights, "kitchen", { type: "SWITCH" });
 * console.log((await engine.read(lights, "kitchen"))?.value); // on
 * await engine.stop();
 * ```
 */
export function createEngine<W>(options: EngineOptions<W>): Engine<W> {
  return engineOf(partsOf(options));
}

type EngineParts<W> = ReturnType<typeof partsOf<W>>;

function partsOf<W>(options: EngineOptions<W>) {
  const checked = checkEngineOptions(options);
  const { clock: given, random, logger: log, keep, archive = null, inspect, ...limits } = checked;
  const tables = [storedCharts, ranTasks, searchRows, ...Object.values<AnyTable>(options.tables ?? {})];
  const gate = new StorageGate();
  const storage = gate.guarding(withTextIds(withTables(options.storage, tables)));
  const clock = steadyClock(given, log);
  const holder = Buffer.from(random.bytes(8)).toString("hex");
  const own: EngineContext = { storage, clock, log, holder, leaseMs: limits.leaseMs };
  const workflows = new WorkflowRegistry([...options.workflows, eachWorkflow(storage)]);
  const charts = new ChartCheck(own, workflows);
  const subscribers = new CommitListenerList<W>(log);
  if (inspect !== undefined) {
    const committed = inspectionFeed(inspect, workflows);
    subscribers.add(({ commit }) => committed(commit));
  }
  const waiting = new InstanceWaitList(storage, clock, limits.pollMs);
  const rates = new RateLimit(own);
  const worker: Worker = new Worker({
    ...own,
    storage: checkedFirst(storage, charts, workflows),
    workflows,
    limits,
    perform(task, hold) {
      polling.stir();
      return performTask({ steps, workflows, clock, storage, rates, beganAt: clock.now() }, task, hold);
    },
  });
  const steps: StepHandler<W> = new StepHandler<W>({
    storage,
    workflows,
    clock,
    random,
    hands: worker,
    charts,
    isFollowed: (id) => inspect !== undefined || waiting.isForState(id),
    onCommitted(committed) {
      const { commit } = committed;
      worker.disarm(commit);
      waiting.committed(commit);
      for (const { kind } of commit.watches ?? []) polling.armed(kind);
      subscribers.tell(committed);
    },
  });
  const polling = new WatchLoop(options.watchers ?? {}, {
    ...own,
    send: ({ instance, event }, by) => steps.send(instance, givenEvent(event), by),
  });
  const retention = new InstanceRetentionLoop({
    ...own,
    clock: given,
    keepMs: keep?.finished ?? null,
    archive,
  });
  const schedules = new Schedules({ ...own, storage: wakingStorage(storage, worker), random, workflows });
  return { ...own, gate, workflows, worker, steps, polling, retention, schedules, waiting, subscribers };
}

function engineOf<W>(parts: EngineParts<W>): Engine<W> {
  const { gate, storage, workflows, worker, polling, retention, schedules, subscribers } = parts;
  let stopListening: (() => void) | null = null;
  const stop: Engine<W>["stop"] = (options) => {
    stopListening?.();
    stopListening = null;
    return stopped(parts, () => stopListening === null, options);
  };
  const calls = callsOf(parts);
  const hosted = gate.forHost(calls);
  // Next to the worker's turn, in which a transaction of SQLite cannot be open any more.
  const later = (): void => void setImmediate(() => worker.wake());
  return {
    ...hosted,
    ...eachCommands(gate.forHost(jobCallsOf(parts))),
    ...orWithin(hosted, hostCommands({ ...parts, later })),
    schedules: gate.forHost(schedules.commands),
    inspected: inspectedOf(parts, calls),
    subscribe: (listener) => subscribers.add(listener),
    watching: () => polling.standing(),
    run({ only = null } = {}) {
      if (only !== null && stopListening !== null) return;
      workflows.take(only);
      gate.open();
      stopListening ??= storage.onWake(() => worker.wake());
      worker.run();
      if (only === null) polling.run();
      retention.run();
      schedules.run();
    },
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}

/** The engine as a viewer sees it. */
function inspectedOf<W>(parts: EngineParts<W>, calls: ReturnType<typeof callsOf<W>>): InspectedEngine {
  const { storage, log, workflows, steps, schedules, subscribers } = parts;
  const jobs = jobCallsOf(parts);
  const { commands } = schedules;
  return {
    workflows: workflows.units,
    storage,
    isProduction: () => false,
    onCommit: (listener) => subscribers.add(listener),
    acting: engineActs({
      storage,
      schedules: commands,
      log,
      ...calls,
      workflows,
      beginEach: (order, once) => jobs.beginEach(order, once === undefined ? {} : { id: `each-${once}` }),
      send: (id, event) => steps.send(id, event),
    }),
    schedules: commands,
  };
}

/** See `Engine.stop`. `isOver` is false once it runs again. */
async function stopped<W>(
  { gate, clock, polling, worker, retention, schedules, waiting }: EngineParts<W>,
  isOver: () => boolean,
  { timeoutMs = DEFAULT_STOP_MS }: { readonly timeoutMs?: number } = {},
): Promise<void> {
  const isStopped = new AbortController();
  const shut = async (): Promise<void> => (isOver() ? gate.shut() : undefined);
  const end = async (): Promise<void> => {
    try {
      await Promise.all([
        ...[polling, worker, retention].map((each) => each.stop(timeoutMs)),
        schedules.stop(),
      ]);
    } finally {
      // Told last: what they wait for may be the work in hand.
      waiting.stop();
      // Calls that the host made before the stop end as its later calls do.
      if (isOver()) await gate.hostRests();
      await shut();
    }
  };
  const tooLong = clock.sleep(timeoutMs + MAX_GIVE_BACK_MS, isStopped.signal);
  await Promise.race([end(), tooLong]).finally(() => {
    isStopped.abort();
    void shut();
    waiting.stop();
  });
}

/** The methods of an engine that ask its storage. */
function callsOf<W>({
  storage,
  clock,
  workflows,
  worker,
  steps,
  polling,
  retention,
  schedules,
  waiting,
}: EngineParts<W>) {
  const commanded = wakingStorage(storage, worker);
  const send = (id: string, event: EventObject): Promise<SendResult> => steps.send(id, event);
  const calls: OwnCommands<W> & Pick<Engine<W>, "schedule" | "retention" | "settled"> = {
    commit: (companions) => steps.commit(companions),
    send: async (workflow, id, ...[event, companions]) =>
      steps.send(id, givenEvent(event), { ...companions, workflow }),
    schedule: (id, definition) => schedules.define({ ...definition, id }),
    retention: () => retention.standingWithStorage(),
    async settled() {
      do await worker.quiet();
      while ((await schedules.startDue()) || (await polling.pollOnce()));
    },
  };
  return {
    ...calls,
    ...workflowReads(
      {
        reads: instanceReads(storage, () => workflows.claims),
        checkFilter: filterCheck({ storage, steps }),
      },
      waiting,
    ),
    ...askCommands<W>({ steps, waiting }),
    ...taskCommands(commanded, () => clock.now()),
    ...instanceCommands(commanded, send),
    ...limitCommands(commanded, () => clock.now()),
  };
}

const jobCallsOf = <W>(parts: EngineParts<W>): ReturnType<typeof eachCalls> =>
  eachCalls({ ...parts, checkFilter: filterCheck(parts) });

/** Refuses a filter by search fields that would not find all it names. */
function filterCheck<W>({ storage, steps }: Pick<EngineParts<W>, "storage" | "steps">): FilterCheck {
  return async (filter) => {
    // Of a version that nobody has registered yet, this process declares the fields.
    if (!steps.charts.isDone) await steps.charts.check();
    await checkFilter(storage, filter);
  };
}

/** A storage that compares the charts with the stored ones before it claims anything. */
function checkedFirst(
  storage: EngineStorage,
  charts: ChartCheck,
  workflows: WorkflowRegistry,
): EngineStorage {
  return {
    ...storage,
    async claim(request) {
      if (charts.isDone) return storage.claim(request);
      await charts.check();
      return storage.claim({ ...request, workflows: workflows.taken });
    },
  };
}

/** A storage whose commits wake the worker, so that tasks made due by a command are claimed at once. */
function wakingStorage(storage: EngineStorage, worker: Worker): EngineStorage {
  return {
    ...storage,
    async commit(items) {
      const answers = await storage.commit(items);
      worker.wake();
      return answers;
    },
  };
}

/** Refuses what is no id before the storage is asked: each driver would say so in words of its own. */
function withTextIds(storage: EngineStorage): EngineStorage {
  return {
    ...storage,
    async load(id) {
      checkText(id);
      return storage.load(id);
    },
    async history(instance, page) {
      checkText(instance);
      return storage.history(instance, page);
    },
    async pending(instance, ...asked) {
      checkText(instance);
      return storage.pending(instance, ...asked);
    },
  };
}
