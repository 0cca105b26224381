/** `paystate/storage`: what a storage adapter of your own is written with, none of it bound to a database. */
export { compareTexts } from "./compare-texts.ts";
export { engineTables, type EngineTable, type EngineTables } from "./engine-tables.ts";
export type { StoredLease, StoredTask } from "./engine-tables.ts";
export { expectedFields, timeField } from "./expected-fields.ts";
export { definitionOf, NotInstalled, planInstall } from "./install-plan.ts";
export type { Definition, MigrationPlan, StoredTable } from "./install-plan.ts";
export { hasRoom, nextAdmitted, type LimitedTasks } from "./limits.ts";
export { selectionOf, type AnyQuery, type Selection } from "./query.ts";
export { copyChanges, copyRow, type Described, type Field } from "./row.ts";
export { type LeasePlan, planLeases } from "./named-leases.ts";
export { StorageUnusable, type StorageUnusableCode } from "./storage-unusable.ts";
export { amended, claimed, pendingTask, released, retried } from "./stored-task.ts";
export { storedTask, taskRecord, type TaskClaim } from "./stored-task.ts";
export { extended, nextSuspectAt, suspected, suspectsInTurn, withoutPlaceOf } from "./suspects.ts";
export type { SuspectClaim } from "./suspects.ts";
export { queueOf } from "./task-queues.ts";
export type { ColumnOf, KindOf } from "./table.ts";
export { unsettled } from "./unsettled.ts";
