/** The invariants I1–I5, checked over what a run left behind and, where it was kept, the log of how it came about. */
import type { EventObject } from "xstate";
import type { AnyWorkflow, ChartSnapshot } from "../../src/engine/index.ts";
import { snapshotFromText, snapshotToText } from "../../src/workflow/snapshot-text.ts";
import { eventFromText } from "../../src/workflow/values.ts";
import type { AnnounceParams } from "../../machines/wallet-transfer.ts";
import { MIGRATED, type ChartAction, type FirstStep } from "../../src/workflow/chart.ts";
import { ADDED_ROWS } from "../../src/workflow/added-fields.ts";
import { withoutAdditions } from "../../src/workflow/step-additions.ts";
import { withChildren } from "../../src/workflow/workflow.ts";
import type { Commit, HistoryRecord, InstanceRecord, TaskRecord } from "../../storage/storage.ts";
import { WAY_MODULES } from "../../src/payments/modules.ts";
import type { PaymentStorage, PaymentTables } from "../../src/payments/payment-storage.ts";
import { derivedId } from "../../src/payments/frame/ids.ts";
import type { StorageLog } from "./record-storage.ts";
import { isWatched, watchRows } from "../../src/workflow/watch-rows.ts";

/** What is judged: a run that has come to rest. */
export interface RunAtRest {
  readonly storage: Pick<PaymentStorage, "load" | "history" | "find" | "tasks">;
  readonly log: StorageLog;
  /** All workflows of all engines of the run; those of one key must be one chart. */
  readonly workflows: readonly AnyWorkflow[];
  /** Instances that wait for nobody but the outside world, which no row can show. */
  readonly awaitsOutside?: (id: string) => boolean;
}

/** One sentence per broken invariant, each beginning with its number; empty when all hold. */
export async function brokenInvariants(run: RunAtRest): Promise<readonly string[]> {
  const ids = new Set<string>();
  const armed = new Set<string>();
  for (const { commit } of run.log.commits) {
    for (const done of announcedIn(commit)) armed.add(done);
    const left = commit.step?.isLast === true ? [commit.step] : [];
    for (const { id } of [...left, ...(commit.removes ?? [])]) {
      ids.delete(id);
      for (const task of armed) if (placeOf(task)?.instance === id) armed.delete(task);
    }
    for (const { id } of commit.starts ?? []) ids.add(id);
    for (const { task } of commit.arms ?? []) armed.add(task.id);
  }
  const instances = await Promise.all([...ids].map((id) => readInstance(run.storage, id)));
  return [
    ...instances.flatMap((read) => checkHistory(run.workflows.flatMap(withChildren), read, armed)),
    ...(await checkRest(run, instances)),
    ...checkConsumption(run.log),
    ...checkTimers(run.log),
  ];
}

/**
 * What a database alone tells once all its work is done: I1 of every instance, and of I3 that none of them is left
 * waiting for nothing. `instances` are the ids of all there are; nobody may be at work on them.
 */
export async function brokenAtRest({
  storage,
  workflows,
  instances,
}: Pick<RunAtRest, "workflows"> & {
  readonly storage: Pick<PaymentStorage, "load" | "history">;
  readonly instances: readonly string[];
}): Promise<readonly string[]> {
  const reads = await Promise.all(instances.map((id) => readInstance(storage, id)));
  return reads.flatMap((read) => [
    ...checkHistory(workflows.flatMap(withChildren), read, null),
    ...(isAtRest(read.instance) ? [] : [`I3: ${read.instance.id} is active, and all work is done`]),
  ]);
}

/**
 * The same where much goes on for hours: I1, and of I3 that the active have a task or a watch, or wait for somebody, and
 * the ended have none.
 */
export async function brokenWhileWaiting({
  storage,
  workflows,
  instances,
}: Pick<RunAtRest, "workflows"> & {
  readonly storage: Pick<PaymentStorage, "load" | "history" | "tasks">;
  readonly instances: readonly string[];
}): Promise<readonly string[]> {
  const broken: string[] = [];
  for (const id of instances) {
    const read = await readInstance(storage, id);
    const tasks = await storage.tasks({ order: "instance", instance: id, limit: 1 });
    const isWaiting = tasks.length > 0 || isWatched(read.instance);
    const isActive = read.instance.status === "active";
    const isForgotten = isActive && !isWaiting && !awaitsSomebody(workflows, read.instance);
    broken.push(
      ...checkHistory(workflows.flatMap(withChildren), read, null),
      ...(isForgotten ? [`I3: ${id} is active and waits for nothing`] : []),
      ...(!isActive && isWaiting ? [`I3: ${id} has ended, and something of it has not`] : []),
    );
  }
  return broken;
}

