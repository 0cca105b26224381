/** Commits whose answer was lost: nobody is told more than is known, and nothing is decided again. */
import { expect } from "vitest";
import { CommitUnknown } from "paystate/engine";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import type { CommitAnswer } from "../../storage/storage.ts";
import { counters } from "./counter.ts";
import { job } from "./job.ts";
import { engineTest } from "../kit/engine-test.ts";

const lost: CommitAnswer = { ok: false, conflict: "unknown", error: new Error("the connection was lost") };

/** A storage whose next commit has this fate, and is answered as unknown. */
class Losing {
  readonly storage: PaymentStorage;
  loads = 0;
  #fate: "happens" | "does not happen" | null = null;

  constructor(storage: PaymentStorage) {
    this.storage = {
      ...storage,
      load: async (id) => {
        this.loads += 1;
        return storage.load(id);
      },
      commit: async (items) => {
        const fate = items.some(({ step }) => step !== undefined) ? this.#fate : null;
        if (fate === null) return storage.commit(items);
        this.#fate = null;
        if (fate === "happens") await storage.commit(items);
        return items.map(() => lost);
      },
    };
  }

  /** The next commit with a step. */
  lose(fate: "happens" | "does not happen"): void {
    this.#fate = fate;
  }
}

const FATES = ["happens", "does not happen"] as const;

const { test, engine, storage, open, settled, pass, awaitsOutside } = engineTest("unknown answers");

test.each(FATES)(
  "D12: a send that %s though its answer was lost rejects as unknown, is told to nobody, and the instance is read anew",
  async (fate) => {
    awaitsOutside("c");
    const losing = new Losing(await open());
    const { send, read, subscribe } = await engine({ workflows: [counters], storage: losing.storage }, "c");
    await send(counters, "c", { type: "ADD" });
    const told: unknown[] = [];
    subscribe(({ commit }) => told.push((commit.history?.[0]?.version ?? 0) - 1));
    losing.lose(fate);
    await expect(send(counters, "c", { type: "ADD" })).rejects.toThrow(CommitUnknown);
    expect(told).toEqual([]);
    const { loads } = losing;
    expect(await send(counters, "c", { type: "ADD" })).toMatchObject({ kind: "stepped" });
    expect(losing.loads).toBe(loads + 1);
    const count = fate === "happens" ? 3 : 2;
    expect((await read("c"))?.context).toEqual({ count });
    expect(told).toEqual([count]);
  },
);

test.each(FATES)(
  "D12, D47: an effect whose end %s though its answer was lost has not failed, is no crash, and its end counts once",
  async (fate) => {
    const crashes: number[] = [];
    const jobs = job(async ({ id }, run) => {
      crashes.push(run.crashes);
      return id;
    });
    const losing = new Losing(await open());
    const logged: string[] = [];
    const log = (_: object, message: string): void => void logged.push(message);
    const { run, start } = await engine({
      workflows: [jobs],
      storage: losing.storage,
      logger: { debug: log, info: log, warn: log, error: log },
    });
    losing.lose(fate);
    await start(jobs, { id: "j", input: { id: "j" } });
    run();
    await settled();
    await pass(2_000);
    await settled();
    expect(crashes).toEqual(fate === "happens" ? [0] : [0, 0]);
    expect(await storage.load("j")).toMatchObject({ status: "done", version: 2 });
    expect(await storage.history("j", { after: 0, limit: 9 })).toHaveLength(2);
    expect(logged).not.toContain("a task failed and will be tried again");
  },
);

test("D12: a handler that hears of no answer by a database of its own has not failed, and is called again after a pause", async () => {
  let calls = 0;
  const jobs = job(async () => {
    calls += 1;
    throw new CommitUnknown(new Error("connection reset"));
  });
  const { run, failingTasks } = await engine(jobs, "j");
  run();
  await settled();
  for (let second = 0; second < 10; second++) await pass(1_000);
  expect(calls).toBeGreaterThan(3);
  expect(calls).toBeLessThan(15);
  expect(await failingTasks()).toEqual([]);
});
