/** `paystate/engine`: durable XState workflows for anything, without payments. */
export { createEngine } from "./create-engine.ts";
export type { Engine } from "./create-engine.ts";
export { column, defineTable } from "../../storage/table.ts";
export type {
  Column,
  GroupOptions,
  Index as TableIndex,
  IndexOptions,
  Json,
  Row,
  RowOf,
  Table,
  TableOptions,
  Values as ColumnValues,
} from "../../storage/table.ts";
export { startOf, workflow } from "../workflow/workflow.ts";
export type { AnyWorkflow, ProjectedStep, Workflow, WorkflowOptions } from "../workflow/workflow.ts";
export { InvalidOptions } from "../core/options.ts";
export { MigrationFailed } from "../workflow/migrations.ts";
export type {
  AnyMigration,
  PreviousInstance,
  MigratedInstance,
  Migration as InstanceMigration,
  Migrations as InstanceMigrations,
} from "../workflow/migrations.ts";
export { ChangedChart, UnknownWorkflow } from "../workflow/workflow-registry.ts";
export { systemClock } from "../core/runtime.ts";
export type { Clock, Logger, Random } from "../core/runtime.ts";
export type { EachActs, EachJob, EachOptions, EachProgress } from "./modules/jobs/each-commands.ts";
export type { EngineOptions } from "./engine-options.ts";
export type { WatchStatus, PollContext, Watcher, WatchEvent } from "./watcher-options.ts";
export type { WatchRecord } from "../workflow/watch-rows.ts";
export type { WatchedKey } from "../workflow/watch-option.ts";
export type { CommittedStep, CommitAdditions } from "./kernel/step-commit-writer.ts";
export type { AskOptions, StartOrSendResult } from "./modules/ask/ask.ts";
export type { SendResult } from "./kernel/step-handler.ts";
export type {
  ChartSnapshot,
  ChildLink,
  ParentLink,
  PlannedEffect,
  StateMeta,
  Voice,
} from "../workflow/chart.ts";
export { ActRefused } from "./inspected-engine.ts";
export type { InspectListener } from "./inspection-feed.ts";
export { EngineStopped, StateNotReached } from "./reading/waiting.ts";
export type { WaitTarget } from "./reading/waiting.ts";
export type { WaitOptions } from "./reading/workflow-reads.ts";
export type { InstanceReads } from "./reading/reads.ts";
export type { TroubleCount } from "./kernel/troubles.ts";
export type {
  HistoryEntry,
  InstanceList,
  InstanceQuery,
  InstanceView,
  PendingWork,
  SnapshotOf,
  StateName,
  WorkflowQuery,
} from "./reading/views.ts";
export type { RemoveResult, StopResult } from "./instance-commands.ts";
export type { TroubledTask } from "./kernel/troubled-tasks.ts";
export type { StartParams, TellParams } from "../workflow/messages.ts";
export type { VoicedAction } from "../workflow/step-result.ts";
export type { ActorOptions, ChildOptions } from "../workflow/actor-options.ts";
export type { Duration } from "../core/duration.ts";
export type { Archive } from "./retention/archiving.ts";
export type { RemovalStatus } from "./retention/retention-loop.ts";
export type { ArchivedInstance } from "./retention-options.ts";
export type { RetentionStatus } from "./modules/retention/retention.ts";
export type { ScheduleDefinition } from "./modules/schedules/define-schedule.ts";
export type { ScheduleCommands } from "./modules/schedules/schedule-commands.ts";
export type { MissedMoments, ScheduleView } from "./modules/schedules/stored-schedules.ts";
export type { StepCause, TaskCause } from "../workflow/step-cause.ts";
export { CommitRefused } from "./modules/host-sql/within.ts";
export type { WithinResult, HostAdditions, WithinOptions } from "./modules/host-sql/within.ts";
export type { SqlTransaction, SqlOutcome } from "../workflow/host-sql.ts";
export { NonRetryable } from "../workflow/retry.ts";
export type { Retry } from "../workflow/retry.ts";
export { UnstorableValue } from "../workflow/values.ts";
export { currentRun } from "./kernel/current-run.ts";
export type { Effect, EffectHandler, EffectOutcome } from "../workflow/effects.ts";
export type { CommittingStep, DoneWithStep } from "../workflow/with-step.ts";
export type { OutcomeRefusal, ProjectedRow } from "../workflow/carried.ts";
export type { EffectRun, StartRefusal, StartRequest, WorkflowHandle } from "../workflow/effect-run.ts";
export type { OwnLimit, RatedLimit } from "../workflow/own-limit.ts";
export type { TaskRate } from "../workflow/rate-option.ts";
export type { KeyLimit } from "./modules/rates/rate-limit.ts";
export { CommitUnknown } from "../../storage/decided.ts";