/** Ended, or failed and only looked for once more in case every node was wrong about its death. */
function isAtRest({ status, snapshot }: InstanceRecord): boolean {
  return status === "done" || (JSON.parse(snapshot) as ChartSnapshot).value === "expired";
}

interface ReadInstance {
  readonly instance: InstanceRecord;
  readonly history: readonly HistoryRecord[];
}

async function readInstance(
  storage: Pick<PaymentStorage, "load" | "history">,
  id: string,
): Promise<ReadInstance> {
  const instance = await storage.load(id);
  if (instance === null) throw new Error(`${id} was started and is gone`);
  const history: HistoryRecord[] = [];
  for (;;) {
    const after = history.at(-1)?.version ?? 0;
    const page = await storage.history(id, { after, limit: 100 });
    if (page.length === 0) return { instance, history };
    history.push(...page);
  }
}

const text = (value: unknown): string => JSON.stringify(value);

/**
 * I1 and I2: folding the history from its beginning gives the stored state, and each step's tasks and no others. Tasks
 * that were done are in no table, so without the ids of all that were ever armed (null) I2 is not judged.
 */
function checkHistory(
  workflows: readonly AnyWorkflow[],
  { instance, history }: ReadInstance,
  everArmed: ReadonlySet<string> | null,
): string[] {
  const { id } = instance;
  const workflow = workflows.find(({ key, hash }) => key === instance.workflow && hash === instance.hash);
  if (workflow === undefined) {
    return [`I12: ${id} was written by ${instance.workflow}, which nobody registered`];
  }
  const { chart } = workflow;
  const armed = new Set(everArmed);
  const broken: string[] = [];
  let state: ChartSnapshot | null = null;
  // What an older version of the chart has armed is not judged: only the present one is registered.
  const forget = (stamp: string): void => {
    for (const task of armed) {
      const place = placeOf(task);
      if (place?.instance === id && place.stamp === stamp) armed.delete(task);
    }
  };
  const typeOf = (row: HistoryRecord | undefined): string | undefined =>
    row === undefined ? undefined : eventFromText(row.event).type;
  const isFolded = ADDED_ROWS.includes(typeOf(history[0]) ?? "");
  if (isFolded) forgetOthers(armed, id, history);
  const migrated = history.findLastIndex((row) => typeOf(row) === MIGRATED);
  const base = migrated === -1 && isFolded ? 0 : migrated;
  const first = history[0]?.version ?? 1;
  if (first !== 1 && !isFolded) return [`I1: the history of ${id} begins with version ${first}`];
  for (const [index, row] of history.entries()) {
    if (index < base) {
      forget(row.stamp);
      continue;
    }
    const expected = first + index;
    if (row.version !== expected) return [`I1: row ${expected} of ${id} has version ${row.version}`];
    const event = eventFromText(row.event) as EventObject & {
      input: unknown;
      snapshot: ChartSnapshot;
    } & FirstStep;
    if (index === base) {
      state = event.snapshot;
      forget(row.stamp);
      continue;
    }
    if (ADDED_ROWS.includes(event.type)) {
      if (state === null || snapshotToText(state) !== snapshotToText(event.snapshot)) {
        broken.push(`I1: row ${row.version} of ${id} holds another snapshot than its steps lead to`);
      }
      state = event.snapshot;
      continue;
    }
    const actor = { instance: id, life: instance.life, stamp: row.stamp, workflow };
    const step =
      state === null ? chart.start(event.input, event, actor) : chart.step(state, event, { actor });
    if (step === null) return [`I1: step ${row.version} of ${id} does nothing when it is folded`];
    state = snapshotFromText(snapshotToText(step.after));
    if (text(state.value) !== row.value) {
      broken.push(`I1: step ${row.version} of ${id} folds to ${text(state.value)}, not ${row.value}`);
    }
    step.actions.forEach((asked, action) => {
      const { kind } = asked;
      const task = `${id}:${row.stamp}:${action}`;
      const isDone = isDoneWithStep(workflow, asked) && isAnnounced(armed, row, asked);
      const isKnown = everArmed === null || kind !== "effect" || armed.delete(task) || isDone;
      if (!isKnown) broken.push(`I2: the effect ${task} was not armed`);
      // A timer that was armed and left within one step never gets a row; what is sent may have nobody to go to.
      if (kind !== "effect") armed.delete(task);
    });
    // The news of its end, for a parent.
    armed.delete(`${id}:${row.stamp}:${step.actions.length}`);
  }
  const last = history.at(-1)?.version ?? 0;
  if (instance.version !== last) broken.push(`I1: the history of ${id} ends with version ${last}`);
  const folded = state === null ? "nothing" : snapshotToText({ ...state, ...addedIn(instance.snapshot) });
  if (folded !== instance.snapshot) {
    broken.push(`I1: ${id} folds to ${folded}, but ${instance.snapshot} is stored`);
  }
  const isActive = state?.status === "active";
  if (isActive !== (instance.status === "active")) broken.push(`I1: ${id} is stored as ${instance.status}`);
  for (const task of armed) {
    if (placeOf(task)?.instance === id) broken.push(`I2: the task ${task} follows from no step`);
  }
  return broken;
}

