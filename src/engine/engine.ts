/** The durable interpreter: makes registered charts survive anything that stops the process. Knows nothing of payments. */
import type { EventObject } from "xstate";
import type { AnyCommit } from "../../storage/storage.ts";
import type { AnyTable } from "../../storage/table.ts";
import { checkEngineOptions, type EngineOptions } from "./engine-options.ts";
import { type CommitCommands, commitCommands } from "./commit-commands.ts";
import { engineActs } from "./engine-acts.ts";
import { EngineStore } from "./kernel/engine-store.ts";
import type { Logger } from "../core/runtime.ts";
import type { EngineModule, ModuleContext, ModuleParts } from "./engine-module.ts";
import { ModuleHooks } from "./module-hooks.ts";
import type { InspectedKernel } from "./inspected-engine.ts";
import { inspectionFeed } from "./inspection-feed.ts";
import { instanceCommands, type InstanceCommands } from "./instance-commands.ts";
import { performTask, retryOf } from "./kernel/perform-task.ts";
import { instanceReads } from "./reading/reads.ts";
import { InstanceWaitList } from "./reading/waiting.ts";
import { type FilterCheck, workflowReads, type WorkflowReads } from "./reading/workflow-reads.ts";
import { WorkflowRegistry } from "../workflow/workflow-registry.ts";
import { instanceFinder } from "../workflow/instance-finders.ts";
import { ChartCheck, storedCharts } from "./kernel/stored-charts.ts";
import { removedRows } from "./removed-rows.ts";
import { SecondKeys } from "./second-keys.ts";
import type { CommittedStep } from "./kernel/step-commit-writer.ts";
import { sizeWarnings } from "./size-warnings.ts";
import { StepHandler, type SendResult } from "./kernel/step-handler.ts";
import { steadyClock } from "./kernel/steady-clock.ts";
import { CommitListenerList } from "./kernel/commit-listener-list.ts";
import { taskCommands, type TaskCommands } from "./kernel/troubled-tasks.ts";
import { Worker } from "./kernel/worker.ts";
import { withChildren, type AnyWorkflow } from "../workflow/workflow.ts";

