/** Commits asked for in one turn travel together, and each has an answer of its own. */
import { describe, expect, onTestFinished, vi, it } from "vitest";
import { CommitUnknown, startOf } from "paystate/engine";
import type { PaymentWrite } from "../../src/payments/payment-storage.ts";
import { CommitQueue } from "../../src/engine/kernel/commit-queue.ts";
import type { Commit, CommitAnswer, CommitResult } from "../../storage/storage.ts";
import { counters } from "./counter.ts";
import { job } from "./job.ts";
import { engineTest } from "../kit/engine-test.ts";

const ok: CommitResult = { ok: true };

/** Writes that no table takes, by what is wrong with them. */
const hit = { id: "hit", accountId: "a", scope: "s", at: 1 };
const mistakes: Readonly<Record<string, PaymentWrite>> = {
  "a fraction": { table: "limitHits", insert: { ...hit, at: 0.5 } },
  "a text for a number": { table: "limitHits", insert: { ...hit, at: "1" as never } },
  "too large a number": { table: "limitHits", insert: { ...hit, at: 2 ** 60 } },
  "a missing column": { table: "facts", insert: { id: "hit" } as never },
  "no such table": { table: "absent", insert: { id: "hit" } } as never,
};
const numbered = (count: number): Commit<unknown>[] =>
  Array.from({ length: count }, (_, index) => ({ consumes: { task: String(index), token: 1 } }));

describe("the commit queue", () => {
  it("D14: commits that are asked for as soon as the one before is answered leave timers their turn", async () => {
    const queue = new CommitQueue<unknown>({ commit: async (items) => items.map(() => ok) });
    const [item = {}] = numbered(1);
    let hadTurn = false;
    setTimeout(() => (hadTurn = true), 1);
    // Without a turn nothing else would end the loop.
    for (let commits = 0; !hadTurn && commits < 200_000; commits += 1) await queue.commit(item);
    expect(hadTurn).toBe(true);
  });

  it("each hears its own answer", async () => {
    const refused: CommitResult = { ok: false, conflict: "token" };
    const queue = new CommitQueue<unknown>({
      commit: async (items) => items.map(({ consumes }) => (Number(consumes?.task) % 2 === 0 ? ok : refused)),
    });
    const answers = await Promise.all(numbered(10).map((item) => queue.commit(item)));
    expect(answers).toEqual(Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? ok : refused)));
  });

  it("a storage that fails is told to everybody of the batch, and the next batch is tried", async () => {
    let fails = true;
    const queue = new CommitQueue<unknown>({
      commit: async (items) => {
        if (fails) throw new Error("disk full");
        return items.map(() => ok);
      },
    });
    const answers = await Promise.allSettled(numbered(3).map((item) => queue.commit(item)));
    expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    fails = false;
    expect(await queue.commit({})).toEqual(ok);
  });

  it("D12: each commit is given to storage once, and one that failed or is unknown is told so alone", async () => {
    const given: unknown[] = [];
    const wrong = new Error("a value cannot be bound");
    const lost = new Error("the connection was lost");
    const queue = new CommitQueue<unknown>({
      commit: async (items) => {
        given.push(...items);
        return items.map(({ consumes }): CommitAnswer => {
          if (consumes?.task === "100") return { ok: false, conflict: "failed", error: wrong };
          return consumes?.task === "101" ? { ok: false, conflict: "unknown", error: lost } : ok;
        });
      },
    });
    const items = numbered(255);
    const answers = await Promise.allSettled(items.map((item) => queue.commit(item)));
    expect(given).toEqual(items);
    const told = answers.map((each) => (each.status === "fulfilled" ? each.value : (each.reason as unknown)));
    expect(told[100]).toBe(wrong);
    expect(told[101]).toBeInstanceOf(CommitUnknown);
    expect(told[101]).toMatchObject({ cause: lost });
    expect(told.filter((each) => each === ok)).toHaveLength(253);
  });

  it("D31: behind a batch that is not answered the next ones are sent, and no more than 10,000 commits wait", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const sent: number[] = [];
    let answer = (): void => {};
    const silent = new Promise<void>((resolve) => (answer = resolve));
    const queue = new CommitQueue<unknown>({
      commit: async (items) => {
        sent.push(items.length);
        await silent;
        return items.map(() => ok);
      },
    });
    const items = numbered(10_000);
    const answers = items.map((item) => queue.commit(item));
    for (let seconds = 1; seconds <= 3; seconds += 1) {
      await new Promise((resolve) => void setImmediate(resolve));
      expect(sent).toEqual(Array.from({ length: seconds }, () => 256));
      await vi.advanceTimersByTimeAsync(1_000);
    }
    await expect(queue.commit({})).rejects.toMatchObject({ code: "busy" });
    answer();
    expect(new Set((await Promise.all(answers)).map(({ ok: isOk }) => isOk))).toEqual(new Set([true]));
    expect(await queue.commit({})).toEqual(ok);
    const large = { arms: [{ task: { payload: "x".repeat(2 ** 26 + 1) } }] } as unknown as Commit<unknown>;
    const [alone, beside] = await Promise.allSettled([queue.commit(large), queue.commit(large)]);
    expect(alone, "would be refused for ever").toMatchObject({ value: ok });
    expect(beside).toMatchObject({ reason: { code: "busy" } });
  });
});

