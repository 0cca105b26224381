/** The rows of a workflow of four steps, by hand: the start, then in each step an effect done, one armed, and a notice. */
import type { RowsByHand } from "./rows-by-hand.ts";

const COMMITS = 5;
const WORKFLOW = "bench@1";
const HASH = "0123456789abcdef";
const RESULTS = [1, 2, 3, 4];
const LEASE_MS = 15_000;

/** As long as a stamp of the engine. */
const stampOf = (id: string, version: number): string => `${id}.${version}`.padStart(19, "0");

export const workflowRows: RowsByHand = {
  commits: COMMITS,
  prepare(database) {
    const insertInstance = database.prepare(
      `insert into paystateInstances (id, stamp, life, workflow, hash, version, status, snapshot, createdAt, updatedAt)
       values (?, ?, ?, ?, ?, 1, 'active', ?, ?, ?)`,
    );
    const updateInstance = database.prepare(
      `update paystateInstances set version = version + 1, stamp = ?, workflow = ?, hash = ?, status = ?, snapshot = ?, updatedAt = ?
       where id = ? and stamp = ?`,
    );
    const insertTask = database.prepare(
      `insert into paystateTasks (id, instance, workflow, kind, name, payload, dueAt, visibleAt, holder, token, crashes, failures)
       values (?, ?, ?, 'effect', 'work', ?, ?, ?, ?, 1, 0, 0)`,
    );
    const deleteTask = database.prepare("delete from paystateTasks where id = ? and token = 1");
    const insertHistory = database.prepare(
      "insert into paystateHistory (instance, version, stamp, at, event, value) values (?, ?, ?, ?, ?, ?)",
    );
    const insertNotice = database.prepare(
      `insert into paystateNotices (id, transactionId, event, status, createdAt)
       values (?, ?, 'transaction.pending', 'pending', ?)`,
    );
    return (unit, version) => {
      const id = `raw-${unit}`;
      const at = Date.now();
      const status = version === COMMITS ? "done" : "active";
      const snapshot = JSON.stringify({
        value: "working",
        context: { results: RESULTS.slice(0, version - 1) },
        status,
      });
      const [stamp, before] = [stampOf(id, version), stampOf(id, version - 1)];
      if (version === 1) insertInstance.run(id, stamp, stamp, WORKFLOW, HASH, snapshot, at, at);
      else {
        deleteTask.run(`${id}:${before}:0`);
        updateInstance.run(stamp, WORKFLOW, HASH, status, snapshot, at, id, before);
        insertNotice.run(`${id}:${version - 1}`, id, at);
      }
      if (version < COMMITS) {
        const payload = JSON.stringify({ step: version });
        insertTask.run(`${id}:${stamp}:0`, id, WORKFLOW, payload, at, at + LEASE_MS, HASH);
      }
      insertHistory.run(id, version, stamp, at, '{"type":"WORKED"}', '"working"');
    };
  },
};
