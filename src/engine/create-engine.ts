/** An engine with all modules: what a host gets. */
import { kernelEngine, type KernelEngine } from "./engine.ts";
import type { EngineOptions } from "./engine-options.ts";
import type { InspectedKernel } from "./inspected-engine.ts";
import { MODULES, type ModuleCalls, type ModuleViews } from "./modules.ts";

/** An engine as a viewer sees it. */
export interface InspectedEngine extends InspectedKernel, ModuleViews {}

/** If two modules have a call of one name, the earlier module wins. */
type Members<W> = ModuleCalls<W> & KernelEngine<W>;

/** A running interpreter over one storage. Any number of them, in any number of processes, may share a storage. */
export interface Engine<W> extends Members<W> {
  /** The reads and acts of an inspector: see `createInspector`. Its acts are lines of the engine's log. */
  readonly inspected: InspectedEngine;
}

/**
 * Builds an engine; nothing runs before `run()`. Throws `InvalidOptions` listing every wrong option, two workflows of
 * the same name and version, and watch kinds that no watcher polls.
 *
 * @example
 * ```ts
 * import { createEngine, workflow } from "paystate/engine";
 * import { sqliteStorage } from "paystate/storage/sqlite";
 * import { createMachine } from "xstate";
 *
 * const light = createMachine({ id: "light", initial: "off", states: { off: { on: { SWITCH: "on" } }, on: {} } });
 * const lights = workflow(light)({ version: 1 });
 * const engine = createEngine({ storage: await sqliteStorage(":memory:"), workflows: [lights] }); // sqliteStorage(path) is durable
 * engine.run();
 *
 * await engine.start(lights, { id: "kitchen", input: undefined });
 * await engine.send(lights, "kitchen", { type: "SWITCH" });
 * console.log((await engine.read(lights, "kitchen"))?.value); // on
 * await engine.stop();
 * ```
 */
export function createEngine<W>(options: EngineOptions<W>): Engine<W> {
  // The types beside the list of modules describe the members that modules add at run time.
  return kernelEngine(options, MODULES) as Engine<W>;
}
