/** After any history of calls PostgreSQL answers as SQLite does, which shares no code of claims and commits with it. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  paymentStorage,
  type PaymentStorage,
  type PaymentWrite,
} from "../../src/payments/payment-storage.ts";
import { postgresDatabase } from "../kit/postgres-database.ts";
import { memoryStorage } from "../kit/storages.ts";
import { byDepth, EXPLORING_MS } from "../kit/thorough.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
import type { ArmLease, TaskRecord } from "../../storage/storage.ts";
import { QUEUES } from "../../storage/task-queues.ts";
import {
  hit,
  type PaymentCommit,
  stampOf,
  startOf,
  stepOf,
  taskOf,
  webhookOf,
} from "../contracts/storage/samples.ts";
import { instanceWorkflows } from "../../src/engine/kernel/troubles.ts";
import { withinBudget } from "../kit/exploration-budget.ts";

type Call = (storage: PaymentStorage) => Promise<unknown>;

const instances = ["i", "j", "k", "l", ...Array.from({ length: 12 }, (_, index) => `i${index}`)];

const workflows = ["sample@1", "sample@2", "sample@3"];

const one = <T>(...values: readonly T[]) => fc.constantFrom(...values);
const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { maxLength: 2 });
const number = (max: number) => fc.integer({ min: 0, max });

const instance = one(...instances);
const token = number(3);
const taskId = number(20).map((index) => `t${index}`);

/** Messages to one instance keep their order, timers have no limits. */
const limitsOf = ({ kind, instance: id, limits }: Pick<TaskRecord, "kind" | "instance" | "limits">) => {
  if (kind === "message") return limits.length === 0 ? [] : [{ key: `message to ${id}`, atMost: 1 }];
  return kind === "timer" ? [] : limits;
};

/** Tasks of several workflows share their keys. */
const task: fc.Arbitrary<TaskRecord> = fc
  .record({
    id: taskId,
    instance,
    workflow: one(...workflows),
    kind: one<TaskRecord["kind"]>("timer", "effect", "invocation", "message"),
    name: one("x", "y"),
    dueAt: number(60),
    limits: fc.uniqueArray(
      fc.record({ key: one("L", "M", "N", "O"), atMost: fc.integer({ min: 1, max: 3 }) }),
      {
        maxLength: 2,
        selector: ({ key }) => key,
      },
    ),
  })
  .map((changes) => ({ ...changes, limits: limitsOf(changes) }))
  .chain((changes) =>
    one(0, 0, 1, -1, 7).map((priority) =>
      priority === 0 || changes.kind === "message" || changes.limits.length === 0
        ? changes
        : { ...changes, priority },
    ),
  )
  .map((changes) => taskOf(changes.id, changes));

const write: fc.Arbitrary<PaymentWrite> = fc.oneof(
  fc
    .record({ id: one("f", "g", "h"), value: fc.string() })
    .map((insert) => ({ table: "facts" as const, insert })),
  fc
    .record({ id: one("f", "g", "h"), value: fc.string() })
    .map(({ id, value }) => ({ table: "facts" as const, id, set: { value } })),
  fc
    .record({ id: number(9), at: number(60), count: number(3), since: number(60) })
    .map(({ id, at, count, since }) => ({
      table: "limitHits" as const,
      insert: hit(`h${id}`, at),
      atMost: { count, since },
    })),
  // modules: webhooks
  fc.record({ id: number(9), count: number(3) }).map(({ id, count }) => ({
    table: "webhooks" as const,
    insert: webhookOf(`w${id}`, { createdAt: id }),
    atMost: { count },
  })),
  // modules: webhooks
  fc
    .record({ id: number(9), deletedAt: fc.option(number(9)), expectedVersion: number(3) })
    .map(({ id, deletedAt, expectedVersion }) => ({
      table: "webhooks" as const,
      id: `w${id}`,
      set: { deletedAt },
      ...(expectedVersion === 0 ? {} : { expectedVersion }),
    })),
  fc
    .record({
      id: number(9),
      at: number(60),
      amount: fc.bigInt(1n, 9n),
      since: number(60),
      total: number(20),
    })
    .map(({ id, at, amount, since, total }) => ({
      table: "volumes" as const,
      insert: { id: `v${id}`, scope: "s", at, amount },
      atMost: { total: total === 0 ? null : BigInt(total), since },
    })),
  // modules: webhooks
  fc
    .record({ id: number(9), expectVersion: number(3) })
    .map(({ id, expectVersion }) => ({ table: "webhooks" as const, id: `w${id}`, expectVersion })),
);

