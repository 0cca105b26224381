/** Lets virtual time pass for an engine, due moment by due moment, so that years take milliseconds. */
import { NotInstalled } from "../../storage/install-plan.ts";
import type { EngineStorage } from "../../storage/storage.ts";
import type { AnyWorkflow } from "../../src/workflow/workflow.ts";
import { MODULES } from "../../src/engine/modules.ts";
import type { VirtualClock } from "./virtual-clock.ts";

// Of several engines one may have to wait for another; what is due after so many looks is nobody's.
const MAX_LOOKS = 10;

/**
 * Moves the clock to `until`, stopping at each moment at which a task, or a module's own work such as a schedule, falls due and letting the engine work
 * it off.
 * Everything that happens, happens at its exact virtual time.
 *
 * @example
 * ```ts
 * import { createEngine, workflow } from "paystate/engine";
 * import { sqliteStorage } from "paystate/storage/sqlite";
 * import { passTime, virtualClock } from "paystate/testing";
 * import { createMachine } from "xstate";
 *
 * const HOUR_MS = 3_600_000;
 * const states = { offered: { after: { [HOUR_MS]: "expired" } }, expired: { type: "final" as const } };
 * const offers = workflow(createMachine({ id: "offer", initial: "offered", states }))({ version: 1 });
 * const clock = virtualClock(0);
 * const storage = await sqliteStorage(":memory:");
 * const engine = createEngine({ storage, workflows: [offers], clock });
 * engine.run();
 * await engine.start(offers, { id: "o-1", input: undefined });
 *
 * await passTime({ clock, engine, storage, workflows: [offers] }, HOUR_MS);
 * console.log((await engine.read(offers, "o-1"))?.value); // expired
 * await engine.stop();
 * ```
 */
export async function passTime(
  {
    clock,
    engine,
    storage,
    workflows,
  }: {
    readonly clock: VirtualClock;
    readonly engine: { settled(): Promise<void> };
    readonly storage: Pick<EngineStorage, "nextDue"> & Partial<Pick<EngineStorage, "find">>;
    readonly workflows: readonly AnyWorkflow[];
  },
  until: number,
): Promise<void> {
  await engine.settled();
  for (let overdue = 0; ;) {
    const task = await storage.nextDue(workflows.flatMap(({ claims }) => claims));
    const due = Math.min(task ?? Infinity, await nextMoment(storage));
    if (due > until) break;
    overdue = due > clock.now() ? 0 : overdue + 1;
    if (overdue > MAX_LOOKS) throw new Error(`nobody takes what has been due since ${due}`);
    clock.set(Math.max(due, clock.now()));
    await engine.settled();
  }
  clock.set(until);
  await engine.settled();
}

/** When the first thing that is no task is due: of what this handle of the storage knows of. */
async function nextMoment(storage: Partial<Pick<EngineStorage, "find">>): Promise<number> {
  let earliest = Infinity;
  for (const { nextDue } of MODULES) {
    try {
      earliest = Math.min(earliest, (await nextDue?.(storage)) ?? Infinity);
    } catch (error) {
      if (!(error instanceof NotInstalled)) throw error;
    }
  }
  return earliest;
}
