/** Small commits and rows that the cases of the storage contract are written with. */
import assert from "node:assert/strict";
import type { PaymentTables, PaymentStorage } from "../../../src/payments/payment-storage.ts";
import type {
  ClaimedTask,
  ClaimRequest,
  Commit,
  CommitResult,
  EngineStorage,
  InstanceRecord,
  StepRecord,
  TaskRecord,
} from "../../../storage/storage.ts";
import { commitOne } from "../../../storage/decided.ts";

export type PaymentCommit = Commit<PaymentTables>;

export const ok: CommitResult = { ok: true };

/** How a commit ends whose write at this index is refused. */
export const refusedWrite = (index: number): CommitResult => ({ ok: false, conflict: "write", index });

/** The workflow all samples belong to unless they say otherwise. */
export const WORKFLOW = "sample@1";

export const LEASE = 1_000;

type Start = Omit<InstanceRecord, "version" | "updatedAt" | "life">;

/** The stamp of the step that makes this version of a sample. */
export const stampOf = (version: number): string => `s${version}`;

export const startOf = (id: string, changes: Partial<Start> = {}): Start => ({
  id,
  stamp: stampOf(1),
  parent: null,
  workflow: WORKFLOW,
  hash: "hash",
  status: "active",
  snapshot: `{"value":"new"}`,
  createdAt: 1,
  ...changes,
});

/** The step after this version. */
export const stepOf = (id: string, version: number, changes: Partial<StepRecord> = {}): StepRecord => ({
  id,
  after: stampOf(version),
  stamp: stampOf(version + 1),
  workflow: WORKFLOW,
  hash: "hash",
  status: "active",
  snapshot: `{"value":"stepped"}`,
  at: 2,
  ...changes,
});

export const taskOf = (id: string, changes: Partial<TaskRecord> = {}): TaskRecord => ({
  id,
  instance: "i",
  workflow: WORKFLOW,
  kind: "effect",
  name: "work",
  payload: "{}",
  dueAt: 0,
  limits: [],
  ...changes,
});

export const limitedTo = (
  id: string,
  key: string,
  atMost: number,
  changes: Partial<TaskRecord> = {},
): TaskRecord => taskOf(id, { limits: [{ key, atMost }], ...changes });

export const hit = (id: string, at: number, scope = "requests"): PaymentTables["limitHits"] => ({
  id,
  accountId: "a",
  scope,
  at,
});

// modules: webhooks
export const webhookOf = (
  id: string,
  changes: Partial<PaymentTables["webhooks"]> = {},
): PaymentTables["webhooks"] => ({
  id,
  version: 1,
  accountId: "a",
  url: "https://example.com/",
  events: ["transaction.completed"],
  sealedSecret: null,
  previousSealedSecret: null,
  previousUntil: null,
  disabledAt: null,
  disabledReason: null,
  enabledAt: 1,
  createdAt: 1,
  deletedAt: null,
  ...changes,
});

/**
 * Commits one item and answers how it ended, but for whether it has admitted what was parked. Rejects with the error of
 * one that has failed.
 */
export async function commit(
  storage: Pick<EngineStorage, "commit">,
  item: PaymentCommit,
): Promise<CommitResult> {
  const result = await commitOne(storage, item);
  if (!result.ok || result.parked === undefined) return result.ok ? ok : result;
  return { ok: true, parked: result.parked };
}

/** Commits one item that must succeed. */
export async function put(storage: PaymentStorage, item: PaymentCommit): Promise<void> {
  assert.deepEqual(await commit(storage, item), ok);
}

export const arm = (storage: PaymentStorage, ...tasks: readonly TaskRecord[]): Promise<void> =>
  put(storage, { arms: tasks.map((task) => ({ task })) });

/** Claims with hands for everything. */
export const claim = (
  storage: Pick<PaymentStorage, "claim">,
  now: number,
  changes: Partial<ClaimRequest> = {},
): Promise<readonly ClaimedTask[]> =>
  storage.claim({
    holder: "h",
    now,
    leaseMs: LEASE,
    workflows: [WORKFLOW],
    steps: 100,
    free: 100,
    limited: 100,
    maxCrashes: 3,
    ...changes,
  });

/** Claims the one task that is due. */
export async function claimOne(
  storage: PaymentStorage,
  now: number,
  changes: Partial<ClaimRequest> = {},
): Promise<ClaimedTask> {
  const [task, ...more] = await claim(storage, now, changes);
  assert.ok(task, "a task is due");
  assert.deepEqual(more, [], "no other is");
  return task;
}

/** The one task that is due ends two holders, and is a dead letter at this time. Answers what the claim that finds it so leases. */
export async function endHolders(storage: PaymentStorage, now: number): Promise<readonly ClaimedTask[]> {
  for (const death of [2, 1]) await claimOne(storage, now - death * LEASE);
  return claim(storage, now, { maxCrashes: 1 });
}

export const ids = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);

/** The numbers 0 … count − 1. */
export const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** Alternates between handles, so that racers come from both. */
export const either = (index: number, ...handles: readonly PaymentStorage[]): PaymentStorage => {
  const handle = handles[index % handles.length];
  assert.ok(handle);
  return handle;
};
