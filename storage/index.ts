/** `paystate/storage`: what a storage adapter of your own is written with, none of it bound to a database. */
export { applyCommit, type CommitTarget } from "./apply-commit.ts";
export { compareTexts } from "./compare-texts.ts";
export { engineTables, type EngineTables, type StoredTask } from "./engine-tables.ts";
export { isAsExpected } from "./expected-fields.ts";
export { definitionOf, NotInstalled, planInstall } from "./install-plan.ts";
export { type AnyQuery, selectionOf } from "./query.ts";
export { copyChanges, copyRow, type Field } from "./row.ts";
export { planLeases } from "./named-leases.ts";
export { StorageUnusable } from "./storage-unusable.ts";
export { TaskQueue } from "./task-queue.ts";
export type { GoneTask, ClaimQueueName, TaskRow, TaskRows } from "./task-rows.ts";
