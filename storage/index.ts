/** `paystate/storage`: what a storage adapter of your own is written with, none of it bound to a database. */
export { compareTexts } from "./compare-texts.ts";
export { engineTables, type EngineTables } from "./engine-tables.ts";
export type { StoredTask } from "./engine-tables.ts";
export { isAsExpected } from "./expected-fields.ts";
export { definitionOf, NotInstalled, planInstall } from "./install-plan.ts";
export { hasRoom, nextAdmitted } from "./limits.ts";
export { selectionOf } from "./query.ts";
export { copyChanges, copyRow, type Field } from "./row.ts";
export { planLeases } from "./named-leases.ts";
export { StorageUnusable } from "./storage-unusable.ts";
export { amended, claimed, pendingTask, released, retried } from "./stored-task.ts";
export { storedTask, taskRecord } from "./stored-task.ts";
export { extended, nextSuspectAt, suspected, suspectsInTurn, withoutPlaceOf } from "./suspects.ts";
export { queueOf } from "./task-queues.ts";
export { unsettled } from "./unsettled.ts";