/** What modules have filled of a stored snapshot. */
function addedIn(snapshot: string): Partial<ChartSnapshot> {
  const stored = JSON.parse(snapshot) as ChartSnapshot;
  const own = withoutAdditions(stored);
  return Object.fromEntries(Object.entries(stored).filter(([field]) => !Object.hasOwn(own, field)));
}

/** Leaves out the tasks of steps whose rows are gone. */
function forgetOthers(armed: Set<string>, id: string, history: readonly HistoryRecord[]): void {
  const stamps = new Set(history.map(({ stamp }) => stamp));
  for (const task of armed) {
    const place = placeOf(task);
    if (place?.instance === id && !stamps.has(place.stamp)) armed.delete(task);
  }
}

function isDoneWithStep({ effects }: AnyWorkflow, asked: ChartAction): boolean {
  const effect = asked.kind === "effect" ? effects.get(asked.effect.name) : undefined;
  return typeof effect === "object" && "withStep" in effect && effect.withStep !== undefined;
}

/** Whether the commit of a step has told of the notice that it asks for; true where it asks for something else. */
function isAnnounced(
  armed: Set<string>,
  { instance, stamp }: Pick<HistoryRecord, "instance" | "stamp">,
  asked: ChartAction,
): boolean {
  const params =
    asked.kind === "effect" ? (asked.effect.params as Partial<AnnounceParams> | undefined) : undefined;
  const notice = params?.notice;
  return notice === undefined || armed.has(`announced with ${stamp}: ${derivedId("evt", instance, notice)}`);
}

/** A notice has its body with its deliveries; without webhooks it has neither. */
const isWhole = ({ body }: PaymentTables["notices"]): boolean =>
  body !== null || WAY_MODULES.every(({ name }) => name !== "webhooks");

/** What a commit announces with its steps. */
function announcedIn({ history = [], writes = [] }: Commit<PaymentTables>): readonly string[] {
  const notices = writes.flatMap((write) =>
    write.table === "notices" && "insert" in write && isWhole(write.insert) ? [write.insert.id] : [],
  );
  return history.flatMap(({ stamp }) => notices.map((notice) => `announced with ${stamp}: ${notice}`));
}

/** The step that armed a task, read from its id `instance:stamp:index`; null for an answer (`…:back`). */
function placeOf(task: string): { readonly instance: string; readonly stamp: string } | null {
  const [, instance, stamp] = /^(.*):([0-9a-v]+):\d+$/s.exec(task) ?? [];
  return instance === undefined || stamp === undefined ? null : { instance, stamp };
}

/** The version of the step that a commit makes of this instance, if it does. */
function stepVersion(commit: Commit<PaymentTables>, instance: string): number | null {
  return commit.history?.find((row) => row.instance === instance)?.version ?? null;
}

interface TimerLife {
  readonly task: TaskRecord;
  readonly armedAt: number;
  /** The version of the first step that disarmed it, other than by firing. */
  readonly disarmed: number;
}

function timerLives(log: StorageLog): TimerLife[] {
  const disarms = log.commits.flatMap(({ commit }) =>
    [...(commit.disarms ?? []), ...(commit.ends ?? []).map((instance) => ({ instance, timer: null }))].map(
      (disarm) => ({
        ...disarm,
        version: stepVersion(commit, disarm.instance) ?? 0,
        fired: commit.consumes?.task,
      }),
    ),
  );
  const versions = new Map<string, number>(
    log.commits.flatMap(({ commit }) =>
      (commit.history ?? []).map(
        ({ instance, stamp, version }) => [`${instance}:${stamp}`, version] as const,
      ),
    ),
  );
  const armedIn = (task: string): string => task.slice(0, task.lastIndexOf(":"));
  return log.commits
    .flatMap(({ at, commit }) => (commit.arms ?? []).map(({ task }) => ({ task, armedAt: at })))
    .filter(({ task }) => task.kind === "timer" || task.kind === "invocation")
    .map(({ task, armedAt }) => {
      const since = versions.get(armedIn(task.id)) ?? 0;
      const ended = disarms
        .filter(({ instance, timer }) => instance === task.instance && (timer ?? task.name) === task.name)
        .filter(({ version, fired }) => version > since && fired !== task.id)
        .map(({ version }) => version);
      return { task, armedAt, disarmed: Math.min(...ended) };
    });
}

