/** The storage contract on commits as a whole: G1, G5, G8. */
import assert from "node:assert/strict";
import type { CommitResult } from "../../../storage/storage.ts";
import {
  type PaymentStorage,
  type PaymentWrite,
  paymentTables,
} from "../../../src/payments/payment-storage.ts";
import { promise, type StorageContractCase } from "./contract.ts";
import { fullRows } from "./rows.ts";
import {
  arm,
  claim,
  claimOne,
  commit,
  hit,
  ids,
  ok,
  type PaymentCommit,
  put,
  range,
  refusedWrite,
  startOf,
  stampOf,
  stepOf,
  taskOf,
} from "./samples.ts";

/** What a commit can change, as far as the port shows it. */
const everythingOf = async (storage: PaymentStorage): Promise<unknown> => ({
  parent: await storage.load("parent"),
  child: await storage.load("child"),
  nextDue: await storage.nextDue(["sample@1", "timer@1", "later@1"]),
  timerDue: await storage.nextDue(["timer@1"]),
  laterDue: await storage.nextDue(["later@1"]),
  history: await storage.history("parent", { after: 0, limit: 10 }),
  childHistory: await storage.history("child", { after: 0, limit: 10 }),
  facts: [await storage.fact("known"), await storage.fact("new")],
  window: await storage.limitWindow("a", "requests", -1),
});

/** A database in which a full commit has something to change in every part, and that commit. */
async function beforeFullCommit(storage: PaymentStorage): Promise<PaymentCommit> {
  await put(storage, {
    starts: [startOf("parent")],
    arms: [
      { task: taskOf("parent:1:0", { instance: "parent" }) },
      {
        task: taskOf("parent:1:1", { instance: "parent", kind: "timer", name: "late", workflow: "timer@1" }),
      },
    ],
    history: [
      { instance: "parent", version: 1, stamp: "s", at: 1, event: "{}", value: `"new"`, cause: null },
    ],
    writes: [
      { table: "facts", insert: { id: "known", value: "before" } },
      { table: "limitHits", insert: hit("old", 5) },
    ],
  });
  const { id, token } = await claimOne(storage, 10);
  return {
    consumes: { task: id, token },
    step: stepOf("parent", 1),
    starts: [startOf("child")],
    disarms: [{ instance: "parent", timer: "late" }],
    arms: [{ task: taskOf("parent:2:0", { instance: "parent", workflow: "later@1", dueAt: 50 }) }],
    history: [
      {
        instance: "parent",
        version: 2,
        stamp: "s",
        at: 2,
        event: "{}",
        value: `"stepped"`,
        cause: "effect@1:0 do",
      },
      { instance: "child", version: 1, stamp: "s", at: 2, event: "{}", value: `"new"`, cause: null },
    ],
    writes: [
      { table: "facts", id: "known", set: { value: "after" } },
      { table: "limitHits", insert: hit("new", 20), atMost: { count: 1, since: 10 } },
      { table: "facts", insert: { id: "new", value: "after" } },
    ],
  };
}

/** Every way in which the full commit can be refused, each by its last part that can be. */
const refusals: readonly (readonly [string, (full: PaymentCommit) => PaymentCommit, CommitResult])[] = [
  [
    "a lost token",
    (full) => ({ ...full, consumes: { task: "parent:1:0", token: 9 } }),
    { ok: false, conflict: "token" },
  ],
  ["a stale stamp", (full) => ({ ...full, step: stepOf("parent", 7) }), { ok: false, conflict: "step" }],
  [
    "an instance that exists",
    (full) => ({ ...full, starts: [startOf("child"), startOf("parent")] }),
    { ok: false, conflict: "exists", index: 1 },
  ],
  [
    "a write at its end",
    (full) => ({
      ...full,
      writes: [...(full.writes ?? []), { table: "facts", insert: { id: "known", value: "" } }],
    }),
    { ok: false, conflict: "write", index: 3 },
  ],
];

