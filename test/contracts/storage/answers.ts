/** The storage contract on answers: G8, G9. What becomes of each commit of a batch, whatever the others hold. */
import assert from "node:assert/strict";
import type { CommitAnswer } from "../../../storage/storage.ts";
import { promise, type StorageContractCase } from "./contract.ts";
import { hit, ok, type PaymentCommit, range, startOf, stepOf, taskOf } from "./samples.ts";

const fact = (id: string): PaymentCommit => ({ writes: [{ table: "facts", insert: { id, value: id } }] });

/** The word for an answer; of a failure the word alone, since each adapter tells the reason in its own words. */
const wordOf = (answer: CommitAnswer): string => (answer.ok ? "ok" : answer.conflict);

/** Of a program without types. */
const none = null as unknown as PaymentCommit;

/** Commits that no table takes, by what is wrong with them. */
const mistakes: Readonly<Record<string, PaymentCommit>> = {
  "a number in the place of a text": {
    writes: [{ table: "facts", insert: { id: "bad", value: 5 as never } }],
  },
  "a row without a column": { writes: [{ table: "facts", insert: { id: "bad" } as never }] },
  "a number too large for its column": { writes: [{ table: "limitHits", insert: hit("bad", 2 ** 60) }] },
  "a table that is not there": { writes: [{ table: "absent", insert: { id: "bad" } } as never] },
  "a fraction for a time": { starts: [startOf("bad")], arms: [{ task: taskOf("bad", { dueAt: 0.5 }) }] },
  "null in its place": none,
  "a task id that is taken": { starts: [startOf("bad")], arms: [{ task: taskOf("taken") }] },
};

/** Answers: one for each commit, and all of them true. */
export const answerCases: readonly StorageContractCase[] = [
  ...Object.entries(mistakes).map(([mistake, bad]) =>
    promise(
      `G8, G9, D12: of 300 steps around a commit with ${mistake} each is made once, and it alone has failed`,
      async ({ storage }) => {
        const around = range(300);
        await storage.commit([
          { arms: [{ task: taskOf("taken") }] },
          ...around.map((index) => ({ starts: [startOf(`i${index}`)] })),
        ]);
        const steps = around.map((index): PaymentCommit => ({ step: stepOf(`i${index}`, 1) }));
        const answers = await storage.commit([...steps.slice(0, 200), bad, ...steps.slice(200)]);
        assert.deepEqual(
          answers.map(wordOf),
          [...range(200), null, ...range(100)].map((each) => (each === null ? "failed" : "ok")),
        );
        for (const index of around) assert.equal((await storage.load(`i${index}`))?.version, 2);
        assert.equal(await storage.load("bad"), null);
      },
    ),
  ),
  promise("G9, D12: a start beside a commit that fails is never told that it exists", async ({ storage }) => {
    const bad = mistakes["a row without a column"] ?? {};
    const answers = await storage.commit([{ starts: [startOf("a")] }, bad, bad, { starts: [startOf("b")] }]);
    assert.deepEqual(answers.map(wordOf), ["ok", "failed", "failed", "ok"]);
    assert.deepEqual(await storage.commit([{ starts: [startOf("a")] }]), [
      { ok: false, conflict: "exists", index: 0 },
    ]);
  }),
  promise("G9: a failure says why, and the same commit without the mistake is made", async ({ storage }) => {
    const [answer] = await storage.commit([mistakes["a number in the place of a text"] ?? {}]);
    assert.ok(answer?.ok === false && answer.conflict === "failed" && answer.error instanceof Error);
    assert.deepEqual(await storage.commit([fact("bad")]), [ok]);
  }),
];
