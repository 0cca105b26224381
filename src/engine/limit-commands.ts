/** Changes the limits of a key at run time, over all processes. */
import { commitOne } from "../../storage/decided.ts";
import type { AnyWrite, EngineStorage } from "../../storage/storage.ts";
import { withTables } from "../../storage/with-tables.ts";
import { checkRate } from "../workflow/own-limit.ts";
import { storedStarts, type KeyLimit } from "./rate-limit.ts";

/** Commands about limits. They need neither `run()` nor the charts. */
export interface LimitCommands {
  /**
   * Changes the limits of a key over all processes, in one commit, until it is set to null: then what the limits of the
   * tasks say holds again. The numbers that are given come before those of all tasks of the key, also of later ones; those
   * that are left out are the tasks' own. A larger `atMost` lets in at once what waits. A smaller one stops nothing that
   * runs: none begins until fewer run. With 0 the key is paused. A `rate` holds from the next run on, for tasks that
   * have none of their own within a second, and those that wait for one ask anew. The order of messages is no limit that can be changed.
   *
   * @throws TypeError naming the field, and nothing has changed.
   *
   * @example
   * ```ts
   * import { createEngine } from "paystate/engine";
   * import { memoryStorage } from "paystate/storage/memory";
   *
   * const engine = createEngine({ storage: memoryStorage(), workflows: [] });
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

/** The commands over a storage; `now` in milliseconds since the Unix epoch. */
export function limitCommands(storage: EngineStorage, now: () => number): LimitCommands {
  const ready = withTables(storage, [storedStarts]);
  return {
    async setLimit(key, limit) {
      const override = checkedLimit(key, limit);
      for (;;) {
        const dueAt = now();
        const limits = [{ key, atMost: override?.atMost ?? null, dueAt, delayMs: 0 }];
        const row = await ready.get(storedStarts, key);
        // Refused where another has made the row first, and never where it has changed: starts cannot hold this up.
        const writes = [overriding(key, override, row === null)];
        if ((await commitOne(ready, { limits, writes })).ok) return;
      }
    },
    async limits(limit = DEFAULT_LIMIT) {
      const rows = await ready.find({ table: storedStarts, index: "overridden", limit });
      return rows.map(({ id: key, override }) => ({ key, ...override }));
    },
  };
}

/** A start that has read the row before is refused, and reads what is said now. */
function overriding(key: string, override: KeyLimit | null, isNew: boolean): AnyWrite {
  const table = storedStarts.name;
  return isNew
    ? { table, insert: { id: key, version: 1, starts: [], override } }
    : { table, id: key, set: { override } };
}

/** The fields that are given. @throws TypeError */
function checkedLimit(key: string, limit: KeyLimit | null): KeyLimit | null {
  if (typeof key !== "string" || key === "") throw new TypeError("setLimit: the key is an empty text");
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
