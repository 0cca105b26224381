/** Stores what a program says of a schedule, unless a later deployment has said otherwise. */
import { z } from "zod";
import type { AnyStateMachine, InputFrom } from "xstate";
import { commitOne } from "../../../../storage/decided.ts";
import { checkOptions, InvalidOptions } from "../../../core/options.ts";
import { thrownText } from "../../../core/thrown.ts";
import { NOT_KEPT, toJson } from "../../../workflow/values.ts";
import { nameOf, versionOf } from "../../../workflow/workflow-key.ts";
import type { WorkflowRegistry } from "../../../workflow/workflow-registry.ts";
import type { AnyWorkflow, Workflow } from "../../../workflow/workflow.ts";
import { Moments, type ScheduleRule } from "./moments.ts";
import {
  isThere,
  SCHEDULES,
  scheduleTime,
  storedSchedules,
  viewOf,
  type MissedMoments,
  type ScheduleParts,
  type ScheduleRow,
  type ScheduleView,
} from "./stored-schedules.ts";

/**
 * When a workflow is started, and the input of each start. The engine adds `scheduledAt` to the input; a workflow whose input
 * has no other field needs none.
 */
export type ScheduleDefinition<M extends AnyStateMachine, W> = (Partial<
  Omit<InputFrom<M>, "scheduledAt">
> extends Omit<InputFrom<M>, "scheduledAt">
  ? { readonly input?: Omit<InputFrom<M>, "scheduledAt"> }
  : { readonly input: Omit<InputFrom<M>, "scheduledAt"> }) & {
  /**
   * Five fields, minute to day of the week, or six with seconds before them: `"0 2 * * *"`. Also `"@daily"`, `L` for a last
   * day, and `FRI#2` for a second Friday.
   */
  readonly cron: string;
  /** An IANA timezone, such as `"Europe/Berlin"`. */
  readonly timezone: string;
  /** One of the engine's workflows. A process with a later version of the workflow starts the later version. */
  readonly workflow: Workflow<M, W>;
  /** The rule for moments at which no process worked. Default `"last"`. */
  readonly missed?: MissedMoments;
  /**
   * Raised with every change of the definition, so that a process of an earlier deployment does not take the change back. A
   * later version of the workflow counts as a later deployment, too, but brings no removed schedule back. Default 1.
   */
  readonly version?: number;
};

const MISSED = ["last", "all", "none"] as const satisfies readonly MissedMoments[];

const optionsSchema = z.strictObject({
  id: z
    .string()
    .min(1)
    .max(200)
    .refine((id) => !NOT_KEPT.test(id), { error: "expected text without NUL and halves of characters" }),
  cron: z.string(),
  timezone: z.string(),
  workflow: z.custom<AnyWorkflow>(
    (value) => typeof (value as AnyWorkflow | null)?.chart?.step === "function",
    {
      error: "expected what workflow() returns",
    },
  ),
  input: z
    .custom<object>(z.core.util.isPlainObject, {
      error: "expected an object, to which each run's scheduledAt is added",
    })
    .default({}),
  missed: z.enum(MISSED).default("last"),
  version: z.number().int().min(1).default(1),
});

export interface DefineParts extends ScheduleParts {
  readonly workflows: Pick<WorkflowRegistry, "of">;
}

type Definition = Pick<ScheduleRow, "definition" | "workflow" | "cron" | "timezone" | "missed" | "input">;

