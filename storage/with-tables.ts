/** A storage whose caller's tables are installed before it is first used. */
import type { EngineStorage } from "./storage.ts";
import type { AnyTable } from "./table.ts";

/** What needs the tables. A host's transaction comes behind the first commit, and that of a handler behind a claim. */
const NEEDING: ReadonlySet<PropertyKey> = new Set(["commit", "claim", "get", "find", "tally"]);

/** Installs the tables once, before the first call that needs them. Where that fails the next call tries again. */
export function withTables(storage: EngineStorage, tables: readonly AnyTable[]): EngineStorage {
  const ready = installedFirst(storage, tables);
  return new Proxy(storage, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      // Of an adapter that is a class.
      const call = (...given: unknown[]): unknown => Reflect.apply(method, target, given);
      return NEEDING.has(name)
        ? (...given: unknown[]) => ready(() => call(...given) as Promise<unknown>)
        : call;
    },
  });
}

/** Calls at once what is asked for when the tables are installed, and else when they are. */
function installedFirst(
  storage: EngineStorage,
  tables: readonly AnyTable[],
): <A>(act: () => Promise<A>) => Promise<A> {
  let installed = tables.length === 0;
  let installing: Promise<void> | null = null;
  const install = async (): Promise<void> => {
    try {
      await storage.install(tables);
      installed = true;
    } finally {
      installing = null;
    }
  };
  return (act) => (installed ? act() : (installing ??= install()).then(act));
}
