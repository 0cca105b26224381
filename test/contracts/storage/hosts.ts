/** The storage contract on commits within a transaction of a host, for adapters whose database can have one. */
import assert from "node:assert/strict";
import type { CommitAnswer, HostCommit } from "../../../storage/storage.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { type ContractHost, type Handles, promise, type StorageContractCase } from "./contract.ts";
import { claim, ids, limitedTo, ok, put, startOf, taskOf } from "./samples.ts";

type WithHost = (storage: PaymentStorage, host: ContractHost, handles: Handles) => Promise<void>;

/** Nothing is promised of an adapter that lives without hosts. */
const hostPromise = (name: string, holds: WithHost): StorageContractCase =>
  promise(name, async (handles) => {
    const host = await handles.host();
    if (host === null) return;
    try {
      // Tables are installed by the first commit.
      await put(handles.storage, {});
      await holds(handles.storage, host, handles);
    } finally {
      await host.close();
    }
  });

async function add(storage: PaymentStorage, host: ContractHost, item: HostCommit): Promise<CommitAnswer> {
  assert.ok(storage.within, "a storage whose database has hosts takes commits within their transactions");
  return storage.within(host.transaction, item);
}

const added: HostCommit = {
  starts: [startOf("a")],
  arms: [{ task: taskOf("a:1:0", { instance: "a" }) }],
  history: [{ instance: "a", version: 1, stamp: "s1", at: 1, event: "{}", value: `"new"`, cause: null }],
  writes: [
    { table: "facts", insert: { id: "known", value: "yes" } },
    { table: "facts", put: { id: "put", value: "too" } },
  ],
};

const partsOf = async (storage: PaymentStorage): Promise<readonly unknown[]> => [
  (await storage.load("a"))?.id ?? null,
  ids(await storage.tasks({ order: "instance", instance: "a", limit: 10 })),
  await storage.fact("put"),
  (await storage.history("a", { after: 0, limit: 10 })).length,
  await storage.fact("known"),
];

const NOTHING = [null, [], null, 0, null];

export const hostCases: readonly StorageContractCase[] = [
  hostPromise(
    "F1: all parts of a commit are there with the host's COMMIT, and none before",
    async (storage, host) => {
      await host.ask("begin");
      assert.deepEqual(await add(storage, host, added), ok);
      assert.deepEqual(await partsOf(storage), NOTHING);
      await host.ask("commit");
      assert.deepEqual(await partsOf(storage), ["a", ["a:1:0"], "too", 1, "yes"]);
      assert.deepEqual(ids(await claim(storage, 10)), ["a:1:0"]);
    },
  ),
  hostPromise("F1: a rollback of the host leaves nothing", async (storage, host) => {
    await host.ask("begin");
    assert.deepEqual(await add(storage, host, added), ok);
    await host.ask("rollback");
    assert.deepEqual(await partsOf(storage), NOTHING);
    await put(storage, added as never);
  }),
  hostPromise(
    "F1, G8: what is refused or fails leaves no trace, and the transaction goes on",
    async (storage, host) => {
      await put(storage, { starts: [startOf("taken")] });
      await host.ask("begin");
      const refused = { ...added, starts: [startOf("a"), startOf("taken")] };
      assert.deepEqual(await add(storage, host, refused), { ok: false, conflict: "exists", index: 1 });
      const twice = { ...added, history: [...(added.history ?? []), ...(added.history ?? [])] };
      assert.equal((await add(storage, host, twice)).ok, false);
      assert.deepEqual(await add(storage, host, { starts: [startOf("b")] }), ok);
      await host.ask("commit");
      assert.deepEqual(await partsOf(storage), NOTHING);
      assert.equal((await storage.load("b"))?.id, "b");
    },
  ),
  hostPromise(
    "F1, G10: tasks with limits are admitted after the COMMIT, as they were armed",
    async (storage, host) => {
      const message = { kind: "message", name: "GO" } as const;
      const tasks = ["m1", "m2", "m3"].map((id) => limitedTo(id, "messages", 1, message));
      const effects = ["e1", "e2"].map((id) => limitedTo(id, "effects", 1));
      await host.ask("begin");
      await add(storage, host, { arms: [...tasks, ...effects].map((task) => ({ task })) });
      assert.deepEqual(await claim(storage, 10), []);
      await host.ask("commit");
      const seen: string[] = [];
      for (let round = 0; round < 3; round += 1) {
        const claimed = await claim(storage, 10);
        seen.push(...ids(claimed).toSorted());
        for (const { id, token } of claimed) await put(storage, { consumes: { task: id, token } });
      }
      assert.deepEqual(seen, ["e1", "m1", "e2", "m2", "m3"]);
    },
  ),
  hostPromise("F2: no transaction, and one that has ended, take nothing", async (storage, host) => {
    await assert.rejects(() => add(storage, host, added), TypeError);
    for (const end of ["commit", "rollback"] as const) {
      await host.ask("begin");
      await host.ask(end);
      await assert.rejects(() => add(storage, host, added), TypeError);
    }
    assert.deepEqual(await partsOf(storage), NOTHING);
  }),
];