/** An engine without what its modules add. */
export interface KernelEngine<W> extends CommitCommands<W>, WorkflowReads, TaskCommands, InstanceCommands {
  /** Calls back after each durable commit of this process, in order. Returns the way to stop. */
  subscribe(listener: (committed: CommittedStep<W>) => void): () => void;
  /** The reads and acts of an inspector: see `createInspector`. Its acts are lines of the engine's log. */
  readonly inspected: InspectedKernel;
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
  /**
   * Resolves when the storage takes commits and has all tables, and the stored charts agree with those of this engine: for
   * the moment before the first request, and for a health check later on. It is one commit, and begins no work.
   *
   * Rejects with `StorageUnusable` while the storage is away or `tables` cannot be installed, and with `ChangedChart` where
   * a chart is refused. The next call looks again.
   *
   * ```ts
   * await engine.ready();
   * server.listen(8080);
   * ```
   */
  ready(): Promise<void>;
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

/** Builds an engine with these modules. See `createEngine`. */
export function kernelEngine<W>(
  options: EngineOptions<W>,
  modules: readonly EngineModule[],
): KernelEngine<W> {
  return engineOf(partsOf(options, modules));
}

type EngineParts<W> = ReturnType<typeof partsOf<W>>;

function partsOf<W>(options: EngineOptions<W>, modules: readonly EngineModule[]) {
  const checked = checkEngineOptions(options);
  const hooks = new ModuleHooks();
  const core = coreOf<W>(options, { checked, modules, hooks });
  const { storage, steps, worker } = core;
  storage.onAnswered((items) => {
    if (items.some(isCommand)) worker.wake();
  });
  const parts = {
    ...core,
    options: checked,
    checkFilter: filterCheck({ storage, steps }),
    removed: removedRows(storage, modules),
    own: storage.forHost(commitCommands(steps)),
    wake: () => worker.wake(),
  };
  const context: ModuleContext<W> = parts;
  const begun = modules.flatMap((each) => each.begin?.(context) ?? []);
  for (const each of begun) hooks.add(each);
  return { ...parts, modules: begun };
}

/** Tables of the kernel that are none of its storage's. */
const OWN_TABLES: readonly AnyTable[] = [storedCharts];

interface CoreDeps {
  readonly checked: ReturnType<typeof checkEngineOptions>;
  readonly modules: readonly EngineModule[];
  readonly hooks: ModuleHooks;
}

/** The parts of an engine before its modules begin. */
function coreOf<W>(options: EngineOptions<W>, { checked, modules, hooks }: CoreDeps) {
  const { clock: given, random, logger: log, inspect, ...limits } = checked;
  const storage = new EngineStore(options.storage, [
    ...OWN_TABLES,
    ...modules.flatMap(({ tables = [] }) => tables),
    ...Object.values<AnyTable>(options.tables ?? {}),
  ]);
  const clock = steadyClock(given, log);
  const holder = Buffer.from(random.bytes(8)).toString("hex");
  const own = { storage, clock, log, random, holder, leaseMs: limits.leaseMs };
  const workflows = new WorkflowRegistry([
    ...options.workflows,
    ...modules.flatMap((each) => each.workflows?.(storage) ?? []),
  ]);
  const charts = new ChartCheck(
    own,
    workflows,
    modules.flatMap(({ charts: rows = [] }) => rows),
  );
  warnOfCharts(workflows, log);
  const subscribers = new CommitListenerList<W>(log);
  subscribers.add(sizeWarnings(log));
  if (inspect !== undefined) {
    const committed = inspectionFeed(inspect, { workflows, log });
    subscribers.add(({ commit }) => committed(commit));
  }
  const waiting = new InstanceWaitList(storage, clock, limits.pollMs);
  const secondKeys = new SecondKeys(log);
  const worker: Worker = new Worker({
    ...own,
    charts,
    workflows,
    limits,
    perform(task, lease) {
      hooks.began();
      if (task.limits.length > 1) secondKeys.see(task.limits);
      return performTask({ steps, workflows, clock, log, storage, hooks }, task, lease);
    },
    retryOf: (task) => retryOf(workflows, task),
  });
  const steps: StepHandler<W> = new StepHandler<W>({
    storage,
    workflows,
    clock,
    random,
    maxValueBytes: limits.maxValueBytes,
    hands: worker,
    hooks,
    charts,
    isFollowed: (id) => inspect !== undefined || waiting.isForState(id),
    onCommitted(committed) {
      const { commit } = committed;
      worker.disarm(commit);
      waiting.committed(commit);
      hooks.committed(commit);
      subscribers.tell(committed);
    },
  });
  return { ...own, workflows, steps, waiting, secondKeys, hooks, worker, subscribers };
}

function warnOfCharts(workflows: WorkflowRegistry, log: Logger): void {
  for (const { key, warnings } of workflows.units.flatMap(withChildren)) {
    for (const warning of warnings) log.warn({ workflow: key }, warning);
  }
}

function engineOf<W>(parts: EngineParts<W>): KernelEngine<W> {
  const { storage, workflows, worker, modules, own, subscribers } = parts;
  let stopListening: (() => void) | null = null;
  const stop: KernelEngine<W>["stop"] = (options) => {
    stopListening?.();
    stopListening = null;
    return stopped(parts, () => stopListening === null, options);
  };
  const calls = callsOf(parts);
  return {
    ...storage.forHost(calls),
    ...own,
    ...joined(modules.map((each) => each.calls)),
    inspected: inspectedOf(parts, calls),
    subscribe: (listener) => subscribers.add(listener),
    run({ only = null } = {}) {
      if (only !== null && stopListening !== null) return;
      workflows.take(only);
      storage.open();
      stopListening ??= storage.onWake(() => worker.wake());
      worker.run();
      for (const { loop } of modules) if (only === null || loop?.needsAll !== true) loop?.run();
    },
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}

/** The engine as a viewer sees it. */
function inspectedOf<W>(parts: EngineParts<W>, calls: ReturnType<typeof callsOf<W>>): InspectedKernel {
  const { storage, log, workflows, steps, modules, subscribers } = parts;
  return {
    workflows: workflows.units,
    storage,
    isProduction: () => false,
    onCommit: (listener) => subscribers.add(listener),
    acting: engineActs({
      storage,
      log,
      ...calls,
      modules: modules.flatMap(({ acts = [] }) => acts),
      send: (id, event) => steps.send(id, event),
    }),
    ...joined(modules.map(({ views }) => views)),
  };
}

/** See `Engine.stop`. `isOver` is false once it runs again. */
async function stopped<W>(
  { storage, clock, worker, modules, waiting }: EngineParts<W>,
  isOver: () => boolean,
  { timeoutMs = DEFAULT_STOP_MS }: { readonly timeoutMs?: number } = {},
): Promise<void> {
  const isStopped = new AbortController();
  const shut = async (): Promise<void> => (isOver() ? storage.shut() : undefined);
  const end = async (): Promise<void> => {
    // A fault of one of them does not hold up the others.
    const loops = modules.flatMap(({ loop = [] }) => loop);
    const ends = await Promise.allSettled([worker, ...loops].map((each) => each.stop(timeoutMs)));
    // Told last: what they wait for may be the work in hand.
    waiting.stop();
    // Calls that the host made before the stop end as its later calls do.
    if (isOver()) await storage.hostRests();
    await shut();
    for (const each of ends) if (each.status === "rejected") throw each.reason;
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
  modules,
  waiting,
  removed,
  checkFilter: check,
}: EngineParts<W>) {
  const send = (id: string, event: EventObject): Promise<SendResult> => steps.send(id, event);
  const calls: Pick<KernelEngine<W>, "settled" | "ready"> = {
    async ready() {
      await steps.commit({});
      workflows.checkAllAccepted();
    },
    async settled() {
      do await worker.quiet();
      while (await workOnce(modules));
    },
  };
  return {
    ...calls,
    ...workflowReads(
      {
        reads: instanceReads(storage, () => workflows.claims),
        checkFilter: check,
      },
      waiting,
    ),
    ...taskCommands(storage, () => clock.now()),
    ...instanceCommands({ storage, send, removed }),
  };
}

/** Merges the members of all modules into one object. */
const joined = (parts: readonly (object | undefined)[]): object => Object.assign({}, ...parts) as object;

/** Lets each module do what is due now; true where there may be more. */
async function workOnce(modules: readonly ModuleParts[]): Promise<boolean> {
  for (const { loop } of modules) if ((await loop?.workOnce?.()) === true) return true;
  return false;
}

/** Refuses a filter that would not find all it names. */
function filterCheck<W>({ storage, steps }: Pick<ModuleContext<W>, "storage" | "steps">): FilterCheck {
  return async (filter) => {
    // This process declares the fields of a new version, which no process has registered.
    if (!steps.charts.isDone) await steps.charts.check();
    await instanceFinder.check(storage, filter);
  };
}

/**
 * Whether a commit may have made something due, or given room to what waits. A step says its starts, none too, and tells the
 * worker of what it arms itself.
 */
const isCommand = ({ starts, arms, retries, drops, limits, removes }: AnyCommit): boolean =>
  starts === undefined && (arms ?? retries ?? drops ?? limits ?? removes) !== undefined;
