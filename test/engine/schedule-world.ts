/** Processes with schedules on one database and one virtual clock; some of them die. */
// modules: schedules
import { setup } from "xstate";
import { createEngine, workflow, type AnyWorkflow, type Engine } from "paystate/engine";
import type { EngineStorage } from "paystate/storage";
import { storedSchedules } from "../../src/engine/modules/schedules/stored-schedules.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import type { Adapter } from "../kit/adapters.ts";
import { mortalProcess, type Death, type MortalProcess } from "../kit/mortal.ts";
import { virtualClock, type VirtualClock } from "../kit/virtual-clock.ts";

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

interface Run {
  readonly scheduledAt: number;
}

/** Charts that do nothing but be there. */
export const runs = workflow(
  setup({ types: { input: {} as Run, context: {} as Run } }).createMachine({
    id: "run",
    context: ({ input }) => input,
    initial: "over",
    states: { over: { type: "final" } },
  }),
)({ version: 1 });

/** A process at work. */
export interface ScheduledProcess extends Omit<MortalProcess, "within" | "timedBy"> {
  readonly engine: Engine<unknown>;
  /** What it does, until it dies. */
  readonly does: <T>(work: Promise<T>) => Promise<T | void>;
}

export class ScheduleWorld {
  readonly clock: VirtualClock;
  readonly storage: EngineStorage;
  readonly #open: () => Promise<EngineStorage>;
  readonly #living = new Set<ScheduledProcess>();

  constructor(clock: VirtualClock, storage: EngineStorage, open: () => Promise<EngineStorage>) {
    this.clock = clock;
    this.storage = storage;
    this.#open = open;
  }

  /** Another process; it runs before it has a schedule. */
  async begin(death?: Death, workflows: readonly AnyWorkflow[] = [runs]): Promise<ScheduledProcess> {
    const { within, timedBy, ...mortal } = mortalProcess(death);
    const storage = within(await this.#open());
    const engine = createEngine({ storage, clock: timedBy(this.clock), logger: silentLogger, workflows });
    engine.run();
    const process = { ...mortal, engine, does: <T>(work: Promise<T>) => Promise.race([mortal.died, work]) };
    this.#living.add(process);
    return process;
  }

  get living(): readonly ScheduledProcess[] {
    return [...this.#living].filter(({ isDead }) => !isDead());
  }

  /** Kills whoever lives. */
  killAll(): void {
    for (const process of this.#living) process.kill();
  }

  async settled(): Promise<void> {
    // What one does may be news to the one asked before it.
    for (let round = 0; round < 2; round++) {
      for (const { engine, does } of this.living) await does(engine.settled());
    }
  }

  /** Lets time pass, moment by moment. `eachMoment` is called before each of them. */
  async passUntil(until: number, eachMoment = async (): Promise<void> => {}): Promise<void> {
    for (;;) {
      await eachMoment();
      await this.settled();
      const [first] = await this.storage.find({ table: storedSchedules, index: "due", limit: 1 });
      const task = (await this.storage.nextDue(["run@1"])) ?? Infinity;
      const next = Math.min(first?.next ?? Infinity, task);
      if (next > until) break;
      // Where nobody takes it now, the holder has died: its lease ends.
      this.clock.set(next > this.clock.now() ? next : Math.min(until, this.clock.now() + 5_000));
      if (this.clock.now() === until && next <= until) break;
    }
    this.clock.set(until);
    await this.settled();
  }

  /** The ids of all runs that were ever started, in order. */
  async started(): Promise<string[]> {
    const ids: string[] = [];
    for (;;) {
      const after = ids.at(-1) ?? "";
      const page = await this.storage.list({
        order: "id",
        workflow: "run@1",
        status: "done",
        after,
        limit: 500,
      });
      ids.push(...page.map(({ id }) => id));
      if (page.length < 500) return ids;
    }
  }
}

/** Runs the test in a world of its own, and cleans up. */
export async function inScheduleWorld(
  { make }: Pick<Adapter, "make">,
  begin: number,
  act: (world: ScheduleWorld) => Promise<void>,
): Promise<void> {
  const database = await make();
  const handles: EngineStorage[] = [];
  const open = async (): Promise<EngineStorage> => {
    const handle = await database.open();
    handles.push(handle);
    return handle;
  };
  try {
    const storage = await open();
    await storage.install([storedSchedules]);
    const world = new ScheduleWorld(virtualClock(begin), storage, open);
    try {
      await act(world);
    } finally {
      const { living } = world;
      await Promise.all(living.map(({ engine, does }) => does(engine.stop({ timeoutMs: 0 }))));
      world.killAll();
    }
  } finally {
    for (const handle of handles) await handle.close();
    await database.destroy();
  }
}
