/** Changes the limits of a key at run time, over all processes. */
import { commitOne } from "../../../../storage/decided.ts";
import type { AnyWrite, EngineStorage } from "../../../../storage/storage.ts";
import { checkKey } from "../../../workflow/own-limit.ts";
import { checkRate } from "../../../workflow/rate-option.ts";
import { checkLimit } from "../../kernel/check-limit.ts";
import { storedStarts, type KeyLimit } from "./rate-limit.ts";
import type { SecondKeys } from "../../second-keys.ts";

/** Commands about limits. They need neither `run()` nor the charts. */
export interface LimitCommands {
  /**
   * Changes the limits of a key over all processes, in one commit, until it is set to null: then what the limits of the
   * tasks say holds again. The numbers that are given come before those of all tasks of the key, also of later ones; those
   * that are left out are the tasks' own. A larger `atMost` lets in at once what waits. A smaller one stops nothing that
   * runs: none begins until fewer run. With 0 the key is paused. A `rate` holds from the next run on; tasks without
   * a rate of their own come under it within a second, and tasks that wait for their rate ask anew. The limit that keeps messages
   * in order cannot be changed. The `atMost` of a key that stands second holds within each first key, and not over all: a warning tells so.
   *
   * @throws TypeError naming the field, and nothing has changed.
   *
   * @example
   * ```ts
   * import { createEngine } from "paystate/engine";
   * import { sqliteStorage } from "paystate/storage/sqlite";
   *
   * const engine = createEngine({ storage: await sqliteStorage(":memory:"), workflows: [] });
   * await engine.setLimit("stripe", { atMost: 2, rate: { count: 5, perMs: 1_000 } }); // it asks for less
   * console.log((await engine.limits())[0]?.key); // stripe
   * await engine.setLimit("stripe", null);
   * console.log(await engine.limits()); // []
   * ```
   */
  setLimit(key: string, limit: KeyLimit | null): Promise<void>;
  /** The limits that `setLimit` has changed and not set to null, by key; up to `limit`, 100 unless said otherwise. */
  limits(limit?: number): Promise<readonly (KeyLimit & { readonly key: string })[]>;
}

const DEFAULT_LIMIT = 100;

interface LimitParts {
  readonly storage: EngineStorage;
  /** In milliseconds since the Unix epoch. */
  readonly now: () => number;
  readonly secondKeys: Pick<SecondKeys, "warnOfChange">;
}

/** The commands over a storage. */
export function limitCommands({ storage, now, secondKeys }: LimitParts): LimitCommands {
  return {
    async setLimit(key, limit) {
      const override = checkedLimit(key, limit);
      if (override?.atMost !== undefined) secondKeys.warnOfChange(key);
      for (;;) {
        const dueAt = now();
        const limits = [{ key, atMost: override?.atMost ?? null, dueAt, delayMs: 0 }];
        const [row = null] = await storage.find({ table: storedStarts, key });
        // Refused where another has made the row first, and never where it has changed: starts cannot hold this up.
        const writes = [overriding(key, override, row === null)];
        if ((await commitOne(storage, { limits, writes })).ok) return;
      }
    },
    async limits(limit = DEFAULT_LIMIT) {
      checkLimit("limits", limit);
      const rows = await storage.find({ table: storedStarts, index: "overridden", limit });
      return rows.map(({ id: key, override }) => ({ key, ...override }));
    },
  };
}

/** A concurrent start that read the old limit fails and reads the new one. */
function overriding(key: string, override: KeyLimit | null, isNew: boolean): AnyWrite {
  const table = storedStarts.name;
  return isNew
    ? { table, insert: { id: key, version: 1, starts: [], override } }
    : { table, id: key, set: { override } };
}

/** The fields that are given. @throws TypeError */
function checkedLimit(key: string, limit: KeyLimit | null): KeyLimit | null {
  checkKey(key);
  if (limit === null) return null;
  const { atMost, rate, ...others } = limit;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw new TypeError(`limit ${key}: ${unknown} cannot be set: expected atMost, rate, or null for both`);
  }
  if (atMost === undefined && rate === undefined) {
    throw new TypeError(`limit ${key}: expected atMost, rate, or null in place of an object without both`);
  }
  if (atMost !== undefined && (!Number.isSafeInteger(atMost) || atMost < 0)) {
    throw new TypeError(`limit ${key}: atMost is ${atMost}, which is no whole number from 0`);
  }
  if (rate !== undefined) checkRate(key, rate);
  return {
    ...(atMost !== undefined && { atMost }),
    ...(rate !== undefined && { rate: { count: rate.count, perMs: rate.perMs } }),
  };
}
