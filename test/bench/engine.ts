/** Durable workflows of four steps on SQLite, beside the same rows written by hand. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { fromPromise, setup, type AnyStateMachine } from "xstate";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import type { PaymentTables } from "../../src/payments/tables.ts";
import { sqliteStorage } from "../kit/storages.ts";
import {
  createEngine,
  workflow,
  type Workflow,
  type WorkflowOptions,
  type Write,
} from "../../src/engine/index.ts";
import { inParallel, timed, warmed, type Report } from "./figures.ts";

const WORKFLOWS = 4_000;
const ALONE = 1_000;
const COMMITS_EACH = 5;
const RAW_GROUP = 64;

const { createMachine, assign } = setup({
  types: {
    context: {} as { done: number },
    events: {} as { type: "WORKED" },
  },
  actions: { work: (_, _params: { step: number }) => {} },
});
const counted = assign({ done: ({ context }) => context.done + 1 });
const chart = createMachine({
  id: "bench",
  context: () => ({ done: 0 }),
  initial: "one",
  states: {
    one: {
      entry: { type: "work", params: { step: 1 } },
      on: { WORKED: { target: "two", actions: counted } },
    },
    two: {
      entry: { type: "work", params: { step: 2 } },
      on: { WORKED: { target: "three", actions: counted } },
    },
    three: {
      entry: { type: "work", params: { step: 3 } },
      on: { WORKED: { target: "four", actions: counted } },
    },
    four: {
      entry: { type: "work", params: { step: 4 } },
      on: { WORKED: { target: "done", actions: counted } },
    },
    done: { type: "final" },
  },
});

const invoking = setup({
  types: { context: {} as { done: number } },
  actors: { work: fromPromise<void, { step: number }>(async () => {}) },
});
const invoked = (step: number, target: string) =>
  ({
    invoke: {
      src: "work",
      input: { step },
      onDone: { target, actions: invoking.assign({ done: ({ context }) => context.done + 1 }) },
    },
  }) as const;
const invokingChart = invoking.createMachine({
  id: "bench",
  context: () => ({ done: 0 }),
  initial: "one",
  states: {
    one: invoked(1, "two"),
    two: invoked(2, "three"),
    three: invoked(3, "four"),
    four: invoked(4, "done"),
    done: { type: "final" },
  },
});

const project = (
  {
    id,
    before,
    after,
  }: Parameters<NonNullable<WorkflowOptions<AnyStateMachine, PaymentTables>["project"]>>[0],
  at: number,
): readonly Write<PaymentTables>[] =>
  before === null
    ? []
    : [
        {
          table: "notices",
          insert: {
            id: `${id}:${(after.context as { done: number }).done}`,
            transactionId: id,
            event: "transaction.pending",
            status: "pending",
            reason: null,
            signature: null,
            blockTime: null,
            fee: null,
            body: null,
            webhooks: null,
            createdAt: at,
          },
        },
      ];

export const withEffects = workflow(chart)<PaymentTables>({
  version: 1,
  effects: { work: async () => ({ event: { type: "WORKED" } }) },
  project,
});
export const withInvocations = workflow(invokingChart)<PaymentTables>({ version: 1, project });

/** How many at once, and of what; default effects. */
export interface BenchedWorkflows {
  readonly atOnce: number;
  readonly benches?: Workflow<AnyStateMachine, PaymentTables>;
}

/** Five commits each: the start and four steps, each with one effect before it and one notice in it. */
export async function workflowsPerSecond(
  storage: PaymentStorage,
  total: number,
  { atOnce, benches = withEffects }: BenchedWorkflows,
): Promise<number> {
  const engine = createEngine<PaymentTables>({ storage, workflows: [benches], slots: 256 });
  const ended = new Map<string, () => void>();
  engine.subscribe(({ commit: { step } }) => {
    if (step?.status === "done") ended.get(step.id)?.();
  });
  engine.run();
  const one = async (index: number): Promise<void> => {
    const id = `bench-${index}`;
    const end = new Promise<void>((resolve) => {
      ended.set(id, resolve);
    });
    await engine.start(benches, { id, input: undefined });
    await end;
    ended.delete(id);
  };
  const { seconds } = await timed(() => inParallel(total, atOnce, one));
  await engine.stop();
  await storage.close();
  return total / seconds;
}

/**
 * Workflow and version of each commit: a transaction has one commit of each of `group` workflows, since the next commit of a
 * workflow follows what its last one has made durable.
 */
const rawCommits = (total: number, group: number): readonly (readonly [number, number])[] =>
  Array.from({ length: Math.ceil(total / group) }, (_, block) => block * group).flatMap((first) =>
    Array.from({ length: COMMITS_EACH }, (_, made) => made + 1).flatMap((version) =>
      Array.from({ length: Math.min(group, total - first) }, (_, index) => [first + index, version] as const),
    ),
  );