const lease = fc.record({ holder: one("g", "h"), until: number(60), leaseMs: number(60) });

const arming = some(fc.tuple(task, fc.option(lease))).map((armed) => ({
  arms: armed.map(([each, held]) => ({ task: each, ...(held ? { lease: held } : {}) })),
}));

const part: fc.Arbitrary<PaymentCommit> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(instance, number(4), one(...workflows), one<"active" | "done">("active", "active", "done"))
      .map(([id, version, workflow, status]) => ({ step: stepOf(id, version, { workflow, status }) })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(instance, number(4)).map(([id, version]) => ({
      step: stepOf(id, version, { status: "done", isLast: true }),
    })),
  },
  {
    weight: 1,
    arbitrary: fc
      .array(instance, { minLength: 1, maxLength: 2 })
      .map((started) => ({ starts: started.map((id) => startOf(id)) })),
  },
  { weight: 3, arbitrary: fc.record({ task: taskId, token }).map((consumes) => ({ consumes })) },
  { weight: 5, arbitrary: arming },
  {
    weight: 2,
    arbitrary: some(fc.record({ instance, timer: one("x", "y") })).map((disarms) => ({ disarms })),
  },
  {
    weight: 2,
    arbitrary: some(fc.record({ id: one("a", "b"), value: one("x", "y") })).map((rows) => ({
      writes: rows.map((put) => ({ table: "facts" as const, put })),
    })),
  },
  {
    weight: 2,
    arbitrary: some(one("a", "b")).map((ids) => ({
      writes: ids.map((unput) => ({ table: "facts" as const, unput })),
    })),
  },
  {
    weight: 2,
    arbitrary: some(
      fc.record({
        instance,
        version: number(50),
        stamp: fc.constant("s"),
        at: number(9),
        event: fc.json(),
        value: fc.json(),
        cause: fc.option(fc.string(), { nil: null }),
      }),
    ).map((history) => ({ history })),
  },
  {
    weight: 2,
    arbitrary: some(fc.record({ task: taskId, dueAt: number(60) })).map((retries) => ({ retries })),
  },
  { weight: 1, arbitrary: some(taskId).map((drops) => ({ drops })) },
  {
    weight: 1,
    arbitrary: some(instance).map((ids) => ({ removes: ids.map((id) => ({ id, life: stampOf(1) })) })),
  },
  {
    weight: 1,
    arbitrary: some(fc.record({ instance, workflow: one(...workflows) })).map((adopts) => ({ adopts })),
  },
  {
    weight: 1,
    arbitrary: some(
      fc.record({ task: taskId, name: one("x", "y"), payload: fc.constant("{}"), dueAt: number(60) }),
    ).map((amends) => ({ amends })),
  },
  {
    weight: 1,
    arbitrary: some(
      fc.record({ key: one("L", "M", "N", "O"), atMost: fc.option(number(4)), dueAt: number(60) }),
    ).map((limits) => ({ limits })),
  },
  { weight: 5, arbitrary: some(write).map((writes) => ({ writes })) },
);

/** A few parts: with all of them it would nearly always be refused for one. */
const commit = fc
  .array(part, { minLength: 1, maxLength: 3 })
  .map((parts): PaymentCommit => Object.fromEntries(parts.flatMap((each) => Object.entries(each))));

const message = fc
  .record({ id: number(99), target: one(...instances), workflow: one(...workflows, "sample") })
  .map(({ id, target, workflow }) => ({
    task: taskOf(`m${id}`, { kind: "message", instance: target, workflow, name: "went" }),
  }));

/** Commits of one instance each, as the engine makes them: mostly none is in the way of another. */
const crowd = fc
  .array(
    fc.record({
      id: number(11).map((index) => `i${index}`),
      version: number(3),
      workflow: one(...workflows),
      status: one<"active" | "done">("active", "active", "done"),
      isStart: fc.boolean(),
      isLast: one(false, false, true),
      consumed: fc.option(fc.record({ task: number(99), token: one(1, 1, 2) })),
      timers: some(fc.tuple(task, fc.option(lease), number(999))),
      messages: some(message),
      adopts: some(one(...workflows)),
      ends: fc.boolean(),
      disarms: some(one("x", "y")),
      put: some(one("a", "b")),
      unput: some(one("a", "b")),
      writes: some(write),
    }),
    { minLength: 2, maxLength: 8, size: "max" },
  )
  .map((all) => all.map(crowdItem));

