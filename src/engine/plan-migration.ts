/** From an instance of an older version of its chart to the one commit that makes it one of the present version. Pure. */
import type { StateValue } from "xstate";
import type { PendingRecords, PendingTask, TaskAmendment, Write } from "../../storage/storage.ts";
import { thrownText, withoutTraps } from "../thrown.ts";
import { BORN, CannotArrive, type ArrivalStep, type ChartSnapshot, type ChildLink } from "./chart.ts";
import { invocationName } from "./invocation-task.ts";
import { MigrationFailed, type InstanceBefore, type Migrated, type MigrationStep } from "./migrations.ts";
import type { PlannedArrival, StepCommit, StepPlan } from "./plan-step.ts";
import type { KnownInstance } from "./recent-instances.ts";
import { UnstorableValue } from "./values.ts";
import { versionOf } from "./workflow-key.ts";
import type { AnyWorkflow } from "./workflow.ts";

/**
 * So many timers, effects and invocations of one instance are read for its migration: a chart has a few at a time. Messages
 * come from many, and only change their owner.
 */
export const MAX_MOVED = 10_000;

/** An instance with everything that waits for it, and the version it goes on under. */
export interface MigratingInstance {
  readonly instance: KnownInstance;
  readonly workflow: AnyWorkflow;
  readonly snapshot: ChartSnapshot;
  readonly pending: PendingRecords;
}

/** The commit of the migration, and the first steps of children that the new version begins. Throws `MigrationFailed`. */
export function planMigration(migrating: MigratingInstance, plan: StepPlan): StepCommit[] {
  const { instance, workflow } = migrating;
  const step = { instance: instance.id, from: instance.workflow, to: workflow.key };
  if (migrating.pending.tasks.length === MAX_MOVED) {
    throw new MigrationFailed(step, "tasks", `there are ${MAX_MOVED} or more, too many to migrate at once`);
  }
  try {
    return plan.arrive(new MovedInstance(migrating, step, plan));
  } catch (thrown) {
    const error = withoutTraps(thrown);
    if (error instanceof MigrationFailed) throw error;
    if (error instanceof CannotArrive || error instanceof UnstorableValue) {
      throw new MigrationFailed({ ...step, cause: error }, error.path, error.message);
    }
    throw new MigrationFailed({ ...step, cause: error }, "chart", `it threw: ${thrownText(error)}`);
  }
}

/** What the functions of all versions between have made of an instance. */
type Result = Required<Omit<Migrated, "writes">> & {
  readonly writes: readonly Write<never>[];
  /** The timers that the last of the functions has named. */
  readonly named: readonly string[];
};

/** An instance on its way. */
class MovedInstance implements PlannedArrival {
  readonly workflow: AnyWorkflow;
  readonly instance: KnownInstance;
  readonly before: ChartSnapshot;
  readonly step: ArrivalStep;
  readonly writes: readonly Write<never>[];
  readonly amends: readonly TaskAmendment[];
  readonly unwatches: PendingRecords["watches"];
  readonly #step: MigrationStep;
  readonly #tasks: readonly PendingTask[];
  readonly #at: number;