/** The schedule as it is stored then. Throws `InvalidOptions`, and `UnknownWorkflow` where the engine lacks the workflow. */
export async function defineSchedule(parts: DefineParts, given: unknown): Promise<ScheduleView> {
  const { id, workflow, input, version, ...rule } = checkOptions("schedule", optionsSchema, given);
  parts.workflows.of({ id, workflow: workflow.key, hash: workflow.hash });
  const moments = momentsOf(rule);
  const definition: Definition = {
    definition: version,
    workflow: workflow.key,
    ...rule,
    input: JSON.stringify(toJson(input, "input")),
  };
  for (;;) {
    const [stored = null] = await parts.storage.find<ScheduleRow>({ table: storedSchedules, key: id });
    if (stored !== null && !isLater(definition, stored)) return viewOf(stored);
    const now = await scheduleTime(parts);
    const isNew = stored === null || !isThere(stored);
    if (isNew || !isSameRule(definition, stored)) checkToCome(moments, definition, now);
    const row =
      stored === null
        ? newRow(id, definition, moments.after(now))
        : // What was due by the old rule, and nobody has started, is judged by the new one.
          changedRow(stored, definition, (next) => moments.after(Math.min(now, (next ?? Infinity) - 1)));
    if (await isStored(parts, row, stored)) return viewOf(row);
    // Another process was first.
  }
}

function momentsOf(rule: ScheduleRule): Moments {
  try {
    Intl.DateTimeFormat("en", { timeZone: rule.timezone });
  } catch {
    throw new InvalidOptions("schedule", [
      `timezone: expected an IANA timezone, such as "Europe/Berlin", and not ${JSON.stringify(rule.timezone)}`,
    ]);
  }
  try {
    const moments = new Moments(rule);
    if (moments.after(0) !== null) return moments;
  } catch (error) {
    throw new InvalidOptions("schedule", [`cron: ${thrownText(error)}`]);
  }
  throw new InvalidOptions("schedule", [
    `cron: ${JSON.stringify(rule.cron)} has no moment, such as a 30 February`,
  ]);
}

/**
 * Whether the definition is one of a later deployment than the stored one: what was removed is brought back by its own version
 * alone. Throws where it differs without being one.
 */
function isLater(definition: Definition, stored: ScheduleRow): boolean {
  const [given, before] = [definition.workflow, stored.workflow];
  const byWorkflow = nameOf(given) === nameOf(before) ? versionOf(given) - versionOf(before) : 0;
  const order = definition.definition - stored.definition;
  if (order !== 0) return order > 0;
  if (byWorkflow !== 0) return byWorkflow > 0 && isThere(stored);
  // An input may hold what belongs in no log.
  const shown = (field: keyof Definition): string =>
    field === "input" ? "" : `: was ${stored[field]}, is ${definition[field]}`;
  const differences = (["workflow", "cron", "timezone", "missed", "input"] as const)
    .filter((field) => definition[field] !== stored[field])
    .map((field) => `${field} has changed under an unchanged version${shown(field)}; raise version`);
  if (differences.length > 0) throw new InvalidOptions("schedule", differences);
  return false;
}

const isSameRule = (a: ScheduleRule, b: ScheduleRule): boolean =>
  a.cron === b.cron && a.timezone === b.timezone;

/** @throws InvalidOptions for a rule that would start nothing. */
function checkToCome(moments: Moments, { cron }: ScheduleRule, now: number): void {
  if (moments.after(now) !== null) return;
  const last = new Date(moments.until(now) ?? 0).toISOString();
  throw new InvalidOptions("schedule", [
    `cron: ${JSON.stringify(cron)} has no moment to come: its last was ${last}`,
  ]);
}

function newRow(id: string, definition: Definition, next: number | null): ScheduleRow {
  return { id, version: 1, ...definition, next, last: null, pausedAt: null, removedAt: null };
}

/** `nextOf` tells the next moment by the new rule from the one by the old rule. */
function changedRow(
  stored: ScheduleRow,
  definition: Definition,
  nextOf: (old: number | null) => number | null,
): ScheduleRow {
  const keepsNext = isThere(stored) && (isSameRule(definition, stored) || stored.pausedAt !== null);
  return {
    ...stored,
    ...definition,
    next: keepsNext ? stored.next : nextOf(stored.next),
    removedAt: null,
  };
}

async function isStored(
  { storage }: ScheduleParts,
  row: ScheduleRow,
  stored: ScheduleRow | null,
): Promise<boolean> {
  const { id, version, ...set } = row;
  const write =
    stored === null
      ? { table: SCHEDULES, insert: row }
      : { table: SCHEDULES, id, set, expectedVersion: version };
  return (await commitOne(storage, { writes: [write] })).ok;
}
