/** Engines on one database and one virtual clock, judged by the invariants when the test is over. */
import { expect } from "vitest";
import { createEngine, type AnyWorkflow, type Engine, type EngineOptions } from "../../src/engine/index.ts";
import { MODULES } from "../../src/engine/modules.ts";
import { withChildren } from "../../src/workflow/workflow.ts";
import type { PaymentTables, PaymentStorage } from "../../src/payments/payment-storage.ts";
import type { Adapter } from "./adapters.ts";
import { brokenInvariants } from "./check-invariants.ts";
import { middleRandom } from "./middle-random.ts";
import { passTime } from "./pass-time.ts";
import { recordStorage, type StorageLog } from "./record-storage.ts";
import { virtualClock, type VirtualClock } from "./virtual-clock.ts";
import { elapsed, silentLogger } from "../../src/core/runtime.ts";

type AnyEngine = Engine<PaymentTables>;
type Settings = Partial<EngineOptions<PaymentTables>> & Pick<EngineOptions<PaymentTables>, "workflows">;

/** A workflow alone, or with the options of its engine. */
type Of = AnyWorkflow | Settings;

/** What a test works with. */
export interface EngineWorld {
  readonly clock: VirtualClock;
  readonly log: StorageLog;
  /** A handle on the database, to look with. */
  readonly storage: PaymentStorage;
  /**
   * Another engine, on a handle of its own, as another process would have one. It has started these instances of its
   * first workflow; the input of each is its id.
   */
  engine(of: Of, ...ids: readonly string[]): Promise<AnyEngine>;
  /** The same, and it ran before. */
  running(of: Of, ...ids: readonly string[]): Promise<AnyEngine>;
  /** The tasks of an instance that are not done. */
  tasksOf(instance: string): ReturnType<PaymentStorage["tasks"]>;
  /** One more handle on the database, with some of its calls replaced. */
  open(change?: (real: PaymentStorage) => Partial<PaymentStorage>): Promise<PaymentStorage>;
  /** Waits until no engine has anything to do at the clock's present time. */
  settled(): Promise<void>;
  /** Lets `ms` of virtual time pass, due moment by due moment. */
  pass(ms: number): Promise<void>;
  /** Names instances that wait for the outside world alone when the test is over. */
  awaitsOutside(...ids: readonly string[]): void;
}

/** Runs the test in a world of its own; then stops the engines, expects every invariant to hold, and cleans up. */
export async function inWorld(
  { make }: Pick<Adapter, "make">,
  act: (world: EngineWorld) => Promise<void>,
): Promise<void> {
  const clock = virtualClock();
  const log: StorageLog = { commits: [], claims: [] };
  const database = await make();
  const handles: PaymentStorage[] = [];
  const engines: AnyEngine[] = [];
  const workflows = new Map<string, AnyWorkflow>();
  const outside = new Set<string>();

  const open = async (): Promise<PaymentStorage> => {
    const handle = await database.open();
    handles.push(handle);
    // A clock that is put tells nothing of how much time has passed.
    return recordStorage(handle, log, () => elapsed(clock));
  };
  const storage = await open();
  for (const { name, workflows: own } of MODULES) {
    for (const each of own?.(storage) ?? []) workflows.set(`${name} of every engine`, each);
  }
  const settled = async (): Promise<void> => {
    // What one engine does may be news to the one asked before it.
    for (let round = 0; round < 2; round++) for (const engine of engines) await engine.settled();
  };

  const made = async (of: Of): Promise<AnyEngine> => {
    const options: Settings = "workflows" in of ? of : { workflows: [of] };
    const given = { storage: await open(), clock, random: middleRandom, logger: silentLogger, ...options };
    const engine = createEngine<PaymentTables>(given);
    engines.push(engine);
    for (const each of options.workflows) workflows.set(withChildren(each).map(chartName).join(), each);
    return engine;
  };
  const withStarted = async (engine: AnyEngine, of: Of, ids: readonly string[]): Promise<AnyEngine> => {
    const [first] = "workflows" in of ? of.workflows : [of];
    for (const id of ids) await engine.start(first as never, { id, input: { id } as never });
    return engine;
  };

  try {
    await act({
      clock,
      log,
      storage,
      open: async (change = () => ({})) => {
        const real = await open();
        return { ...real, ...change(real) };
      },
      engine: async (of, ...ids) => withStarted(await made(of), of, ids),
      async running(of, ...ids) {
        const engine = await made(of);
        engine.run();
        return withStarted(engine, of, ids);
      },
      tasksOf: (instance) => storage.tasks({ order: "instance", instance, limit: 9 }),
      settled,
      pass: (ms) =>
        passTime(
          { clock, engine: { settled }, storage, workflows: [...workflows.values()] },
          clock.now() + ms,
        ),
      awaitsOutside: (...ids) => ids.forEach((id) => outside.add(id)),
    });
    await Promise.all(engines.map((engine) => engine.stop()));
    const awaitsOutside = (id: string): boolean => outside.has(id);
    const run = { storage, log, workflows: [...workflows.values()], awaitsOutside };
    expect(await brokenInvariants(run)).toEqual([]);
  } finally {
    await Promise.all(engines.map((engine) => engine.stop({ timeoutMs: 0 })));
    for (const handle of handles) await handle.close();
    await database.destroy();
  }
}

function chartName({ key, hash }: AnyWorkflow): string {
  return `${key} ${hash}`;
}

/** A promise and the way to resolve it: an effect that hangs until the test lets it go. */
export function gate<T = void>(): { readonly opened: Promise<T>; open(value: T): void } {
  let open: (value: T) => void = () => {};
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open: (value) => open(value) };
}

/** Lets the event loop turn `count` times. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

// Far longer than anything without a timer needs, also on a server that others keep busy; then the test has found
// something. Time and not turns: how many turns an answer of a server takes depends on the machine.
const MAX_UNTIL_MS = 100_000;

/** Lets the event loop turn until the condition holds, for work that `settled` would wait for in vain. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const begin = performance.now();
  while (performance.now() - begin < MAX_UNTIL_MS) {
    if (await condition()) return;
    await turns(1);
  }
  throw new Error(`never came to hold: ${condition.toString()}`);
}
