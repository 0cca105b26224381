/** Plans the commit that turns an instance of an older version of its chart into one of the present version. Pure. */
import type { StateValue } from "xstate";
import type { PendingTask, TaskMigration, Write } from "../../storage/storage.ts";
import { thrownText, withoutTraps } from "../core/thrown.ts";
import { BORN, ArrivalError, type ArrivalStep, type ChartSnapshot, type ChildLink } from "./chart.ts";
import { invocationName } from "./invocation-task.ts";
import {
  MigrationFailed,
  type AnyMigration,
  type PreviousInstance,
  type MigratedInstance,
  type MigrationStep,
} from "./migrations.ts";
import type { PlannedArrival, PlannedStep, StepPlan } from "./plan-step.ts";
import type { KnownInstance } from "./step-context.ts";
import { UnstorableValue } from "./values.ts";
import { versionOf } from "./workflow-key.ts";
import type { AnyWorkflow } from "./workflow.ts";

/** The most timers, effects and invocations read for a migration: a chart has a few. Messages only change their owner. */
export const MAX_MOVED = 10_000;

/** An instance with everything that waits for it, and the version it goes on under. */
export interface MigratingInstance {
  readonly instance: KnownInstance;
  readonly workflow: AnyWorkflow;
  readonly snapshot: ChartSnapshot;
  readonly tasks: readonly PendingTask[];
}

/** The commit of the migration, and the first steps of children that the new version begins. Throws `MigrationFailed`. */
export function planMigration(migrating: MigratingInstance, plan: StepPlan): PlannedStep[] {
  return planned(migrating, plan, (step, instance) => {
    if (migrating.tasks.length < MAX_MOVED) return plan.arrive(instance.arrival());
    throw new MigrationFailed(step, "tasks", `there are ${MAX_MOVED} or more, too many to migrate at once`);
  });
}

/** New names of effects of an ended instance: the version after does them. Throws `MigrationFailed` when it has none such. */
export function renamedEffects(migrating: MigratingInstance, plan: StepPlan): TaskMigration[] {
  return planned(migrating, plan, (_, instance) => instance.renamedEffects());
}

function planned<A>(
  migrating: MigratingInstance,
  plan: StepPlan,
  act: (step: MigrationStep, instance: Moving) => A,
): A {
  const { instance, workflow } = migrating;
  const step = { instance: instance.id, from: instance.workflow, to: workflow.key };
  try {
    return act(step, new Moving(migrating, step, plan));
  } catch (thrown) {
    const error = withoutTraps(thrown);
    if (error instanceof MigrationFailed) throw error;
    if (error instanceof ArrivalError || error instanceof UnstorableValue) {
      throw new MigrationFailed({ ...step, cause: error }, error.path, error.message);
    }
    throw new MigrationFailed({ ...step, cause: error }, "chart", `it threw: ${thrownText(error)}`);
  }
}

type Result = Required<Omit<MigratedInstance, "writes">> & {
  readonly writes: readonly Write<never>[];
  /** The timers that the last of the functions has named. */
  readonly named: readonly string[];
};

class Moving {
  readonly #moving: MigratingInstance;
  readonly #step: MigrationStep;
  readonly #before: ChartSnapshot;
  readonly #at: number;
  readonly #plan: StepPlan;

  constructor(moving: MigratingInstance, step: MigrationStep, plan: StepPlan) {
    const { instance, snapshot } = moving;
    this.#moving = moving;
    this.#step = step;
    this.#before = { ...snapshot, runs: { ...snapshot.runs, ...plan.takenBy(instance.id) } };
    this.#at = plan.at;
    this.#plan = plan;
  }

