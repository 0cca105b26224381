/** Breaks of what the engine promises when a commit fails, a storage is out, or a process stops. */
import type { Break } from "../break.ts";

const WORKER = "src/engine/worker.ts";
const IN_HAND = "src/engine/tasks-in-hand.ts";
const STOPPING = ["engine/stopping.test.ts"];

export const ENGINE_BREAKS: readonly Break[] = [
  {
    property: "a holder that was only late has its tasks back",
    file: "storage/suspects.ts",
    text: "if (!isInLine(task)) return null;",
    replacement: "if (task.token >= 0) return null;",
    tests: ["engine/outages.test.ts", "storage/contract.test.ts"],
  },
  {
    property: "after an outage the heartbeats come before the claims",
    file: "src/engine/after-outage.ts",
    text: "return this.#halfLeaseMs - passed;",
    replacement: "return 0;",
    tests: ["engine/outages.test.ts"],
  },
  {
    property: "what was claimed while stopping is given back",
    file: WORKER,
    text: "await Promise.all(tasks.map((task) => this.#inHand.giveBack(task)));",
    replacement: "await Promise.all(tasks.map(() => undefined));",
    tests: STOPPING,
  },
  {
    property: "what was armed for this process while stopping is given back",
    file: WORKER,
    text: "if (this.#stopping === null) void this.#inHand.giveBack(task);",
    replacement: "if (this.#stopping === null) continue;",
    tests: STOPPING,
  },
  {
    property: "what was begun and does not end in time is given back",
    file: IN_HAND,
    text: "await Promise.all(left.map(({ task }) => this.giveBack(task)));",
    replacement: "",
    tests: STOPPING,
  },
  {
    property: "stopping returns although the storage hangs",
    file: "src/engine/engine.ts",
    text: "await Promise.race([stopped, tooLong])",
    replacement: "await Promise.race([stopped, tooLong.then(() => stopped)])",
    tests: STOPPING,
  },
  {
    property: "a stopped process gives its shards up at once",
    file: "src/engine/kind-polling.ts",
    text: "this.#isClosed = true;\n    await this.#share.giveUp(this.#around.clock.now());",
    replacement: "this.#isClosed = true;",
    tests: ["engine/watches.test.ts", "engine/shards.test.ts"],
  },
  {
    property: "no secret stands in the last error of a task",
    file: IN_HAND,
    text: "redactionOf(log)(thrownText(error))",
    replacement: "thrownText(error)",
    tests: ["engine/putting-right.test.ts"],
  },
  {
    property: "no pause that is longer than a timer of Node can be ends at once",
    file: "src/runtime.ts",
    text: "ms > MAX_TIMER_MS ? sleepLong(ms, signal) : waitForTimer(ms, signal)",
    replacement: "ms < 0 ? sleepLong(ms, signal) : waitForTimer(ms, signal)",
    tests: ["core/runtime.test.ts"],
  },
  {
    property: "an edited chart is refused while an instance is open",
    file: "src/engine/stored-charts.ts",
    text: "if (row !== undefined && open !== null)",
    replacement: "if (row !== undefined && open === workflow.hash)",
    tests: ["engine/changed-charts.test.ts"],
  },
  {
    property: "nothing is claimed before the charts are compared",
    file: "src/engine/engine.ts",
    text: "if (charts.isDone) return storage.claim(request);",
    replacement: "if (charts.isDone || request.now > 0) return storage.claim(request);",
    tests: ["engine/changed-charts.test.ts"],
  },
  {
    property: "every commit waits for the disk, also behind a claim, which does not",
    file: "storage/sqlite/connection.ts",
    text: 'this.#database.pragma("synchronous = FULL");',
    replacement: "// Left as it is.",
    tests: ["storage/sqlite.test.ts"],
  },
  {
    property: "what has room is admitted behind each transaction of commits",
    file: "storage/sqlite/commits.ts",
    text: "this.#parts.tasks.settle();",
    replacement: "if (results.length > 1) this.#parts.tasks.settle();",
    tests: ["storage/contract.test.ts"],
  },
  {
    property: "messages to one instance are done in the order in which they were sent",
    file: "src/engine/messages.ts",
    text: "[{ key: `message to ${instance}`, atMost: 1 }]",
    replacement: "[{ key: `message to ${instance}`, atMost: 9 }]",
    tests: ["engine/order.test.ts"],
  },
  {
    property: "a message that fails is passed by none",
    file: "storage/limits.ts",
    text: 'task.firstKey === null || task.kind === "message" ? task',
    replacement: "task.firstKey === null ? task",
    tests: ["engine/order.test.ts", "storage/contract.test.ts"],
  },
  {
    property: "a key has no more tasks than its limit",
    file: "storage/limits.ts",
    text: "tasks.admittedUnder(firstKey) >= Number(firstRoom)",
    replacement: "tasks.admittedUnder(firstKey) > Number(firstRoom)",
    tests: ["storage/contract.test.ts"],
  },
  {
    property: "the second of two limits holds",
    file: "storage/limits.ts",
    text: "tasks.admittedIn(firstKey, lastKey) < Number(lastRoom)",
    replacement: "tasks.admittedIn(firstKey, lastKey) <= Number(lastRoom)",
    tests: ["storage/contract.test.ts"],
  },
  {
    property: "what waits under a key is admitted in the order of its arming",
    file: "storage/limits.ts",
    text: "head.seq < next.seq",
    replacement: "head.seq > next.seq",
    tests: ["storage/contract.test.ts"],
  },
  {
    property: "what is claimed by nobody gives its room up",
    file: "storage/unsettled.ts",
    text: "!isLeft || task.visibleAt > now - UNCLAIMED_MS",
    replacement: "!isLeft || task.visibleAt > now - 99 * UNCLAIMED_MS",
    tests: ["storage/contract.test.ts"],
  },
  {
    property: "a task that leaves its key lets another in",
    file: "storage/sqlite/task-queue.ts",
    text: 'if (task.admission === "admitted") this.#rooms.touch(task);',
    replacement: 'if (task.admission === "parked") this.#rooms.touch(task);',
    tests: ["storage/contract.test.ts"],
  },
];
