/** Commits whose answer was lost: nobody is told more than is known, and nothing is decided again. */
import { describe, expect, test } from "vitest";
import { assign, createMachine } from "xstate";
import { CommitUnknown, workflow } from "paystate/engine";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import type { CommitAnswer } from "../../storage/storage.ts";
import { adapters } from "../kit/adapters.ts";
import { inWorld } from "../kit/engine-world.ts";
import { drawn } from "../kit/thorough.ts";
import { job } from "./job.ts";

const counter = createMachine({
  id: "counter",
  types: {} as { context: { count: number }; events: { type: "ADD" } },
  context: { count: 0 },
  initial: "open",
  states: { open: { on: { ADD: { actions: assign({ count: ({ context }) => context.count + 1 }) } } } },
});
const counters = workflow(counter)({ version: 1 });
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

describe.each(drawn(adapters, "unknown answers"))("unknown answers on $name", (adapter) => {
  test.each(FATES)(
    "D12: a send that %s though its answer was lost rejects as unknown, is told to nobody, and the instance is read anew",
    (fate) =>
      inWorld(adapter, async ({ engine, open, awaitsOutside }) => {
        awaitsOutside("c");
        const losing = new Losing(await open());
        const { start, send, read, subscribe } = await engine({
          workflows: [counters],
          storage: losing.storage,
        });
        await start(counters, { id: "c", input: undefined });
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
      }),
  );

  test.each(FATES)(
    "D12, D47: an effect whose end %s though its answer was lost has not failed, is no crash, and its end counts once",
    (fate) =>
      inWorld(adapter, async ({ engine, open, storage, settled, pass }) => {
        const crashes: number[] = [];
        const jobs = job(async ({ id }, run) => {
          crashes.push(run.crashes);
          return { event: { type: "DONE", by: id } };
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
      }),
  );

  test("D12: a handler that hears of no answer by a database of its own has not failed, and is called again after a pause", () =>
    inWorld(adapter, async ({ engine, settled, pass }) => {
      let calls = 0;
      const jobs = job(async () => {
        calls += 1;
        throw new CommitUnknown(new Error("connection reset"));
      });
      const { run, start, failingTasks } = await engine({ workflows: [jobs] });
      await start(jobs, { id: "j", input: { id: "j" } });
      run();
      await settled();
      for (let second = 0; second < 10; second++) await pass(1_000);
      expect(calls).toBeGreaterThan(3);
      expect(calls).toBeLessThan(15);
      expect(await failingTasks()).toEqual([]);
    }));
});
