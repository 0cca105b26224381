/** What a vanished holder means: each database plays the lives of the model, with which it shares no code, as the model does. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { EngineStorage } from "../../storage/storage.ts";
import { taskOf, WORKFLOW } from "../contracts/storage/samples.ts";
import { Deaths, type Claim, type Task } from "../engine/deaths/model.ts";
import { lives, Play, type Given, type Shared } from "../engine/deaths/play.ts";
import { withinBudget } from "../kit/exploration-budget.ts";
import { postgresDatabase } from "../kit/postgres-database.ts";
import { emptySqlite, sqliteStorage } from "../kit/storages.ts";
import { byDepth, EXPLORING_MS } from "../kit/thorough.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";

type Beat = Omit<Claim, "places" | "maxCrashes">;

/** The model and a storage, asked the same: they answer the same. */
class Both implements Shared {
  readonly #model = new Deaths();
  readonly #storage: EngineStorage;

  constructor(storage: EngineStorage) {
    this.#storage = storage;
  }

  async arm({ id, queue, at }: Pick<Task, "id" | "queue" | "at">): Promise<void> {
    this.#model.arm({ id, queue, at });
    const task = taskOf(id, { kind: queue === "steps" ? "timer" : "effect", dueAt: at });
    await this.#storage.commit([{ arms: [{ task }] }]);
  }

  async claim(claim: Claim): Promise<readonly Given[]> {
    const expected = this.#model.claim(claim);
    const { places, ...request } = claim;
    const given = await this.#storage.claim({ ...request, ...places, limited: 9, workflows: [WORKFLOW] });
    expect(given.map(({ id, token, crashes }) => [id, token, crashes])).toEqual(
      expected.map(({ id, token, deaths }) => [id, token, deaths]),
    );
    return expected;
  }

  async heartbeat(held: readonly Given[], by: Beat): Promise<readonly string[]> {
    const expected = this.#model.heartbeat(held, by);
    const { lost, unseen } = await this.#storage.heartbeat({ ...by, tasks: held });
    expect([lost.toSorted(), unseen]).toEqual([expected.toSorted(), []]);
    return expected;
  }

  async release(held: Given, how: { at: number; failed: boolean }): Promise<boolean> {
    const expected = this.#model.release(held, how);
    const { id, token } = held;
    const failure = how.failed ? { error: "no" } : {};
    expect(await this.#storage.release({ id, token, dueAt: how.at, ...failure })).toBe(expected);
    return expected;
  }

  async end(held: Given): Promise<boolean> {
    const expected = this.#model.end(held);
    const [answer] = await this.#storage.commit([{ consumes: { task: held.id, token: held.token } }]);
    expect(answer?.ok).toBe(expected);
    return expected;
  }

  /** What is left has the same said of it. */
  async expectSame(): Promise<void> {
    const tasks = await this.#storage.tasks({ order: "instance", instance: "i", limit: 99 });
    const told = tasks.map(({ id, crashes, isHeld, deadAt }) => [
      id,
      { crashes, isHeld, isDead: deadAt !== null },
    ]);
    const expected = this.#model.tasks.map(({ id, deaths: crashes, holder, isDead }) => [
      id,
      { crashes, isHeld: holder !== null, isDead },
    ]);
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(expected));
  }
}

/** Plays lives in each of which there is a place for every task. */
const asInModel = (
  make: () => Promise<{ readonly storage: EngineStorage; readonly remove: () => Promise<void> }>,
) =>
  fc.asyncProperty(lives, async (life) => {
    const { storage, remove } = await make();
    try {
      const both = new Both(storage);
      const outcome = await new Play({ ...life, places: 99 }, both).outcome();
      expect(outcome).toMatchObject({ lost: [], atLarge: [], waited: [] });
      await both.expectSame();
    } finally {
      await remove();
    }
  });

test("D71: SQLite judges vanished holders as the model does", { timeout: EXPLORING_MS }, async () => {
  const property = asInModel(async () => {
    const database = await emptySqlite();
    const storage = await sqliteStorage(database, { elapsed: () => 0 });
    return { storage, remove: () => storage.close().then(() => void database.close()) };
  });
  const numRuns = byDepth({ quick: 50, ci: 1_000, long: 10_000 });
  await fc.assert(property, { numRuns, plugins: [withinBudget()] });
});

test.skipIf(!HAS_POSTGRES)(
  "D71: PostgreSQL judges vanished holders as the model does",
  { timeout: EXPLORING_MS },
  async () => {
    const property = asInModel(async () => {
      const database = await postgresDatabase();
      const storage = await database.open();
      return { storage, remove: () => storage.close().then(database.destroy) };
    });
    const numRuns = byDepth({ quick: 2, ci: 20, long: 10_000 });
    await fc.assert(property, { numRuns, plugins: [withinBudget()] });
  },
);
