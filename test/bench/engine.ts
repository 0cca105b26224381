/** Durable workflows of four steps on SQLite, beside the same rows written by hand. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { assign, setup } from "xstate";
import type { PaymentTables } from "../../storage/storage.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { createEngine, workflow } from "../../src/engine/index.ts";
import { inParallel, timed } from "./figures.ts";
import type { Report } from "./figures.ts";

const WORKFLOWS = 4_000;
const ALONE = 400;
const COMMITS_EACH = 5;
const RAW_GROUP = 64;

const chart = setup({
  types: {
    context: {} as { done: number },
    events: {} as { type: "WORKED" },
  },
  actions: { work: (_, _params: { step: number }) => {} },
  guards: { isLast: ({ context }) => context.done === 4 },
}).createMachine({
  id: "bench",
  context: () => ({ done: 0 }),
  initial: "working",
  states: {
    working: {
      entry: { type: "work", params: ({ context }) => ({ step: context.done }) },
      on: {
        WORKED: {
          target: "judging",
          actions: assign({ done: ({ context }) => context.done + 1 }),
        },
      },
    },
    judging: { always: [{ guard: "isLast", target: "done" }, { target: "working" }] },
    done: { type: "final" },
  },
});

/** Five commits each: the start and four steps, each with one effect before it and one notice in it. */
async function workflowsPerSecond(path: string, total: number, atOnce: number): Promise<number> {
  const storage = await sqliteStorage(path);
  const benches = workflow(chart)<PaymentTables>({
    version: 1,
    effects: { work: async () => ({ event: { type: "WORKED" } }) },
    project: ({ id, before, after }, at) =>
      before === null
        ? []
        : [
            {
              table: "notices",
              insert: {
                id: `${id}:${after.context.done}`,
                transactionId: id,
                event: "transaction.pending",
                status: "pending",
                reason: null,
                signature: null,
                blockTime: null,
                fee: null,
                body: null,
                createdAt: at,
              },
            },
          ],
  });
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

/** The same rows by hand-written SQL on the driver itself: what the storage could do if nobody checked anything. */
function rawWorkflowsPerSecond(path: string, total: number, group: number): number {
  const db = new Database(path);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec(`create table instances (id text primary key, version integer, status text, snapshot text);
    create table tasks (id text primary key, instance text, payload text, due integer);
    create table history (instance text, version integer, event text, value text, primary key (instance, version));
    create table notices (id text primary key, tx text, event text, at integer);`);
  const insertInstance = db.prepare("insert into instances values (?, 1, 'active', ?)");
  const updateInstance = db.prepare(
    "update instances set version = ?, snapshot = ? where id = ? and version = ?",
  );
  const insertTask = db.prepare("insert into tasks values (?, ?, ?, ?)");
  const deleteTask = db.prepare("delete from tasks where id = ?");
  const insertHistory = db.prepare("insert into history values (?, ?, ?, ?)");
  const insertNotice = db.prepare("insert into notices values (?, ?, ?, ?)");
  const snapshot = JSON.stringify({ value: "working", context: { done: 0 }, status: "active" });

  const commit = (id: string, version: number): void => {
    if (version === 1) insertInstance.run(id, snapshot);
    else {
      deleteTask.run(`${id}:${version - 1}`);
      updateInstance.run(version, snapshot, id, version - 1);
      insertNotice.run(`${id}:${version}`, id, "transaction.pending", version);
    }
    if (version < COMMITS_EACH) insertTask.run(`${id}:${version}`, id, "{}", version);
    insertHistory.run(id, version, '{"type":"WORKED"}', '"working"');
  };
  const commits = Array.from({ length: total * COMMITS_EACH }, (_, index) => index);
  const began = performance.now();
  for (let start = 0; start < commits.length; start += group) {
    db.exec("begin immediate");
    for (const index of commits.slice(start, start + group)) {
      commit(`raw-${Math.floor(index / COMMITS_EACH)}`, (index % COMMITS_EACH) + 1);
    }
    db.exec("commit");
  }
  const seconds = (performance.now() - began) / 1_000;
  db.close();
  return total / seconds;
}

/** Concurrency 1, 50 and 200, beside raw writes in groups and one by one. */
export async function benchEngine(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const file = (name: string): string => join(folder, `${name}.db`);
  try {
    const grouped = rawWorkflowsPerSecond(file("raw"), WORKFLOWS, RAW_GROUP);
    const single = rawWorkflowsPerSecond(file("raw-single"), ALONE, 1);
    report({ name: `engine raw SQL, groups of ${RAW_GROUP}`, perSecond: grouped });
    report({ name: "engine raw SQL, one by one", perSecond: single });
    for (const atOnce of [1, 50, 200]) {
      const total = atOnce === 1 ? ALONE : WORKFLOWS;
      const perSecond = await workflowsPerSecond(file(`engine-${atOnce}`), total, atOnce);
      const reference = atOnce === 1 ? single : grouped;
      report({ name: `engine workflows, ${atOnce} at once`, perSecond, "of raw": perSecond / reference });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