/** I3: who is active waits for something; who is final waits for nothing. */
async function checkRest(
  { storage, log, workflows, awaitsOutside = () => false }: RunAtRest,
  instances: readonly ReadInstance[],
): Promise<string[]> {
  const gone = new Set(log.commits.flatMap(({ commit }) => commit.consumes?.task ?? []));
  for (const { task, disarmed } of timerLives(log)) if (disarmed < Infinity) gone.add(task.id);
  for (const { id } of await storage.tasks({ order: "dead", limit: 1_000 })) gone.add(id);
  const live = log.commits
    .flatMap(({ commit }) => (commit.arms ?? []).map(({ task }) => task))
    .filter(({ id }) => !gone.has(id));
  const watching = new Set((await storage.find({ table: watchRows })).map(({ instance }) => instance));
  const active = new Set(
    instances.filter(({ instance }) => instance.status === "active").map(({ instance }) => instance.id),
  );
  const parentsOfActive = new Set(
    log.commits
      .flatMap(({ commit }) => (commit.arms ?? []).map(({ task }) => task))
      .filter(({ kind, instance }) => kind === "message" && active.has(instance))
      .map(({ id }) => placeOf(id)?.instance),
  );
  // Started together with a step of whoever waits for it.
  for (const { commit } of log.commits) {
    if (commit.starts?.some(({ id }) => active.has(id)) === true) parentsOfActive.add(commit.step?.id);
  }
  return instances.flatMap(({ instance }) => {
    const { id, status } = instance;
    const tasks = live.filter((task) => task.instance === id);
    if (status === "done") {
      return [
        ...tasks.map((task) => `I3: ${id} has ended, and its task ${task.id} has not`),
        ...(watching.has(id) ? [`I3: ${id} has ended and is still watched for`] : []),
      ];
    }
    const waits =
      tasks.length > 0 ||
      watching.has(id) ||
      parentsOfActive.has(id) ||
      awaitsOutside(id) ||
      awaitsSomebody(workflows, instance);
    return waits ? [] : [`I3: ${id} is active and waits for nothing`];
  });
}

/** A state whose meta says who has to act, an operator or another instance, is left by nothing else. */
function awaitsSomebody(workflows: readonly AnyWorkflow[], { workflow, snapshot }: InstanceRecord): boolean {
  const machine = workflows.find(({ key }) => key === workflow)?.machine;
  const state = machine?.resolveState(JSON.parse(snapshot) as Parameters<typeof machine.resolveState>[0]);
  return Object.values(state?.getMeta() ?? {}).some(
    (meta: { readonly waitsFor?: string } | undefined) => meta?.waitsFor !== undefined,
  );
}

/** I4: a task is consumed at most once, with the token of its last claim. */
function checkConsumption({ commits, claims }: StorageLog): string[] {
  const lastToken = new Map<string, number>();
  for (const { commit } of commits) {
    for (const { task, lease } of commit.arms ?? []) if (lease !== undefined) lastToken.set(task.id, 1);
  }
  for (const { id, token } of claims) lastToken.set(id, Math.max(token, lastToken.get(id) ?? 0));
  const consumed = new Set<string>();
  return commits.flatMap(({ commit: { consumes } }) => {
    if (consumes === undefined) return [];
    const { task, token } = consumes;
    const twice = consumed.has(task) ? [`I4: ${task} was consumed twice`] : [];
    consumed.add(task);
    const last = lastToken.get(task);
    return [
      ...twice,
      ...(token === last ? [] : [`I4: ${task} was consumed with token ${token}, its last is ${last}`]),
    ];
  });
}

/** I5: no timer fires early, or after it was disarmed. (Twice is I4's business.) */
function checkTimers(log: StorageLog): string[] {
  const timers = new Map(timerLives(log).map((life) => [life.task.id, life]));
  return log.commits.flatMap(({ at, commit }) => {
    const life = timers.get(commit.consumes?.task ?? "");
    if (life === undefined) return [];
    const { task, armedAt, disarmed } = life;
    const version = stepVersion(commit, task.instance) ?? Infinity;
    return [
      // Where the clock was put meanwhile, its delay has to be over.
      ...(at < task.dueAt && at - armedAt < (task.delayMs ?? Infinity)
        ? [`I5: ${task.id} fired at ${at}, before ${task.dueAt}`]
        : []),
      ...(version < Infinity && version > disarmed
        ? [`I5: ${task.id} fired in step ${version}, after step ${disarmed} had disarmed it`]
        : []),
    ];
  });
}