interface CrowdMember {
  readonly id: string;
  readonly version: number;
  readonly workflow: string;
  readonly status: "active" | "done";
  readonly isStart: boolean;
  readonly isLast: boolean;
  readonly consumed: { readonly task: number; readonly token: number } | null;
  readonly timers: readonly (readonly [TaskRecord, ArmLease | null, number])[];
  readonly messages: readonly { readonly task: TaskRecord }[];
  readonly adopts: readonly string[];
  readonly ends: boolean;
  readonly disarms: readonly string[];
  readonly put: readonly string[];
  readonly unput: readonly string[];
  readonly writes: readonly PaymentWrite[];
}

function crowdItem(given: CrowdMember): PaymentCommit {
  const { id, version, workflow, status, consumed } = given;
  return {
    ...(consumed === null
      ? {}
      : {
          consumes: { task: `${consumed.task % 2 === 0 ? "m" : "n"}${consumed.task}`, token: consumed.token },
        }),
    ...(given.isStart
      ? { starts: [startOf(id, { workflow })] }
      : {
          step: given.isLast
            ? stepOf(id, version, { workflow, status: "done", isLast: true })
            : stepOf(id, version, { workflow, status }),
        }),
    writes: [
      ...given.writes,
      ...given.unput.map((unput) => ({ table: "facts" as const, unput })),
      ...given.put.map((key) => ({ table: "facts" as const, put: { id: key, value: id } })),
    ],
    arms: [
      ...given.timers.map(([each, held, nth]) => ({
        task: { ...each, id: `n${nth % 100}`, instance: id },
        ...(held === null ? {} : { lease: held }),
      })),
      ...given.messages,
    ],
    adopts: given.adopts.map((to) => ({ instance: id, workflow: to })),
    ends: given.ends ? [id] : [],
    disarms: given.disarms.map((timer) => ({ instance: id, timer })),
    history: [
      {
        instance: id,
        version: version + (given.isStart ? 0 : 50),
        stamp: "s",
        at: 1,
        event: "{}",
        value: "{}",
        cause: null,
      },
    ],
  };
}

const known = one(workflows, workflows.slice(1), workflows.slice(0, 1), []);

/** Calls, and how each shows in a counterexample. Time is part of them, and may even run backwards. */
const call: fc.Arbitrary<{ readonly shown: string; readonly make: Call }> = fc
  .oneof(
    {
      weight: 4,
      arbitrary: fc.array(commit, { minLength: 1, maxLength: 3 }).map((items) => ["commit", items] as const),
    },
    { weight: 3, arbitrary: arming.map((item) => ["commit", [item]] as const) },
    { weight: 8, arbitrary: crowd.map((items) => ["commit", items] as const) },
    {
      weight: 3,
      arbitrary: fc
        .record({
          holder: one("g", "h"),
          now: fc.integer({ min: 20, max: 120 }),
          // One of no time would be over within the claim that begins it.
          leaseMs: fc.integer({ min: 1, max: 30 }),
          workflows: known,
          steps: number(3),
          free: number(3),
          limited: one(0, 2, 20),
          maxCrashes: one(1, 2, 5),
        })
        .map((request) => ["claim", request] as const),
    },
    {
      arbitrary: fc
        .record({
          holder: one("g", "h"),
          // A holder names a task once.
          tasks: fc.uniqueArray(fc.record({ id: taskId, token }), { maxLength: 2, selector: ({ id }) => id }),
          now: number(80),
          leaseMs: number(30),
        })
        .map((request) => ["heartbeat", request] as const),
      weight: 1,
    },
    {
      arbitrary: fc
        .record({
          id: taskId,
          token,
          dueAt: number(60),
          error: one(undefined, "no"),
          rateKey: one(undefined, undefined, "L", "M"),
          keepsRoom: one(undefined, true as const),
        })
        .map(({ error, rateKey, keepsRoom, ...request }) => ({
          ...request,
          ...(error === undefined ? {} : { error }),
          ...(rateKey === undefined ? {} : { rateKey }),
          ...(keepsRoom === undefined ? {} : { keepsRoom }),
        }))
        .map((request) => ["release", request] as const),
      weight: 2,
    },
    {
      arbitrary: fc
        .record({
          names: fc.uniqueArray(one("a", "b", "c")),
          holder: one("g", "h"),
          now: number(80),
          leaseMs: fc.integer({ min: 0, max: 30 }),
        })
        .map((request) => ["lease", request] as const),
      weight: 2,
    },
    { arbitrary: known.map((request) => ["nextDue", request] as const), weight: 2 },
  )
  .map(([name, argument]) => ({
    shown: `${name} ${fc.stringify(argument)}`,
    make: (storage) => (storage[name] as (argument: unknown) => Promise<unknown>)(argument),
  }));