  constructor(
    { instance, workflow, snapshot, pending }: MigratingInstance,
    step: MigrationStep,
    plan: StepPlan,
  ) {
    this.workflow = workflow;
    this.instance = instance;
    this.before = { ...snapshot, runs: { ...snapshot.runs, ...plan.takenBy(instance.id) } };
    this.unwatches = pending.watches;
    this.#step = step;
    this.#tasks = pending.tasks;
    this.#at = plan.at;
    const result = this.#result(instance);
    this.writes = result.writes;
    const children = this.#renamed(result.children);
    const timers = this.#names("timer");
    const { value, context } = result;
    const arrived = workflow.chart.arrive({
      before: { ...this.before, children },
      value,
      context: context as ChartSnapshot["context"],
      timers,
    });
    this.#checkTimers(arrived, result);
    this.step = { ...arrived, actions: this.#timed(arrived, result.timers) };
    this.amends = [
      ...this.#amendedTimers(result.timers),
      ...this.#amendedPromises(result.children, arrived.kept),
      ...this.#amendedEffects(result.effects),
    ];
  }

  /** Hands the instance from version to version. */
  #result(instance: KnownInstance): Result {
    const { value, context } = this.before;
    let result: Result = {
      value: value as StateValue,
      context,
      timers: Object.fromEntries(this.#ofKind("timer").map(({ name, dueAt }) => [name, dueAt])),
      children: {},
      effects: {},
      writes: [],
      named: [],
    };
    let isChanged = false;
    for (let version = versionOf(instance.workflow); version < this.workflow.version; version++) {
      const migration = this.workflow.migrations.get(version);
      if (migration === undefined) throw this.#failed(`migrate.${version}`, "it is missing");
      if (migration === null) continue;
      isChanged = true;
      const seen = this.#seen(version, result);
      result = this.#taken(
        version,
        result,
        this.#asked(version, () => migration(seen)),
      );
    }
    if (!isChanged && instance.hash !== this.workflow.hash) {
      throw this.#failed(
        "migrate",
        `the chart of ${this.workflow.name} has changed; give its migration in the options of its actor: actors: { name: { migrate } }`,
      );
    }
    return result;
  }

  #seen(version: number, { value, context, timers, children, effects }: Result): InstanceBefore {
    const links = Object.entries(this.#renamed(children)).map(([id, { src }]) => [id, src]);
    return {
      id: this.instance.id,
      version,
      value,
      context: context as InstanceBefore["context"],
      timers,
      children: Object.fromEntries(links) as Record<string, string>,
      effects: this.#names("effect").map((name) => effects[name] ?? name),
      now: this.#at,
    };
  }

  #asked(version: number, migrate: () => unknown): Migrated<StateValue, object, never> {
    let answer: unknown;
    try {
      answer = migrate();
    } catch (error) {
      throw this.#failed(`migrate.${version}`, `it threw: ${thrownText(error)}`, error);
    }
    if (typeof answer !== "object" || answer === null) {
      throw this.#failed(`migrate.${version}`, "expected it to return an object, such as { value, context }");
    }
    const { context = {} } = answer as { readonly context?: unknown };
    if (typeof context !== "object" || context === null) {
      throw this.#failed(`migrate.${version}.context`, "expected an object");
    }
    return answer;
  }

  /** What a function leaves out stays. Renamed twice, a thing has the later name. */
  #taken(version: number, before: Result, after: Migrated<StateValue, object, never>): Result {
    const { value = before.value, context = before.context, timers = {}, writes = [] } = after;
    const children = chained(before.children, after.children ?? {}, Object.keys(this.before.children ?? {}));
    const effects = chained(before.effects, after.effects ?? {}, this.#names("effect"));
    for (const [name, dueAt] of Object.entries(timers)) {
      if (Number.isSafeInteger(dueAt)) continue;
      throw this.#failed(`migrate.${version}.timers.${name}`, "expected a time in whole milliseconds");
    }
    return {
      value,
      context,
      timers: { ...before.timers, ...timers },
      children,
      effects,
      writes: [...before.writes, ...writes],
      named: Object.keys(timers),
    };
  }

  #renamed(children: Readonly<Record<string, string>>): Record<string, ChildLink> {
    return Object.fromEntries(
      Object.entries(this.before.children ?? {}).map(([id, link]) => {
        const renamed = children[id] ?? id;
        if (renamed !== id && link.run !== undefined) {
          throw this.#failed(
            `children.${id}`,
            "a child machine keeps its id, which its instance is called by",
          );
        }
        return [renamed, link];
      }),
    );
  }

  #checkTimers({ actions }: ArrivalStep, { named }: Result): void {
    const begun = actions.flatMap((action) => (action.kind === "arm" ? (action.timer ?? []) : []));
    const known = [...this.#names("timer"), ...begun];
    for (const name of named) {
      if (known.includes(name)) continue;
      const there = known.length === 0 ? "there is none" : `there are ${known.join(", ")}`;
      throw this.#failed(`timers.${name}`, `no timer of this name runs in this state: ${there}`);
    }
  }

  /** Timers that begin now may have been given another time. */
  #timed({ actions }: ArrivalStep, timers: Result["timers"]): ArrivalStep["actions"] {
    return actions.map((action) => {
      const dueAt = action.kind === "arm" ? timers[action.timer ?? ""] : undefined;
      if (action.kind !== "arm" || dueAt === undefined) return action;
      return { ...action, delayMs: Math.max(0, dueAt - this.#at) };
    });
  }

  #amendedTimers(timers: Result["timers"]): TaskAmendment[] {
    return this.#ofKind("timer").flatMap(({ id: task, name, payload, dueAt: before }) => {
      const dueAt = timers[name] ?? before;
      return dueAt === before ? [] : [{ task, name, payload, dueAt }];
    });
  }

  /** Promises that go on under another id, or another name of their logic. */
  #amendedPromises(renamed: Result["children"], kept: Readonly<Record<string, ChildLink>>): TaskAmendment[] {
    return Object.entries(this.before.children ?? {}).flatMap(([old, { src, run }]) => {
      const id = renamed[old] ?? old;
      const link = kept[id];
      if (id !== old && link === undefined) {
        throw this.#failed(`children.${old}`, `the state that it goes on in invokes no "${id}"`);
      }
      const task = this.#ofKind("invocation").find(({ name }) => name === invocationName(old));
      if (run !== undefined || task === undefined || link === undefined) return [];
      if (id === old && link.src === src) return [];
      const payload = { ...(JSON.parse(task.payload) as object), id, src: link.src };
      const dueAt = Math.min(task.dueAt, this.#at);
      return [{ task: task.id, name: invocationName(id), payload: JSON.stringify(payload), dueAt }];
    });
  }

  #amendedEffects(renamed: Result["effects"]): TaskAmendment[] {
    const { effects, bodies, machine, key } = this.workflow;
    return this.#ofKind("effect").flatMap(({ id: task, name: old, payload, dueAt }) => {
      const name = renamed[old];
      if (name === undefined && old.startsWith(`${machine.id}.`) && !effects.has(old)) {
        throw this.#failed(
          `effects.${old}`,
          "an action without a name is not done yet: return effects: { [its place]: the action that does it now }",
        );
      }
      const now = name ?? old;
      if (!effects.has(now) && !bodies.has(now)) {
        throw this.#failed(
          `effects.${old}`,
          `it is not done yet, and ${key} has no effect "${now}": keep it until the last one is done, or return effects: { old: new }`,
        );
      }
      return now === old ? [] : [{ task, name: now, payload, dueAt }];
    });
  }

  #ofKind(kind: PendingTask["kind"]): readonly PendingTask[] {
    return this.#tasks.filter((task) => task.kind === kind && task.name !== BORN);
  }

  #names(kind: PendingTask["kind"]): string[] {
    return this.#ofKind(kind).map(({ name }) => name);
  }

  #failed(path: string, reason: string, cause?: unknown): MigrationFailed {
    return new MigrationFailed({ ...this.#step, cause }, path, reason);
  }
}

/** The names that things have after two renamings, by the names that they had at first. */
function chained(
  first: Readonly<Record<string, string>>,
  second: Readonly<Record<string, string>>,
  names: readonly string[],
): Record<string, string> {
  const after = names.map((name) => {
    const between = first[name] ?? name;
    return [name, second[between] ?? between] as const;
  });
  return Object.fromEntries(after.filter(([name, renamed]) => name !== renamed));
}
