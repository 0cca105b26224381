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
    file: "src/engine/poll-watches.ts",
    text: "await storage.releaseShards(holder);",
    replacement: "void [storage, holder];",
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
    property: "lanes are in line with their tasks behind each transaction of commits",
    file: "storage/sqlite/commits.ts",
    text: "this.#parts.tasks.settle();",
    replacement: "if (results.length > 1) this.#parts.tasks.settle();",
    tests: ["storage/contract.test.ts"],
  },
  {
    property: "timers have their turn however many commits follow one another",
    file: "src/engine/commit-queue.ts",
    text: "if (isTurnOver()) await nextTurn();",
    replacement: "void [isTurnOver, nextTurn];",
    tests: ["engine/event-loop.test.ts"],
  },
  {
    property: "a child whose id is taken begins under the next one",
    file: "src/engine/steps.ts",
    text: "await checkChildIds(this.#storage, parts, result);",
    replacement: "void checkChildIds;",
    tests: ["engine/child-ids.test.ts"],
  },
  {
    property: "a spawned child that has ended leaves the snapshot of its parent",
    file: "src/engine/xstate/step-actions.ts",
    text: "delete this.#children[id];",
    replacement: "void id;",
    tests: ["engine/child-ids.test.ts"],
  },
  {
    property: "callers tell no end that has not come",
    file: "src/engine/given-events.ts",
    text: "if (reason !== null) throw new TypeError(reason);",
    replacement: "void reason;",
    tests: ["engine/refusals.test.ts"],
  },
  {
    property: "an instance of another chart takes no event that was meant for this one",
    file: "src/engine/steps.ts",
    text: "if (meant !== undefined) checkMeant(instance, meant);",
    replacement: "void checkMeant;",
    tests: ["engine/refusals.test.ts"],
  },
  {
    property: "what is thrown is no trap",
    file: "src/engine/tasks-in-hand.ts",
    text: "const error = withoutTraps(thrown);",
    replacement: "const error = thrown;",
    tests: ["engine/thrown-values.test.ts"],
  },
];