const outcome = async (storage: PaymentStorage, make: Call): Promise<unknown> => {
  try {
    const answer = await make(storage);
    return Array.isArray(answer) ? answer.map(inOneWord) : answer;
  } catch {
    return "rejected";
  }
};

/**
 * A mistake of the caller, such as arming a task twice: refused by both, each in its own words. Which commits tell of an
 * admission depends on how many share a transaction.
 */
function inOneWord(answer: unknown): unknown {
  if (typeof answer !== "object" || answer === null) return answer;
  if ("error" in answer && answer.error instanceof Error) return { ...answer, error: "refused" };
  return { ...answer, admits: undefined };
}

const everything = async (storage: PaymentStorage): Promise<unknown> => ({
  instances: await Promise.all(instances.map((id) => storage.load(id))),
  history: await Promise.all(instances.map((id) => storage.history(id, { after: 0, limit: 99 }))),
  lists: await Promise.all(
    workflows.flatMap((workflow) =>
      (["active", "done"] as const).map((status) =>
        storage.list({ order: "id", workflow, status, after: "i", limit: 2 }),
      ),
    ),
  ),
  workflows: await instanceWorkflows(storage),
  pending: await Promise.all(
    instances.map((id) => storage.tasks({ order: "instance", instance: id, limit: 9 })),
  ),
  dead: await storage.tasks({ order: "dead", limit: 99 }),
  failing: await storage.tasks({ order: "failing", least: 1, limit: 99 }),
  earliest: await storage.tasks({ order: "workflow" }),
  upcoming: await Promise.all(
    workflows.map((workflow) => storage.tasks({ order: "due", workflow, limit: 9 })),
  ),
  due: await Promise.all(
    workflows.flatMap((workflow) => QUEUES.map((queue) => storage.nextDue([workflow], [queue]))),
  ),
  facts: await Promise.all(["f", "g", "h"].map((id) => storage.fact(id))),
  webhooks: await storage.webhooks("a"), // modules: webhooks
  window: await storage.limitWindow("a", "requests", -1),
  volume: await storage.volume("s", -1),
});

/** Plays random histories on SQLite and on another storage, which is made and removed for each. */
function asOnSqlite(
  make: () => Promise<{ readonly storage: PaymentStorage; readonly remove: () => Promise<void> }>,
): fc.IAsyncPropertyWithHooks<[readonly { readonly shown: string; readonly make: Call }[]]> {
  const history = fc.array(call, { minLength: 20, maxLength: 60, size: "max" });
  return fc.asyncProperty(history, async (calls) => {
    const sqlite = await memoryStorage();
    const { storage, remove } = await make();
    try {
      for (const { shown, make: ask } of calls) {
        expect(await outcome(storage, ask), shown).toEqual(await outcome(sqlite, ask));
        expect(await everything(storage), shown).toEqual(await everything(sqlite));
      }
    } finally {
      await remove();
    }
  });
}

test.skipIf(!HAS_POSTGRES)(
  "any history of calls has the same answers and the same end in PostgreSQL as in SQLite",
  { timeout: EXPLORING_MS },
  async () => {
    const property = asOnSqlite(async () => {
      const database = await postgresDatabase();
      const storage = paymentStorage(await database.open());
      await storage.fact("");
      return { storage, remove: () => storage.close().then(database.destroy) };
    });
    const numRuns = byDepth({ quick: 2, ci: 8, long: 1_000 });
    await fc.assert(property, { numRuns, endOnFailure: true, plugins: [withinBudget()] });
  },
);
