/** The storage contract on what is old: finding what has ended, and removing rows and instances. */
import assert from "node:assert/strict";
import type { InstanceListQuery, InstanceRecord } from "../../../storage/storage.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { promise, type StorageContractCase } from "./contract.ts";
import { fullRows } from "./rows.ts";
import { commit, ok, put, refusedWrite, startOf, stampOf, stepOf, taskOf, webhookOf } from "./samples.ts";

/** Instances that ended at these times, by their ids. */
async function ended(storage: PaymentStorage, times: Readonly<Record<string, number>>): Promise<void> {
  for (const [id, at] of Object.entries(times)) {
    await put(storage, { starts: [startOf(id)] });
    await put(storage, { step: stepOf(id, 1, { status: "done", at }) });
  }
}

const idsOf = (found: readonly InstanceRecord[]): readonly string[] => found.map(({ id }) => id);

export const retentionCases: readonly StorageContractCase[] = [
  promise("what has ended is found by the time of its last step, in pages", async ({ storage, other }) => {
    await ended(storage, { c: 20, b: 10, a: 20, late: 31 });
    await put(storage, { starts: [startOf("active", { createdAt: 0 })] });
    await put(storage, { starts: [startOf("born done", { createdAt: 5, status: "done", workflow: "x@1" })] });
    const found = async (page: Partial<Extract<InstanceListQuery, { readonly order: "ended" }>>) =>
      idsOf(await other.list({ order: "ended", until: 30, after: null, limit: 9, ...page }));
    assert.deepEqual(await found({}), ["born done", "b", "a", "c"]);
    assert.deepEqual(await found({ limit: 2 }), ["born done", "b"]);
    assert.deepEqual(await found({ after: { updatedAt: 10, id: "b" }, limit: 1 }), ["a"]);
    assert.deepEqual(await found({ after: { updatedAt: 20, id: "a" } }), ["c"]);
    assert.deepEqual(await found({ until: 10 }), ["born done", "b"]);
    assert.deepEqual(await found({ until: 4 }), []);
    const [first] = await other.list({ order: "ended", until: 30, after: null, limit: 1 });
    assert.deepEqual(first, await storage.load("born done"));
  }),
  promise(
    "an instance goes with its last step, and its history; what is told of it stays, and its id is free",
    async ({ storage, other }) => {
      await put(storage, {
        starts: [startOf("a"), startOf("b")],
        history: ["a", "b"].map((instance) => {
          return { instance, version: 1, stamp: "s", at: 1, event: "{}", value: "{}", cause: null };
        }),
      });
      const last = stepOf("a", 1, { status: "done", isLast: true });
      assert.deepEqual(await commit(other, { step: { ...last, after: "another" } }), {
        ok: false,
        conflict: "step",
      });
      assert.notEqual(await storage.load("a"), null);
      await put(storage, { arms: [{ task: taskOf("t", { instance: "a", kind: "message" }) }] });
      const results = await other.commit([
        { step: last, arms: [{ task: taskOf("u", { instance: "b", kind: "message" }) }] },
        { step: stepOf("b", 1) },
      ]);
      assert.deepEqual(results, [ok, ok]);
      assert.equal(await storage.load("a"), null);
      assert.deepEqual(await storage.history("a", { after: 0, limit: 9 }), []);
      assert.equal((await storage.history("b", { after: 0, limit: 9 })).length, 1);
      const left = await storage.tasks({ order: "instance", instance: "a", limit: 9 });
      assert.deepEqual(
        left.map(({ id }) => id),
        ["t"],
      );
      assert.deepEqual(await commit(storage, { step: last }), { ok: false, conflict: "step" });
      await put(storage, { starts: [startOf("a", { stamp: "later" })] });
      assert.equal((await other.load("a"))?.life, "later");
    },
  ),
  promise("an instance that a message or a dead letter names is not removed", async ({ storage }) => {
    await ended(storage, { told: 1, dead: 1 });
    await put(storage, { arms: [{ task: taskOf("t", { instance: "told", kind: "message" }) }] });
    await put(storage, { arms: [{ task: taskOf("d", { instance: "dead" }) }] });
    for (const now of [0, 1_000, 2_000, 3_000]) {
      await storage.claim({
        holder: `h${now}`,
        now,
        leaseMs: 1_000,
        workflows: ["sample@1"],
        maxCrashes: 1,
        steps: 0,
        free: 9,
        limited: 0,
      });
    }
    assert.deepEqual(
      (await storage.tasks({ order: "dead", limit: 9 })).map(({ id }) => id),
      ["d"],
    );
    for (const id of ["told", "dead"]) {
      assert.deepEqual(await commit(storage, { removes: [{ id, life: stampOf(1) }] }), {
        ok: false,
        conflict: "step",
      });
    }
  }),
  promise("a row is removed, and its key and unique values are free again", async ({ storage, other }) => {
    const { attempts } = fullRows;
    await put(storage, { writes: [{ table: "attempts", insert: attempts }] });
    await put(storage, { writes: [{ table: "attempts", remove: attempts.id }] });
    assert.deepEqual(await other.attempts([attempts.id]), []);
    const again = { ...attempts, transactionId: "another" };
    await put(other, { writes: [{ table: "attempts", insert: again }] });
    assert.equal((await storage.attempts([attempts.id]))[0]?.transactionId, "another");
  }),
  // modules: webhooks
  promise("a removal is refused where the row is absent or has another value", async ({ storage }) => {
    await put(storage, { writes: [{ table: "webhooks", insert: webhookOf("w", { version: 1 }) }] });
    const removal = (expected?: object) => ({
      table: "webhooks" as const,
      remove: "w",
      ...(expected && { expected }),
    });
    const refusals = [{ version: 2 }, { deletedAt: 1 }, { url: "x" }, { version: 1, disabledAt: 7 }];
    for (const expected of refusals) {
      assert.deepEqual(await commit(storage, { writes: [removal(expected)] }), refusedWrite(0));
    }
    assert.notEqual(await storage.webhook("w"), null);
    await put(storage, { writes: [removal({ version: 1, deletedAt: null, url: "https://example.com/" })] });
    assert.equal(await storage.webhook("w"), null);
    assert.deepEqual(await commit(storage, { writes: [removal()] }), refusedWrite(0));
    const { id } = fullRows.transactions;
    await put(storage, { writes: [{ table: "transactions", insert: fullRows.transactions }] });
    const { landedAfterCancel } = fullRows.transactions;
    const unlike = { landedAfterCancel: !landedAfterCancel };
    const wrong = await commit(storage, {
      writes: [{ table: "transactions", remove: id, expected: unlike }],
    });
    assert.deepEqual(wrong, refusedWrite(0));
    await put(storage, { writes: [{ table: "transactions", remove: id, expected: { landedAfterCancel } }] });
  }),
  // modules: webhooks
  promise("G8: a refused removal takes back what its commit has done", async ({ storage }) => {
    await ended(storage, { i: 1 });
    await put(storage, { writes: [{ table: "quotes", insert: fullRows.quotes }] });
    const { id } = fullRows.quotes;
    const results = await storage.commit([
      {
        removes: [{ id: "i", life: stampOf(1) }],
        writes: [
          { table: "quotes", remove: id },
          { table: "quotes", remove: "none" },
        ],
      },
      { writes: [{ table: "webhooks", insert: webhookOf("w") }] },
    ]);
    assert.deepEqual(results, [refusedWrite(1), ok]);
    assert.notEqual(await storage.load("i"), null);
    assert.notEqual(await storage.quote(id), null);
  }),
  promise("rows of append-only tables are never removed", async ({ storage }) => {
    await put(storage, { writes: [{ table: "audit", insert: fullRows.audit }] });
    await assert.rejects(
      commit(storage, { writes: [{ table: "audit", remove: fullRows.audit.id }] }),
      TypeError,
    );
    assert.equal((await storage.audit(null, 9))?.length, 1);
  }),
  promise("the size is in bytes, or unknown", async ({ storage }) => {
    const size = await storage.size();
    assert.ok(
      size === null || (Number.isSafeInteger(size) && size >= 0),
      `a whole number of bytes, not ${size}`,
    );
  }),
];
