/** The storage contract on rows that are put and unput, which no commit is refused for. */
import assert from "node:assert/strict";
import type { PaymentWrite } from "../../../src/payments/payment-storage.ts";
import { promise, type StorageContractCase } from "./contract.ts";
import { fullRows } from "./rows.ts";
import { commit, either, ok, put, range, webhookOf } from "./samples.ts";

const putOf = (id: string, value: string): PaymentWrite => ({ table: "facts", put: { id, value } });
const unputOf = (id: string): PaymentWrite => ({ table: "facts", unput: id });

export const putCases: readonly StorageContractCase[] = [
  promise("a row that is put is there, in place of the one with its key", async ({ storage, other }) => {
    await put(storage, { writes: [{ table: "facts", insert: { id: "a", value: "1" } }] });
    assert.deepEqual(await commit(other, { writes: [putOf("a", "2"), putOf("b", "3")] }), ok);
    assert.deepEqual([await storage.fact("a"), await storage.fact("b")], ["2", "3"]);
  }),
  promise("a row is unput where it is there, and else nothing happens", async ({ storage, other }) => {
    await put(storage, { writes: [putOf("a", "1"), putOf("b", "2")] });
    assert.deepEqual(await commit(other, { writes: [unputOf("a"), unputOf("none")] }), ok);
    assert.deepEqual([await storage.fact("a"), await storage.fact("b")], [null, "2"]);
  }),
  promise("rows of one commit are put and unput in its order", async ({ storage, other }) => {
    await put(storage, { writes: [putOf("a", "1"), unputOf("a"), unputOf("b"), putOf("b", "2")] });
    assert.deepEqual([await other.fact("a"), await other.fact("b")], [null, "2"]);
    await put(storage, { writes: [unputOf("a"), putOf("a", "3"), putOf("a", "4")] });
    assert.equal(await other.fact("a"), "4");
  }),
  promise("G1: a commit that is refused puts nothing", async ({ storage, other }) => {
    await put(storage, { writes: [putOf("a", "1")] });
    const refused = await commit(storage, {
      writes: [putOf("a", "2"), unputOf("a"), { table: "facts", remove: "none" }],
    });
    assert.deepEqual(refused, { ok: false, conflict: "write", index: 2 });
    assert.equal(await other.fact("a"), "1");
  }),
  promise("twenty that put and unput one row at once are all carried out", async ({ storage, other }) => {
    const race = range(20).map((index) =>
      commit(either(index, storage, other), {
        writes: index % 3 === 0 ? [unputOf("a")] : [putOf("a", `${index}`), putOf(`own ${index}`, "")],
      }),
    );
    assert.deepEqual(new Set((await Promise.all(race)).map((answer) => answer.ok)), new Set([true]));
    await put(storage, { writes: [putOf("a", "last")] });
    assert.equal(await other.fact("a"), "last");
  }),
  // modules: webhooks
  promise(
    "nothing is put into a table whose rows have versions, unique fields or a group, or only grow",
    async ({ storage, other }) => {
      const { attempts, limitHits, audit } = fullRows;
      const writes: readonly PaymentWrite[] = [
        { table: "webhooks", put: webhookOf("w") },
        { table: "attempts", put: attempts },
        { table: "limitHits", put: limitHits },
        { table: "audit", put: audit },
      ];
      for (const write of writes) {
        const [answer] = await storage.commit([{ writes: [putOf("a", "1"), write] }]);
        assert.ok(answer?.ok === false && answer.conflict === "failed", write.table);
        assert.match(String(answer.error), /put: \w+ has more than a key and indexes/);
      }
      assert.equal(await other.fact("a"), null);
    },
  ),
];