/** Commits: all or nothing, in order, there to stay. */
export const commitCases: readonly StorageContractCase[] = [
  promise(
    "F3, G8: a query of the host that is none, or reads, fails its commit alone",
    async ({ storage }) => {
      const reads = { starts: [startOf("a")], queries: [{ sql: "select 1", parameters: [] }] };
      const none = { starts: [startOf("b")], queries: [{ sql: "commit", parameters: [] }] };
      const answers = await storage.commit([reads, { starts: [startOf("c")] }, none]);
      assert.deepEqual(
        answers.map((answer) => answer.ok || answer.conflict),
        ["failed", true, "failed"],
      );
      for (const id of ["a", "b"]) assert.equal(await storage.load(id), null);
      assert.equal((await storage.load("c"))?.id, "c");
    },
  ),
  promise(
    "G1: of hundreds of rows that a commit inserts the first one that cannot be is told, and none is there",
    async ({ storage, other }) => {
      const fact = (id: string): PaymentWrite => ({ table: "facts", insert: { id, value: "x" } });
      const attempt = (id: string, messageHash: string): PaymentWrite => ({
        table: "attempts",
        insert: { ...fullRows.attempts, id, messageHash },
      });
      await put(storage, { writes: [fact("known"), attempt("a", "known")] });
      const many = range(300).map((n) => fact(`fact ${String(n).padStart(3, "0")}`));
      const told = async (writes: readonly PaymentWrite[]): Promise<CommitResult> =>
        commit(other, { writes });
      for (const at of [0, 1, 137, 255, 256, 299]) {
        assert.deepEqual(await told(many.with(at, fact("known"))), refusedWrite(at));
        assert.deepEqual(
          await told([...many, attempt("b", "new"), attempt("c", "known")]),
          refusedWrite(301),
        );
        const [first = fact("none")] = many;
        if (at > 0) assert.deepEqual(await told(many.with(at, first)), refusedWrite(at));
      }
      const listed = async (): Promise<readonly string[]> =>
        ids(await storage.find({ table: paymentTables.facts }));
      assert.deepEqual(await listed(), ["known"]);
      assert.deepEqual(await told([...many, attempt("b", "new"), fact("last")]), ok);
      assert.deepEqual(await listed(), [
        "known",
        ...range(300).map((n) => `fact ${String(n).padStart(3, "0")}`),
        "last",
      ]);
    },
  ),
  promise("G1: a commit does all it holds", async ({ storage, other }) => {
    await put(storage, await beforeFullCommit(storage));
    assert.deepEqual(await everythingOf(other), {
      parent: {
        ...startOf("parent"),
        life: stampOf(1),
        stamp: stampOf(2),
        snapshot: `{"value":"stepped"}`,
        version: 2,
        updatedAt: 2,
      },
      child: { ...startOf("child"), life: stampOf(1), version: 1, updatedAt: 1 },
      nextDue: 50,
      timerDue: null,
      laterDue: 50,
      history: [
        { instance: "parent", version: 1, stamp: "s", at: 1, event: "{}", value: `"new"`, cause: null },
        {
          instance: "parent",
          version: 2,
          stamp: "s",
          at: 2,
          event: "{}",
          value: `"stepped"`,
          cause: "effect@1:0 do",
        },
      ],
      childHistory: [
        { instance: "child", version: 1, stamp: "s", at: 2, event: "{}", value: `"new"`, cause: null },
      ],
      facts: ["after", "after"],
      window: { count: 1, oldest: 20 },
    });
  }),
  ...refusals.map(([what, spoil, refusal]) =>
    promise(
      `G1, G8: a commit refused for ${what} leaves no trace, alone and among others`,
      async ({ storage }) => {
        const full = await beforeFullCommit(storage);
        const before = await everythingOf(storage);
        assert.deepEqual(await commit(storage, spoil(full)), refusal);
        assert.deepEqual(await everythingOf(storage), before);
        const neighbour = (id: string): PaymentCommit => ({
          writes: [{ table: "facts", insert: { id, value: id } }],
        });
        const results = await storage.commit([neighbour("left"), spoil(full), neighbour("right")]);
        assert.deepEqual(results, [ok, refusal, ok]);
        assert.deepEqual([await storage.fact("left"), await storage.fact("right")], ["left", "right"]);
        assert.deepEqual(await everythingOf(storage), before);
        assert.deepEqual(await commit(storage, full), ok, "and what it would have used is still there");
      },
    ),
  ),
  promise(
    "G1: a commit that fails several checks is refused for the first of token, step, exists, write",
    async ({ storage }) => {
      await put(storage, {
        starts: [startOf("i")],
        writes: [{ table: "facts", insert: { id: "f", value: "" } }],
      });
      const writes: PaymentCommit["writes"] = [{ table: "facts", insert: { id: "f", value: "" } }];
      const exists: PaymentCommit = { starts: [startOf("i")], writes };
      const version: PaymentCommit = { ...exists, step: stepOf("i", 9) };
      const token: PaymentCommit = { ...version, consumes: { task: "none", token: 1 } };
      assert.deepEqual(await storage.commit([token, version, exists, { writes }]), [
        { ok: false, conflict: "token" },
        { ok: false, conflict: "step" },
        { ok: false, conflict: "exists", index: 0 },
        { ok: false, conflict: "write", index: 0 },
      ]);
    },
  ),
  promise("G8: a batch is carried out in order, each item seeing those before it", async ({ storage }) => {
    const results = await storage.commit([
      { starts: [startOf("i")] },
      { step: stepOf("i", 1) },
      { step: stepOf("i", 1) },
      { step: stepOf("i", 2, { snapshot: "{}" }) },
    ]);
    assert.deepEqual(results, [ok, ok, { ok: false, conflict: "step" }, ok]);
    assert.equal((await storage.load("i"))?.version, 3);
    assert.deepEqual(await storage.commit([]), []);
  }),
  promise(
    "G8: of a batch of a thousand every third is refused, and the others are there",
    async ({ storage, other }) => {
      await put(storage, { writes: [{ table: "facts", insert: { id: "taken", value: "" } }] });
      const item = (index: number): PaymentCommit => ({
        writes: [
          { table: "facts", insert: { id: `f${index}`, value: `${index}` } },
          ...(index % 3 === 0 ? [{ table: "facts" as const, insert: { id: "taken", value: "" } }] : []),
        ],
      });
      const results = await storage.commit(range(1_000).map(item));
      for (const index of range(1_000)) {
        const refused = index % 3 === 0;
        assert.deepEqual(results[index], refused ? { ok: false, conflict: "write", index: 1 } : ok);
        assert.equal(await other.fact(`f${index}`), refused ? null : `${index}`);
      }
    },
  ),
  promise("G1: a mistake, such as arming a task twice, fails and leaves no trace", async ({ storage }) => {
    await arm(storage, taskOf("t"));
    const mistake: PaymentCommit = { starts: [startOf("i")], arms: [{ task: taskOf("t") }] };
    await assert.rejects(commit(storage, mistake));
    assert.equal(await storage.load("i"), null);
    await assert.rejects(
      commit(storage, { starts: [startOf("i")], arms: [{ task: taskOf("u", { dueAt: 0.5 }) }] }),
    );
    assert.equal(await storage.load("i"), null);
    assert.deepEqual(ids(await claim(storage, 0)), ["t"]);
  }),
  promise("G5: what was committed is there after closing and opening again", async ({ storage, reopen }) => {
    const full = await beforeFullCommit(storage);
    await put(storage, full);
    const before = await everythingOf(storage);
    assert.deepEqual(await everythingOf(await reopen()), before);
  }),
];
