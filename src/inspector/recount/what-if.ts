/** Computes the effect of an event on a copy of an instance, without storing or carrying out anything. */
import type { EventObject } from "xstate";
import type { EngineStorage, TaskRecord } from "../../../storage/storage.ts";
import { LifeUnknown } from "../../workflow/actor-address.ts";
import { withLife } from "../../engine/kernel/child-lives.ts";
import type { ChartSnapshot } from "../../workflow/chart.ts";
import { StepPlan, type PlannedStep } from "../../workflow/plan-step.ts";
import type { KnownInstance } from "../../workflow/step-context.ts";
import { watchedIn, type WatchedKey } from "../../workflow/watch-option.ts";
import { WorkflowRegistry } from "../../workflow/workflow-registry.ts";
import type { AnyWorkflow } from "../../workflow/workflow.ts";

/** A row of a table that would be written. */
export interface PlannedWrite {
  readonly table: string;
  readonly [part: string]: unknown;
}

/** The step that an event would make. */
export interface ImaginedStep {
  readonly after: ChartSnapshot;
  /** Effects, invocations, timers and messages that would be armed. */
  readonly arms: readonly TaskRecord[];
  /** Timers and invocations that would end. */
  readonly disarms: readonly string[];
  readonly watches: readonly WatchedKey[];
  readonly unwatches: readonly WatchedKey[];
  /** Instances that would begin. */
  readonly starts: readonly string[];
  readonly writes: readonly PlannedWrite[];
}

/** The result of an imagined event: a step, nothing at all, or a reason why it cannot be known. */
export type ImaginedResult =
  | { readonly kind: "step"; readonly step: ImaginedStep }
  | { readonly kind: "nothing" }
  | { readonly kind: "refused"; readonly reason: string };

/** An instance as it stood, or stands. */
interface StandingInstance {
  readonly workflow: AnyWorkflow;
  readonly instance: KnownInstance;
  readonly snapshot: ChartSnapshot;
}

/** No step has this stamp: nothing of this is stored. */
const IMAGINED = "imagined";

interface ImaginedWorld {
  readonly workflows: readonly AnyWorkflow[];
  readonly at: number;
  /** Asked for children whose addresses the step compares, and for nothing else. */
  readonly storage: Pick<EngineStorage, "load">;
}

export async function imagine(
  standing: StandingInstance,
  event: EventObject,
  around: ImaginedWorld,
): Promise<ImaginedResult> {
  const { workflows, at, storage } = around;
  try {
    const plan = new StepPlan({
      newMoment: () => ({ at, stamp: IMAGINED }),
      workflows: new WorkflowRegistry(workflows),
    });
    const planned = plan.step({ ...standing, event });
    const first = planned?.[0];
    return planned === null || first === undefined
      ? { kind: "nothing" }
      : { kind: "step", step: imagined(standing.snapshot, first, planned.slice(1)) };
  } catch (error) {
    if (error instanceof LifeUnknown) {
      const told = await withLife(storage, error, { ...standing, event });
      if (told !== null) return imagine(standing, told, around);
    }
    return { kind: "refused", reason: error instanceof Error ? error.message : String(error) };
  }
}

function imagined(
  before: ChartSnapshot,
  { after, follows }: PlannedStep,
  born: readonly PlannedStep[],
): ImaginedStep {
  const [had, has] = [watchedIn(before), watchedIn(after)];
  return {
    after,
    arms: follows.arms,
    disarms: follows.disarms.map(({ timer }) => timer),
    watches: missingFrom(had, has),
    unwatches: missingFrom(has, had),
    starts: born.flatMap(({ start }) => (start === null ? [] : [start.id])),
    writes: follows.writes,
  };
}

const missingFrom = (present: readonly WatchedKey[], wanted: readonly WatchedKey[]): readonly WatchedKey[] =>
  wanted.filter(({ kind, key }) => !present.some((watch) => watch.kind === kind && watch.key === key));
