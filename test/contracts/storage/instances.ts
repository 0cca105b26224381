/** The storage contract on instances, their history, and records as copies: G2, G7. */
import assert from "node:assert/strict";
import { promise, type StorageContractCase } from "./contract.ts";
import {
  claim,
  commit,
  either,
  ok,
  put,
  range,
  stampOf,
  startOf,
  stepOf,
  taskOf,
  webhookOf,
} from "./samples.ts";

/** Instances: one winner per version, loads that see the last commit, history in order. */
export const instanceCases: readonly StorageContractCase[] = [
  promise(
    "a start that stands for two steps says its version, its life and the time of the last",
    async ({ storage }) => {
      const start = { ...startOf("i", { createdAt: 5 }), version: 2, life: "first", updatedAt: 7 };
      await put(storage, { starts: [start] });
      assert.deepEqual(await storage.load("i"), start);
      await put(storage, { step: { ...stepOf("i", 2), after: start.stamp } });
      const { version, life } = (await storage.load("i")) ?? {};
      assert.deepEqual([version, life], [3, "first"]);
    },
  ),
  promise("G2: of twenty steps from one version one wins", async ({ storage, other }) => {
    await put(storage, { starts: [startOf("i")] });
    const race = range(20).map((index) =>
      commit(either(index, storage, other), {
        step: stepOf("i", 1, { snapshot: `{"by":${index}}` }),
        // Both name their tasks after the version they make: the loser's must not stand in anybody's way.
        arms: [{ task: taskOf("i:2:0") }],
        history: [
          { instance: "i", version: 2, stamp: "s", at: index, event: "{}", value: "{}", cause: null },
        ],
      }),
    );
    const results = await Promise.all(race);
    const winner = results.findIndex((result) => result.ok);
    assert.deepEqual(
      results,
      range(20).map((index) => (index === winner ? ok : { ok: false, conflict: "step" })),
    );
    assert.equal((await storage.load("i"))?.snapshot, `{"by":${winner}}`);
    assert.equal((await storage.load("i"))?.version, 2);
    assert.equal((await claim(storage, 0)).length, 1);
  }),
  promise(
    "G2: a step of an absent instance is refused, and one from a future version too",
    async ({ storage }) => {
      assert.deepEqual(await commit(storage, { step: stepOf("i", 1) }), { ok: false, conflict: "step" });
      await put(storage, { starts: [startOf("i")] });
      assert.deepEqual(await commit(storage, { step: stepOf("i", 2) }), { ok: false, conflict: "step" });
    },
  ),
  promise(
    "D13: of an id that was removed and started again neither a step nor a removal of its old life is accepted, whatever its version",
    async ({ storage, other }) => {
      await put(storage, { starts: [startOf("i", { status: "done" })] });
      await put(storage, { removes: [{ id: "i", life: stampOf(1) }] });
      await put(other, { starts: [startOf("i", { stamp: "later", status: "done" })] });
      const refused = { ok: false, conflict: "step" };
      assert.deepEqual(await commit(storage, { step: stepOf("i", 1) }), refused);
      assert.deepEqual(await commit(storage, { removes: [{ id: "i", life: stampOf(1) }] }), refused);
      const { life, stamp, version } = (await storage.load("i")) ?? {};
      assert.deepEqual({ life, stamp, version }, { life: "later", stamp: "later", version: 1 });
      await put(storage, { removes: [{ id: "i", life: "later" }] });
    },
  ),
  promise("D13: an instance is not removed while one that it has begun is active", async ({ storage }) => {
    await put(storage, {
      starts: [startOf("i", { status: "done" }), startOf("i/child", { parent: "i" })],
    });
    const removes = [{ id: "i", life: stampOf(1) }];
    assert.deepEqual(await commit(storage, { removes }), { ok: false, conflict: "step" });
    await put(storage, { step: stepOf("i/child", 1, { status: "done" }) });
    assert.equal((await storage.load("i/child"))?.parent, "i");
    await put(storage, { removes });
  }),
  promise("G2: a step replaces all but the id and the time of creation", async ({ storage }) => {
    await put(storage, { starts: [startOf("i")] });
    const next = {
      workflow: "sample@2",
      hash: "other",
      status: "done",
      snapshot: `{"ü":"\\u0000💸"}`,
    } as const;
    await put(storage, { step: stepOf("i", 1, { ...next, at: 77 }) });
    assert.deepEqual(await storage.load("i"), {
      id: "i",
      parent: null,
      ...next,
      version: 2,
      life: stampOf(1),
      stamp: stampOf(2),
      createdAt: 1,
      updatedAt: 77,
    });
  }),
  promise("G2: of twenty starts of one id one wins, also within one commit", async ({ storage, other }) => {
    const race = range(20).map((index) =>
      commit(either(index, storage, other), { starts: [startOf(`own${index}`), startOf("i")] }),
    );
    const results = await Promise.all(race);
    assert.equal(results.filter((result) => result.ok).length, 1);
    for (const [index, result] of results.entries()) {
      if (!result.ok) assert.deepEqual(result, { ok: false, conflict: "exists", index: 1 });
      assert.equal((await storage.load(`own${index}`)) !== null, result.ok);
    }
    assert.deepEqual(await commit(storage, { starts: [startOf("j"), startOf("j")] }), {
      ok: false,
      conflict: "exists",
      index: 1,
    });
  }),
  promise("G7: a load sees what was committed before it, through any handle", async ({ storage, other }) => {
    assert.equal(await other.load("i"), null);
    await put(storage, { starts: [startOf("i")] });
    for (const version of range(20).map((index) => index + 1)) {
      await put(either(version, storage, other), { step: stepOf("i", version) });
      assert.equal((await either(version + 1, storage, other).load("i"))?.version, version + 1);
    }
  }),
  promise(
    "a row of the history keeps what made the step, byte for byte, or that nothing is known of it",
    async ({ storage, other }) => {
      const causes = ["message i ü:1:0", "", null, "effect@3:0 \u2028 say 'hi'"];
      const rows = causes.map((cause, index) => ({
        instance: "i",
        version: index + 1,
        stamp: "s",
        at: index,
        event: "{}",
        value: "{}",
        cause,
      }));
      await put(storage, { history: rows });
      assert.deepEqual(await other.history("i", { after: 0, limit: 9 }), rows);
    },
  ),
  promise("the history of an instance comes in order and in pages, byte for byte", async ({ storage }) => {
    const row = (version: number) => ({
      instance: "i",
      version,
      stamp: "s",
      at: version * 10,
      event: `{ "type":  "E${version} \\ud800 ü" }`,
      value: `"${version}"`,
      cause: null,
    });
    // Written out of order and beside another instance, with versions of more than one digit.
    for (const version of [11, 2, 1, 10, 3]) await put(storage, { history: [row(version)] });
    await put(storage, { history: [{ ...row(2), instance: "j" }] });
    const page = (after: number, limit: number) => storage.history("i", { after, limit });
    assert.deepEqual(await page(0, 3), [row(1), row(2), row(3)]);
    assert.deepEqual(await page(3, 3), [row(10), row(11)]);
    assert.deepEqual(await page(11, 3), []);
    assert.deepEqual(await storage.history("none", { after: 0, limit: 9 }), []);
  }),
  promise(
    "of a history the rows below a version go, 20,000 of them in one commit, and no others",
    async ({ storage, other }) => {
      const row = (instance: string, version: number) => ({
        instance,
        version,
        stamp: "s",
        at: version,
        event: "{}",
        value: "{}",
        cause: null,
      });
      const versions = async (instance: string, after = 0): Promise<number[]> =>
        (await other.history(instance, { after, limit: 10 })).map(({ version }) => version);
      await put(storage, { history: [...range(5).map((n) => row("i", n + 1)), row("j", 1)] });
      await put(storage, { forgets: [{ instance: "i", before: 4 }], history: [row("i", 6)] });
      assert.deepEqual(await versions("i"), [4, 5, 6]);
      assert.deepEqual(await versions("j"), [1]);
      await put(storage, { forgets: [{ instance: "i", before: 4 }] });
      assert.deepEqual(await versions("i"), [4, 5, 6]);
      for (const start of [1, 10_001]) {
        await put(storage, { history: range(10_000).map((n) => row("k", start + n)) });
      }
      await put(storage, { history: [row("k", 20_001), row("k", 20_002)] });
      await put(storage, { forgets: [{ instance: "k", before: 20_003 }] });
      assert.deepEqual(await versions("k"), [20_001, 20_002]);
    },
  ),
  // modules: webhooks
  promise("records go in and out as copies", async ({ storage }) => {
    const bytes = Uint8Array.of(1, 2, 3);
    const attempt = {
      id: "s",
      messageHash: "m",
      transactionId: "t",
      bytes,
      blockhash: "b",
      lastValidBlockHeight: 1,
      firstSlot: 1,
      reference: null,
      createdAt: 1,
      takenAt: null,
      transfer: null,
      legs: null,
      bid: null,
      error: null,
    };
    const events = ["a"];
    const start = { ...startOf("i") };
    await put(storage, {
      starts: [start],
      writes: [
        { table: "attempts", insert: attempt },
        {
          table: "webhooks",
          insert: webhookOf("w", { events }),
        },
      ],
    });
    bytes.fill(9);
    events.push("b");
    Object.assign(start, { snapshot: "changed" });
    const read = async () =>
      [await storage.load("i"), await storage.attempts(["s"]), await storage.webhook("w")] as const;
    const [instance, [stored], webhook] = await read();
    assert.equal(instance?.snapshot, startOf("i").snapshot);
    assert.deepEqual([...(stored?.bytes ?? [])], [1, 2, 3]);
    assert.deepEqual(webhook?.events, ["a"]);
    Object.assign(instance ?? {}, { snapshot: "changed" });
    stored?.bytes.fill(9);
    Object.assign(webhook?.events ?? [], ["b"]);
    const [again, [storedAgain], webhookAgain] = await read();
    assert.equal(again?.snapshot, startOf("i").snapshot);
    assert.deepEqual([...(storedAgain?.bytes ?? [])], [1, 2, 3]);
    assert.deepEqual(webhookAgain?.events, ["a"]);
  }),
];
