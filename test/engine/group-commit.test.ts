/** Commits asked for in one turn travel together, and each has an answer of its own. */
import { describe, expect, test } from "vitest";
import { startOf } from "paystate/engine";
import { CommitQueue } from "../../src/engine/commit-queue.ts";
import type { Commit, CommitResult, EngineStorage } from "../../storage/storage.ts";
import { adapters } from "../kit/adapters.ts";
import { inWorld } from "../kit/engine-world.ts";
import { sampled } from "../kit/thorough.ts";
import { job } from "./job.ts";

const ok: CommitResult = { ok: true };
const numbered = (count: number): Commit<unknown>[] =>
  Array.from({ length: count }, (_, index) => ({ consumes: { task: String(index), token: 1 } }));

describe("the commit queue", () => {
  test("commits of one turn share one transaction, at most 256 of them, in order", async () => {
    const batches: number[] = [];
    const seen: unknown[] = [];
    const queue = new CommitQueue<unknown>({
      commit: async (items) => {
        batches.push(items.length);
        seen.push(...items);
        return items.map(() => ok);
      },
    });
    const items = numbered(600);
    await Promise.all(items.map((item) => queue.commit(item)));
    expect(batches).toEqual([256, 256, 88]);
    expect(seen).toEqual(items);
  });

  test("each hears its own answer", async () => {
    const refused: CommitResult = { ok: false, conflict: "token" };
    const queue = new CommitQueue<unknown>({
      commit: async (items) => items.map(({ consumes }) => (Number(consumes?.task) % 2 === 0 ? ok : refused)),
    });
    const answers = await Promise.all(numbered(10).map((item) => queue.commit(item)));
    expect(answers).toEqual(Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? ok : refused)));
  });

  test("a storage that fails is told to everybody of the batch, and the next batch is tried", async () => {
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

  test("D1: two commits that storage cannot take, side by side, fail alone among 255: the others are done once", async () => {
    const bad: readonly unknown[] = ["100", "101"];
    const done: unknown[] = [];
    const queue = new CommitQueue<unknown>({
      commit: async (items) => {
        const tasks = items.flatMap(({ consumes }) => consumes?.task ?? []);
        if (tasks.some((task) => bad.includes(task))) throw new Error("a value cannot be bound");
        done.push(...tasks);
        return items.map(() => ok);
      },
    });
    const answers = await Promise.allSettled(numbered(255).map((item) => queue.commit(item)));
    const failed = answers.flatMap(({ status }, index) => (status === "rejected" ? String(index) : []));
    expect(failed).toEqual(bad);
    const others = numbered(255).flatMap(({ consumes }) => consumes?.task ?? []);
    expect(done).toEqual(others.filter((task) => !bad.includes(task)));
  });

  test("D1: an outage is not waited out one commit after the other", async () => {
    let asked = 0;
    const queue = new CommitQueue<unknown>({
      commit: async () => {
        asked += 1;
        throw new Error("the connection was lost");
      },
    });
    const answers = await Promise.allSettled(numbered(255).map((item) => queue.commit(item)));
    expect(answers.every(({ status }) => status === "rejected")).toBe(true);
    // The batch, one of its commits alone, and a look whether any commit is taken.
    expect(asked).toBe(3);
  });

  test("D1: an outage in the middle of a batch: what was done before it is answered so, the rest fails at once", async () => {
    const done: unknown[] = [];
    let asked = 0;
    const queue = new CommitQueue<unknown>({
      commit: async (items) => {
        asked += 1;
        if (items.length > 1 || done.length === 10) throw new Error("the disk is full");
        done.push(...items);
        return items.map(() => ok);
      },
    });
    const items = numbered(255);
    const answers = await Promise.allSettled(items.map((item) => queue.commit(item)));
    expect(answers.map(({ status }) => status === "fulfilled")).toEqual(items.map((_, index) => index < 10));
    expect(done).toEqual(items.slice(0, 10));
    expect(asked).toBe(1 + 10 + 1 + 1);
  });

  test("a storage that answers too few is not believed", async () => {
    const queue = new CommitQueue<unknown>({ commit: async () => [ok] });
    const [first, second] = await Promise.allSettled(numbered(2).map((item) => queue.commit(item)));
    expect(first).toMatchObject({ status: "fulfilled" });
    expect(second).toMatchObject({ status: "rejected" });
  });
});

describe.each(sampled(adapters, "group commit"))("group commit on $name", (adapter) => {
  test("I13: of commits in one turn the refused ones leave no trace and disturb no neighbour", () =>
    inWorld(adapter, async ({ engine, settled, storage }) => {
      const ran: string[] = [];
      const jobs = job(async ({ id }) => {
        ran.push(id);
        return { event: { type: "DONE", by: id } };
      });
      const { run, start, commit, read } = await engine({ workflows: [jobs] });
      await start(jobs, { id: "taken", input: { id: "taken" } });
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
    }));

  test("D1: of 100 starts in one turn two that storage cannot take fail alone, and the others are done once", () =>
    inWorld(adapter, async ({ engine, open, settled }) => {
      const ran: string[] = [];
      const jobs = job(async ({ id }) => {
        ran.push(id);
        return { event: { type: "DONE", by: id } };
      });
      const storage: EngineStorage = await open();
      const { run, start, read } = await engine({
        workflows: [jobs],
        storage: {
          ...storage,
          async commit(items) {
            const ids = items.flatMap(({ starts = [] }) => starts.map(({ id }) => id));
            if (ids.some((id) => id.startsWith("bad"))) throw new Error("a value cannot be bound");
            return storage.commit(items);
          },
        },
      });
      const good = Array.from({ length: 98 }, (_, index) => `job-${index}`);
      const ids = [...good.slice(0, 40), "bad-1", "bad-2", ...good.slice(40)];
      run();
      const answers = await Promise.allSettled(ids.map((id) => start(jobs, { id, input: { id } })));
      const failed = ids.filter((_, index) => answers[index]?.status === "rejected");
      expect(failed).toEqual(["bad-1", "bad-2"]);
      await settled();
      expect(ran.toSorted()).toEqual(good.toSorted());
      expect(await read("bad-1")).toBeNull();
    }));

  test("I13: a refused commit frees the places it had reserved", () =>
    inWorld(adapter, async ({ engine, settled }) => {
      const ran: string[] = [];
      const jobs = job(async ({ id }) => {
        ran.push(id);
        return { event: { type: "DONE", by: id } };
      });
      const { run, start } = await engine({ workflows: [jobs], slots: 2 });
      run();
      await Promise.all(Array.from({ length: 10 }, () => start(jobs, { id: "same", input: { id: "same" } })));
      await settled();
      await start(jobs, { id: "next", input: { id: "next" } });
      await settled();
      expect(ran).toEqual(["same", "next"]);
    }));
});