const { test, engine, storage, settled, pass, awaitsOutside } = engineTest("group commit");

test("I13: of commits in one turn the refused ones leave no trace and disturb no neighbour", async () => {
  const ran: string[] = [];
  const jobs = job(async ({ id }) => {
    ran.push(id);
    return id;
  });
  const { run, commit, read } = await engine(jobs, "taken");
  const request = (id: string) => startOf(jobs, id, { id });
  const answers = await Promise.all([
    commit({ starts: [request("a")] }),
    commit({ starts: [request("b"), request("taken")] }),
    commit({ starts: [request("c")] }),
    commit({ starts: [request("c")] }),
    commit({ starts: [request("d")] }),
  ]);
  expect(answers).toEqual([
    ok,
    { ok: false, conflict: "exists", index: 1 },
    ok,
    { ok: false, conflict: "exists", index: 0 },
    ok,
  ]);
  expect(await read("b")).toBeNull();
  expect(await storage.history("b", { after: 0, limit: 10 })).toEqual([]);
  run();
  await settled();
  expect(ran.toSorted()).toEqual(["a", "c", "d", "taken"]);
});

test.each(Object.entries(mistakes))(
  "D1, D12: beside a write with %s each of 255 sends and 255 starts is made once, and it alone has failed",
  async (_, write) => {
    const { start, send, commit, read } = await engine(counters);
    const ids = Array.from({ length: 256 }, (_each, index) => `counter-${index}`);
    awaitsOutside(...ids);
    const started = ids.map((id) => start(counters, { id, input: undefined }));
    const bad = commit({ starts: [startOf(counters, "bad", undefined)], writes: [write] });
    await expect(bad).rejects.toBeInstanceOf(Error);
    expect(await Promise.all(started)).toEqual(ids.map(() => ok));
    const answers = await Promise.allSettled(
      ids.map((id, index) => send(counters, id, { type: "ADD" }, index === 128 ? { writes: [write] } : {})),
    );
    expect(answers.flatMap(({ status }, index) => (status === "rejected" ? index : []))).toEqual([128]);
    for (const [index, id] of ids.entries()) {
      expect((await read(id))?.context).toEqual({ count: index === 128 ? 0 : 1 });
      expect(await storage.history(id, { after: 1, limit: 9 })).toHaveLength(index === 128 ? 0 : 1);
    }
    expect(await read("bad")).toBeNull();
  },
);

test("D12: beside an effect whose outcome is refused at every retry each of 255 sends is made once", async () => {
  const taken = { table: "facts", insert: { id: "taken", value: "" } } as const;
  let tries = 0;
  const jobs = job(async ({ id }) => {
    tries += 1;
    return { event: { type: "DONE", by: id }, writes: [taken as never] };
  });
  const { run, start, send, commit, read } = await engine({ workflows: [counters, jobs] });
  await commit({ writes: [taken] });
  const ids = Array.from({ length: 255 }, (_each, index) => `counter-${index}`);
  awaitsOutside(...ids, "job");
  await Promise.all(ids.map((id) => start(counters, { id, input: undefined })));
  await start(jobs, { id: "job", input: { id: "job" } });
  run();
  for (let round = 1; round <= 4; round++) {
    await Promise.all(ids.map((id) => send(counters, id, { type: "ADD" })));
    await settled();
    await pass(round * 1_000);
    for (const id of ids) expect((await read(id))?.context).toEqual({ count: round });
  }
  expect(tries).toBeGreaterThan(6);
  expect(await storage.tasks({ order: "failing", least: 1, limit: 9 })).toMatchObject([{ instance: "job" }]);
  expect(await read("job")).toMatchObject({ value: "working" });
  for (const id of ids) expect(await storage.history(id, { after: 1, limit: 9 })).toHaveLength(4);
});