/**
 * The same rows in the same tables, by hand-written SQL on the driver itself: what the storage could do if nobody decided
 * anything. As many transactions too: one for each group of commits.
 */
async function rawWorkflowsPerSecond(path: string, total: number, group: number): Promise<number> {
  // Creates the tables.
  await (await sqliteStorage(path)).close();
  const db = new Database(path);
  db.pragma("synchronous = FULL");
  const insertInstance = db.prepare(
    `insert into paystateInstances (id, stamp, life, workflow, hash, version, status, snapshot, createdAt, updatedAt)
     values (?, ?, ?, ?, ?, 1, 'active', ?, ?, ?)`,
  );
  const updateInstance = db.prepare(
    `update paystateInstances set version = version + 1, stamp = ?, workflow = ?, hash = ?, status = ?, snapshot = ?, updatedAt = ?
     where id = ? and stamp = ?`,
  );
  const insertTask = db.prepare(
    `insert into paystateTasks (id, instance, workflow, kind, name, payload, dueAt, visibleAt, holder, token, crashes, failures)
     values (?, ?, ?, 'effect', 'work', ?, ?, ?, ?, 1, 0, 0)`,
  );
  const deleteTask = db.prepare("delete from paystateTasks where id = ? and token = 1");
  const insertHistory = db.prepare(
    "insert into paystateHistory (instance, version, stamp, at, event, value) values (?, ?, ?, ?, ?, ?)",
  );
  const insertNotice = db.prepare(
    `insert into paystateNotices (id, transactionId, event, status, createdAt)
     values (?, ?, 'transaction.pending', 'pending', ?)`,
  );
  const workflowKey = "bench@1";
  const hash = "0123456789abcdef";
  const lease = 15_000;

  const commit = (id: string, version: number): void => {
    const at = Date.now();
    const status = version === COMMITS_EACH ? "done" : "active";
    const snapshot = JSON.stringify({ value: "working", context: { done: version - 1 }, status });
    const [stamp, before] = [stampOf(id, version), stampOf(id, version - 1)];
    if (version === 1) insertInstance.run(id, stamp, stamp, workflowKey, hash, snapshot, at, at);
    else {
      deleteTask.run(`${id}:${before}:0`);
      updateInstance.run(stamp, workflowKey, hash, status, snapshot, at, id, before);
      insertNotice.run(`${id}:${version - 1}`, id, at);
    }
    if (version < COMMITS_EACH) {
      const payload = JSON.stringify({ step: version });
      insertTask.run(`${id}:${stamp}:0`, id, workflowKey, payload, at, at + lease, hash);
    }
    insertHistory.run(id, version, stamp, at, '{"type":"WORKED"}', '"working"');
  };
  const commits = rawCommits(total, group);
  const began = performance.now();
  for (let start = 0; start < commits.length; start += group) {
    db.exec("begin immediate");
    for (const [index, version] of commits.slice(start, start + group)) commit(`raw-${index}`, version);
    db.exec("commit");
  }
  const seconds = (performance.now() - began) / 1_000;
  db.close();
  return total / seconds;
}

/** As long as a stamp of the engine. */
const stampOf = (id: string, version: number): string => `${id}.${version}`.padStart(19, "0");

/** What is measured: a name, how many at once, and by what. */
interface Measure {
  readonly name: string;
  readonly atOnce: number;
  readonly window: (path: string) => Promise<number>;
}

const ofEngine = (name: string, benches: Workflow<AnyStateMachine, PaymentTables>): readonly Measure[] =>
  [1, 50, 200].map((atOnce) => ({
    name: `engine ${name}, ${atOnce} at once`,
    atOnce,
    window: async (path) =>
      workflowsPerSecond(await sqliteStorage(path), atOnce === 1 ? ALONE : WORKFLOWS, { atOnce, benches }),
  }));

const raw = (group: number): Measure => ({
  name: `engine raw SQL, ${group} at once`,
  atOnce: group,
  window: (path) => rawWorkflowsPerSecond(path, group === 1 ? ALONE : WORKFLOWS, group),
});

const RAW = [raw(1), raw(RAW_GROUP)];

/** Concurrency 1, 50 and 200, beside raw writes in groups and one by one, each in a file of its own. */
export async function benchEngine(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  let files = 0;
  const measures = [...RAW, ...ofEngine("effects", withEffects), ...ofEngine("invocations", withInvocations)];
  try {
    const found = await warmed(
      measures.map(({ window }) => async () => ({
        perSecond: await window(join(folder, `${files++}.db`)),
      })),
    );
    const [alone, grouped] = found.map(({ warm }) => warm.perSecond);
    for (const [index, { cold, warm }] of found.entries()) {
      const reference = measures[index]?.atOnce === 1 ? alone : grouped;
      report({
        name: measures[index]?.name ?? "",
        perSecond: warm.perSecond,
        "of raw": warm.perSecond / (reference ?? NaN),
        "cold /s": Math.round(cold.perSecond),
      });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