  arrival(): PlannedArrival {
    const { instance, workflow } = this.#moving;
    const { value, context, timers, children, effects, writes, named } = this.#result();
    const arrived = workflow.chart.arrive({
      before: { ...this.#before, children: this.#renamed(children) },
      value,
      context: context as ChartSnapshot["context"],
      timers: this.#names("timer"),
      actor: this.#plan.actor(instance, workflow),
    });
    this.#checkTimers(arrived, named);
    const amends = [
      ...this.#amendedTimers(timers),
      ...this.#amendedPromises(children, arrived.kept),
      ...this.#amendedEffects(effects),
    ];
    const step = { ...arrived, actions: this.#timed(arrived, timers) };
    return { workflow, instance, before: this.#before, step, writes, amends };
  }

  renamedEffects(): TaskMigration[] {
    return this.#amendedEffects(this.#result().effects);
  }

  #result(): Result {
    const { instance, workflow } = this.#moving;
    const { value, context } = this.#before;
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
    for (let version = versionOf(instance.workflow); version < workflow.version; version++) {
      const migration = workflow.migrations.get(version);
      if (migration === undefined) throw this.#failed(`migrate.${version}`, "it is missing");
      if (migration === null) continue;
      isChanged = true;
      result = this.#migrated(version, migration, result);
    }
    if (!isChanged && instance.hash !== workflow.hash) {
      throw this.#failed(
        "migrate",
        `the chart of ${workflow.name} has changed; give its migration in the options of its actor: actors: { name: { migrate } }`,
      );
    }
    return result;
  }

  #seen(version: number, { value, context, timers, children, effects }: Result): PreviousInstance {
    const links = Object.entries(this.#renamed(children)).map(([id, { src }]) => [id, src]);
    return {
      id: this.#moving.instance.id,
      version,
      value,
      context: context as PreviousInstance["context"],
      timers,
      children: Object.fromEntries(links) as Record<string, string>,
      effects: this.#names("effect").map((name) => effects[name] ?? name),
      now: this.#at,
    };
  }

  /** Fields that a migration leaves out stay. A part renamed twice gets the later name. */
  #migrated(version: number, migrate: AnyMigration, before: Result): Result {
    const failed = (field: string, reason: string, cause?: unknown): MigrationFailed =>
      this.#failed(`migrate.${version}${field}`, reason, cause);
    let after: MigratedInstance<StateValue, object, never>;
    try {
      after = migrate(this.#seen(version, before));
    } catch (error) {
      throw failed("", `it threw: ${thrownText(error)}`, error);
    }
    if (!isPlain(after)) {
      throw failed("", "expected it to return an object, such as { value, context }, and no promise");
    }
    const unknown = Object.keys(after).find((field) => !MIGRATED_FIELDS.has(field));
    if (unknown !== undefined) {
      throw failed(`.${unknown}`, `expected only ${[...MIGRATED_FIELDS].join(", ")}`);
    }
    const { value = before.value, context = before.context, timers = {}, writes = [] } = after;
    if (!isPlain(context)) throw failed(".context", "expected an object");
    for (const [name, dueAt] of Object.entries(timers)) {
      if (Number.isSafeInteger(dueAt)) continue;
      throw failed(`.timers.${name}`, "expected a time in whole milliseconds");
    }
    return {
      value,
      context,
      timers: { ...before.timers, ...timers },
      children: chained(before.children, after.children ?? {}, Object.keys(this.#before.children ?? {})),
      effects: chained(before.effects, after.effects ?? {}, this.#names("effect")),
      writes: [...before.writes, ...writes],
      named: Object.keys(timers),
    };
  }

  #renamed(children: Readonly<Record<string, string>>): Record<string, ChildLink> {
    return Object.fromEntries(
      Object.entries(this.#before.children ?? {}).map(([id, link]) => {
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

  #checkTimers({ actions }: ArrivalStep, named: Result["named"]): void {
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

  #amendedTimers(timers: Result["timers"]): TaskMigration[] {
    return this.#ofKind("timer").flatMap(({ id: task, name, payload, dueAt: before }) => {
      const dueAt = timers[name] ?? before;
      return dueAt === before ? [] : [{ task, name, payload, dueAt }];
    });
  }

  /** Promises that continue under a new id, or a new name of their logic. */
  #amendedPromises(renamed: Result["children"], kept: Readonly<Record<string, ChildLink>>): TaskMigration[] {
    return Object.entries(this.#before.children ?? {}).flatMap(([old, { src, run }]) => {
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

  #amendedEffects(renamed: Result["effects"]): TaskMigration[] {
    const { effects, bodies, machine, key } = this.#moving.workflow;
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
    return this.#moving.tasks.filter((task) => task.kind === kind && task.name !== BORN);
  }

  #names(kind: PendingTask["kind"]): string[] {
    return this.#ofKind(kind).map(({ name }) => name);
  }

  #failed(path: string, reason: string, cause?: unknown): MigrationFailed {
    return new MigrationFailed({ ...this.#step, cause }, path, reason);
  }
}

const MIGRATED_FIELDS: ReadonlySet<string> = new Set<keyof MigratedInstance>([
  "value",
  "context",
  "timers",
  "children",
  "effects",
  "writes",
]);

/** An object of fields: no array, date, map or promise, whose fields would be lost. */
function isPlain(answer: unknown): boolean {
  return Object.prototype.toString.call(answer) === "[object Object]";
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
